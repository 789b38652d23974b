// SPDX-License-Identifier: GPL-2.0-or-later
#if defined(__x86_64__)

#include <stddef.h>
#include <string.h>

#include "arch.h"
#include "frame_rule.h"

/* e8 and 4 bytes, or ff /2 with the bytes that its ModRM byte asks for */
bool arch__ends_in_call(const unsigned char *end)
{
	if (end[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++) {
		const unsigned char *instruction = end - length;
		unsigned int mod = instruction[1] >> 6, rm = instruction[1] & 7;
		bool has_sib = mod != 3 && rm == 4;
		int wanted = 2 + has_sib;

		if (instruction[0] != 0xff || (instruction[1] & 0x38) != 0x10)
			continue;
		if (mod == 1)
			wanted += 1;
		else if (mod == 2 || (!mod && rm == 5) ||
			 (!mod && has_sib && (instruction[2] & 7) == 5))
			wanted += 4;
		if (wanted == length)
			return true;
	}
	return false;
}

/*
 * CPython 3.12 calls each function of Python's from a copy of these few instructions, if
 * it was asked to (PYTHONPERFSUPPORT). They have no frame pointer, as those of 3.13 and
 * on aarch64 do, and no table.
 */
bool arch__learn_code(uint64_t pc,
		      bool (*is_readable)(uint64_t address, uint64_t bytes, void *data),
		      void *data, struct frame_rule *rule)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
		0xff, 0xd1, /* call *%rcx */
		0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
		0xc3, /* ret */
	};
	const uint64_t start = pc - 5;

	if (!is_readable(start, sizeof(code), data) ||
	    memcmp((const void *)(uintptr_t)start, code, sizeof(code)))
		return false;
	rule->head.kind = FRAME_TABLE;
	rule->head.cfa_register = FRAME_SP;
	rule->head.cfa_offset = 16;
	rule->head.saved_fp = FRAME_SAME;
	rule->head.is_after_call = true;
	rule->head.is_plain = true;
	rule->return_base = FRAME_FROM_CFA;
	rule->return_offset = -1;
	for (size_t i = 0; i < FRAME_NR_OTHERS; i++)
		rule->saved_others[i] = FRAME_SAME;
	return true;
}

#endif
