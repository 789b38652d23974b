// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_step.h"

#include "frame_label.h"

const unw_regnum_t frame_step_registers[FRAME_NR_REGISTERS] = ARCH_UNW_REGISTERS;

/*
 * Where a word is that was read in a step: an offset in words, and from what.
 * CFA is the label that the CFA has.
 */
static bool parse_place(uint64_t value, uint64_t cfa, unsigned int *ret_base,
			int16_t *ret_offset)
{
	struct label word, base;
	int64_t bytes;

	if (!label__parse(value, &word) || !label__parse(cfa, &base) || !word.is_word)
		return false;
	if (word.is_second) {
		if (!base.is_word || word.reg != base.reg)
			return false;
		bytes = word.offset - base.offset;
		*ret_base = FRAME_FROM_CFA;
	} else {
		if (word.offset % LABEL_WORD_SCALE)
			return false;
		bytes = word.offset / LABEL_WORD_SCALE;
		if (!base.is_word && word.reg == base.reg) {
			bytes -= base.offset;
			*ret_base = FRAME_FROM_CFA;
		} else if (word.reg == FRAME_SP) {
			*ret_base = FRAME_FROM_SP;
		} else if (word.reg == FRAME_FP) {
			*ret_base = FRAME_FROM_FP;
		} else {
			return false;
		}
	}
	if (bytes % 8 || bytes / 8 <= INT16_MIN || bytes / 8 > INT16_MAX)
		return false;
	*ret_offset = (int16_t)(bytes / 8);
	return true;
}

static bool parse_cfa(uint64_t value, struct frame_rule *rule)
{
	struct label cfa;
	int64_t offset;

	if (!label__parse(value, &cfa) || cfa.is_second || cfa.reg >= FRAME_NR_REGISTERS)
		return false;
	offset = cfa.offset;
	if (cfa.is_word) {
		/* Something was added to the word: no compiler does that. */
		if (offset % LABEL_WORD_SCALE)
			return false;
		offset /= LABEL_WORD_SCALE;
	}
	if (offset < INT32_MIN || offset > INT32_MAX)
		return false;
	rule->head.cfa_register = cfa.reg & 0xf;
	rule->head.is_cfa_indirect = cfa.is_word;
	rule->head.cfa_offset = (int32_t)offset;
	return true;
}

/* What became of a register that functions save for their callers */
static bool parse_saved(unsigned int reg, uint64_t value, uint64_t cfa,
			struct frame_rule *rule, bool *has_base)
{
	int16_t *saved = reg == FRAME_FP ? &rule->head.saved_fp
					 : &rule->saved_others[reg - FRAME_OTHER];
	unsigned int base;

	*saved = FRAME_SAME;
	if (value == label__of_register(reg))
		return true;
	if (!parse_place(value, cfa, &base, saved))
		return false;
	if (*has_base && base != rule->saved_base)
		return false;
	rule->saved_base = (uint8_t)base;
	*has_base = true;
	return true;
}

/*
 * Where the return address is. It is in the link register, too, if libunwind found no
 * sense in the table: what it has gone through has to be known.
 */
static bool parse_return(bool is_plain, uint64_t value, uint64_t cfa,
			 struct frame_rule *rule)
{
	unsigned int base;

	if (FRAME_LINK < FRAME_NR_REGISTERS && value == label__of_register(FRAME_LINK)) {
		rule->return_base = FRAME_IN_LINK;
		rule->return_offset = 0;
		return is_plain;
	}
	if (!parse_place(value, cfa, &base, &rule->return_offset))
		return false;
	rule->return_base = (uint8_t)base;
	/* A call leaves it below the CFA; who was interrupted had no call. */
	rule->head.is_interrupted = base == FRAME_FROM_SP;
	return true;
}

static bool is_plain_rule(const struct frame_rule *rule)
{
	if (rule->head.cfa_register >= FRAME_OTHER || rule->head.is_cfa_indirect ||
	    rule->return_base != FRAME_FROM_CFA)
		return false;
	if (FRAME_LINK < FRAME_NR_REGISTERS)
		return frame_rule__has_pair(rule);
	return rule->return_offset == -1 &&
	       (rule->head.saved_fp == FRAME_SAME || rule->saved_base == FRAME_FROM_CFA);
}

bool frame_step__rule(const struct unwind_library *library, unw_cursor_t *cursor,
		      bool is_plain, struct frame_rule *rule)
{
	unw_word_t cfa, value;
	bool has_base = false;

	if (library->get_reg(cursor, UNW_TDEP_SP, &cfa) || !parse_cfa(cfa, rule) ||
	    library->get_reg(cursor, UNW_TDEP_IP, &value) ||
	    !parse_return(is_plain, value, cfa, rule))
		return false;
	for (unsigned int reg = FRAME_FP; reg < FRAME_NR_REGISTERS; reg++) {
		/* One that has no value any more is as good as unchanged. */
		if (reg == FRAME_LINK ||
		    library->get_reg(cursor, frame_step_registers[reg], &value))
			value = label__of_register(reg);
		if (!parse_saved(reg, value, cfa, rule, &has_base))
			return false;
	}
	rule->head.is_plain = is_plain_rule(rule);
	return true;
}
