/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions in an entry of an unwind table (DWARF 5, 6.4.2), one after the other;
 * beside DWARF's those that GCC and Arm's ABI have added.
 */
#ifndef PERF_GPU_INJECT_CFI_CODE_H
#define PERF_GPU_INJECT_CFI_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* What somebody here has to tell apart. The first three have an operand in 6 lower bits. */
enum cfi_op {
	CFI_ADVANCE_LOC = 0x40,
	CFI_OFFSET = 0x80,
	CFI_RESTORE = 0xc0,
	CFI_SET_LOC = 0x01, /* unknown here, as is its operand's form; nobody writes it */
	CFI_OFFSET_EXTENDED = 0x05,
	CFI_RESTORE_EXTENDED = 0x06,
	CFI_UNDEFINED = 0x07,
	CFI_SAME_VALUE = 0x08,
	CFI_REGISTER = 0x09,
	CFI_REMEMBER_STATE = 0x0a,
	CFI_RESTORE_STATE = 0x0b,
	CFI_EXPRESSION = 0x10,
	CFI_OFFSET_EXTENDED_SF = 0x11,
	CFI_VAL_OFFSET = 0x14,
	CFI_VAL_OFFSET_SF = 0x15,
	CFI_VAL_EXPRESSION = 0x16,
	CFI_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFI_NEGATE_RA_STATE = 0x2d,
	CFI_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct cfi_cursor {
	const unsigned char *at, *end;
};

struct cfi_code {
	unsigned char
		op; /* enum cfi_op, or another; without the 6 bits of the first three */
	uint64_t first; /* operand, those 6 bits among them, if it is a number */
	bool has_expression;
};

enum cfi_next {
	CFI_NEXT_CODE,
	CFI_NEXT_END,
	CFI_NEXT_UNKNOWN, /* so nobody knows where the one behind it begins; only op is set */
	CFI_NEXT_CUT, /* the end is within its operands; only op is set */
};

enum cfi_next cfi_cursor__next(struct cfi_cursor *cursor, struct cfi_code *ret);

#endif
