// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_label.h"

#include "frame_rule.h"

#define LABEL_WORD   (1ull << 63)
#define LABEL_SECOND (1ull << 62)
#define MIDDLE	     (1ull << 55)

uint64_t label__of_register(unsigned int reg)
{
	return (uint64_t)(reg + 1) << 56 | MIDDLE;
}

bool label__parse(uint64_t value, struct label *ret)
{
	unsigned int reg = (unsigned int)(value >> 56) & 0x3f;

	if (!reg || reg > FRAME_NR_REGISTERS + 1)
		return false;
	*ret = (struct label){
		.is_word = value & LABEL_WORD,
		.is_second = value & LABEL_SECOND,
		.reg = reg - 1,
		.offset = (int64_t)(value & ((1ull << 56) - 1)) - (int64_t)MIDDLE,
	};
	return true;
}

bool label__read(uint64_t address, uint64_t *ret)
{
	struct label label;

	if (!label__parse(address, &label) || label.is_second)
		return false;
	if (label.is_word) {
		*ret = address | LABEL_SECOND;
		return true;
	}
	if (label.offset > INT32_MAX || label.offset < INT32_MIN)
		return false;
	*ret = (label__of_register(label.reg) +
		(uint64_t)(label.offset * LABEL_WORD_SCALE)) |
	       LABEL_WORD;
	return true;
}
