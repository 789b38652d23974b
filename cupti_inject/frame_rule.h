/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the caller's registers are got from those of a function that is called from a
 * certain place: what unwind tables say about that place, made simple.
 *
 *   CFA           = register + offset, or the word there: where the caller's stack
 *                   pointer is when the function has returned
 *   return address, saved registers = words at an offset from the CFA, from the stack
 *                   pointer or from the frame pointer
 *
 * That is all that compilers make where functions are called. The tables are read by
 * libunwind, which is let walk one frame of a stack that isn't there: registers and
 * words are labels, and what comes out of a step tells by its label what it was made
 * of. So rules need no stack, and can be learned once for all threads.
 *
 * All that libunwind reads is read by us, and checked: tables that lie can't make it
 * fault, nor can a library that is closed meanwhile.
 */
#ifndef PERF_GPU_INJECT_FRAME_RULE_H
#define PERF_GPU_INJECT_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

/* Registers that a CFA is computed from, and that functions save for their callers */
enum frame_register {
	FRAME_SP,
	FRAME_FP,
	FRAME_OTHER, /* the first of those that only few functions have as their base */
	FRAME_NR_REGISTERS = FRAME_OTHER + FRAME_NR_OTHERS,
};

enum frame_kind {
	FRAME_TABLE, /* by the rule that follows */
	FRAME_END, /* the thread starts here */
	FRAME_CHAIN, /* no table: by the frame pointer, if this is code that has one */
	FRAME_NONE, /* no memory */
};

/* What an offset is counted from. */
enum frame_base {
	FRAME_FROM_CFA,
	FRAME_FROM_SP,
	FRAME_FROM_FP,
	/*
	 * Of a return address: it is in the link register, as long as the function hasn't
	 * called another. So it is of use only where a signal interrupted one.
	 */
	FRAME_IN_LINK,
};

#define FRAME_SAME INT16_MIN /* the register isn't saved: it has the caller's value */

/* What nearly all frames are walked by, in one word */
struct frame_rule_head {
	uint8_t kind; /* enum frame_kind */
	uint8_t cfa_register : 4; /* enum frame_register */
	uint8_t is_cfa_indirect : 1; /* the CFA is the word there */
	uint8_t is_interrupted : 1; /* the caller was, by a signal: it hasn't called */
	uint8_t is_after_call : 1; /* the place is the last byte of a call */
	/*
	 * FRAME_TABLE with a CFA of the stack or frame pointer, the return address where
	 * arch__plain_return() has it, and the frame pointer not saved, or at an offset
	 * from it: the rest of the rule matters only to who needs the other registers.
	 */
	uint8_t is_plain : 1;
	int16_t saved_fp; /* 8 bytes, as all offsets but the next; or FRAME_SAME */
	int32_t cfa_offset; /* bytes */
};

_Static_assert(sizeof(struct frame_rule_head) == 8, "a word");

struct frame_rule {
	struct frame_rule_head head;
	int16_t return_offset;
	int16_t saved_others[5]; /* of FRAME_OTHER and up; or FRAME_SAME */
	uint8_t return_base, saved_base; /* enum frame_base */
	uint16_t nr_loads; /* FRAME_CHAIN: valid until a library is loaded */
};

_Static_assert(sizeof(struct frame_rule) == 24, "as rule_cache has it");

/* Are frame pointer and return address saved as a pair, as aarch64's functions do it? */
static inline bool frame_rule__has_pair(const struct frame_rule *rule)
{
	return rule->return_base == FRAME_FROM_CFA &&
	       rule->saved_base == FRAME_FROM_CFA && rule->head.saved_fp != FRAME_SAME &&
	       rule->return_offset == rule->head.saved_fp + 1;
}

_Static_assert(FRAME_NR_REGISTERS - FRAME_OTHER <= 5, "have room");

/**
 * frame_rule__open - open libunwind
 *
 * Our own copy is beside this library; it is opened so that nobody else gets to see
 * it, as it has functions of the same names as libgcc. Call once, before the others.
 *
 * Return: 0, or -ENOENT without libunwind.
 */
int frame_rule__open(void);

/**
 * frame_rule__learn - what do the tables say of a place?
 * @pc:  an instruction, or the last byte of one
 * @ret: filled in whole but for nr_loads
 *
 * Takes the dynamic linker's lock for a moment, and microseconds. From any thread.
 */
void frame_rule__learn(uint64_t pc, struct frame_rule *ret);

#endif
