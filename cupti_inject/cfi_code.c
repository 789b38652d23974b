// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi_code.h"

#include <stddef.h>

#define PRIMARY_MASK 0xc0

/*
 * What follows an opcode, a letter each: 1, 2, 4, 8 bytes; n a LEB128 number; e its
 * number of bytes as such a number, and an expression.
 */
static const char *const operands[0x40] = {
	[0x00] = "", /* nop */
	[0x02] = "1", /* advance_loc1 */
	[0x03] = "2", /* advance_loc2 */
	[0x04] = "4", /* advance_loc4 */
	[CFI_OFFSET_EXTENDED] = "nn",
	[CFI_RESTORE_EXTENDED] = "n",
	[CFI_UNDEFINED] = "n",
	[CFI_SAME_VALUE] = "n",
	[CFI_REGISTER] = "nn",
	[CFI_REMEMBER_STATE] = "",
	[CFI_RESTORE_STATE] = "",
	[0x0c] = "nn", /* def_cfa */
	[0x0d] = "n", /* def_cfa_register */
	[0x0e] = "n", /* def_cfa_offset */
	[0x0f] = "e", /* def_cfa_expression */
	[CFI_EXPRESSION] = "ne",
	[CFI_OFFSET_EXTENDED_SF] = "nn",
	[0x12] = "nn", /* def_cfa_sf */
	[0x13] = "n", /* def_cfa_offset_sf */
	[CFI_VAL_OFFSET] = "nn",
	[CFI_VAL_OFFSET_SF] = "nn",
	[CFI_VAL_EXPRESSION] = "ne",
	[0x1d] = "8", /* MIPS_advance_loc8 */
	[CFI_NEGATE_RA_STATE_WITH_PC] = "",
	[CFI_NEGATE_RA_STATE] = "",
	[0x2e] = "n", /* GNU_args_size */
	[CFI_GNU_NEGATIVE_OFFSET_EXTENDED] = "nn",
};

/* False at the end, or if the number is no length that anything here can have. */
static bool cfi_cursor__number(struct cfi_cursor *cursor, uint64_t *ret)
{
	unsigned int shift = 0;
	unsigned char byte;

	*ret = 0;
	do {
		if (cursor->at == cursor->end || shift > 63)
			return false;
		byte = *cursor->at++;
		*ret |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return true;
}

static bool cfi_cursor__skip(struct cfi_cursor *cursor, uint64_t nr_bytes)
{
	if (nr_bytes > (uint64_t)(cursor->end - cursor->at))
		return false;
	cursor->at += nr_bytes;
	return true;
}

static bool cfi_cursor__operand(struct cfi_cursor *cursor, char kind, uint64_t *ret)
{
	if (kind != 'n' && kind != 'e')
		return cfi_cursor__skip(cursor, (uint64_t)(kind - '0'));
	if (!cfi_cursor__number(cursor, ret))
		return false;
	return kind == 'n' || cfi_cursor__skip(cursor, *ret);
}

/* The operands that follow; an op that has one within it has got that one. */
static const char *cfi_code__begin(struct cfi_code *code, unsigned char opcode)
{
	*code = (struct cfi_code){.op = opcode};
	if (!(opcode & PRIMARY_MASK))
		return operands[opcode];
	code->op = opcode & PRIMARY_MASK;
	code->first = opcode & (unsigned char)~PRIMARY_MASK;
	return code->op == CFI_OFFSET ? "n" : "";
}

enum cfi_next cfi_cursor__next(struct cfi_cursor *cursor, struct cfi_code *ret)
{
	const char *kinds;
	uint64_t number;

	if (cursor->at == cursor->end)
		return CFI_NEXT_END;
	kinds = cfi_code__begin(ret, *cursor->at++);
	if (!kinds)
		return CFI_NEXT_UNKNOWN;
	for (size_t i = 0; kinds[i]; i++) {
		number = 0;
		if (!cfi_cursor__operand(cursor, kinds[i], &number))
			return CFI_NEXT_CUT;
		if (i == 0 && !(ret->op & PRIMARY_MASK))
			ret->first = number;
		ret->has_expression |= kinds[i] == 'e';
	}
	return CFI_NEXT_CODE;
}
