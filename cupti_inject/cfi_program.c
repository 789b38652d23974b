// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi_program.h"

#include "cfi_code.h"

void cfi_program__scan(struct cfi_program *program, uint64_t start, uint64_t nr_bytes)
{
	const unsigned char *first = (const unsigned char *)(uintptr_t)start;
	struct cfi_cursor cursor = {.at = first};
	enum cfi_next next;

	*program = (struct cfi_program){.start = start, .is_plain = true};
	program->nr_bytes = nr_bytes < CFI_PROGRAM_MAX_BYTES ? (uint32_t)nr_bytes
							     : CFI_PROGRAM_MAX_BYTES;
	cursor.end = first + program->nr_bytes;
	for (;;) {
		uint32_t offset = (uint32_t)(cursor.at - first);
		struct cfi_code code;

		next = cfi_cursor__next(&cursor, &code);
		if (next != CFI_NEXT_CODE)
			break;
		if (code.op == CFI_NEGATE_RA_STATE ||
		    code.op == CFI_NEGATE_RA_STATE_WITH_PC)
			program->hidden[offset / 8] |= (uint8_t)(1u << offset % 8);
		if (code.has_expression)
			program->is_plain = false;
	}
	program->is_plain &= next == CFI_NEXT_END && nr_bytes == program->nr_bytes;
}

uint64_t cfi_program__hide(const struct cfi_program *program, uint64_t address,
			   uint64_t word)
{
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t offset = address + i - program->start;

		if (offset < program->nr_bytes &&
		    program->hidden[offset / 8] >> offset % 8 & 1)
			word &= ~(0xffull << 8 * i);
	}
	return word;
}
