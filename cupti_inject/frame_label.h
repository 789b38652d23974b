/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels stand for what registers and words of a stack have, where a step is made on one that
 * isn't there (frame_rule.h). A label is a value that no process has, and says what it was
 * made of:
 *
 *   63    62       61..56        55..0
 *   ┌──────┬────────┬─────────────┬──────────────────────────────────────────┐
 *   │ word │ second │ register +1 │ MIDDLE + offset                          │
 *   └──────┴────────┴─────────────┴──────────────────────────────────────────┘
 *   word    no: register + offset. Yes: the word at register + offset, whose offset
 *           is multiplied by LABEL_WORD_SCALE, so that what is added to it can be told
 *   second  the word at an address that was such a word, plus an offset
 */
#ifndef PERF_GPU_INJECT_FRAME_LABEL_H
#define PERF_GPU_INJECT_FRAME_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#define LABEL_WORD_SCALE 65536

struct label {
	bool is_word, is_second;
	unsigned int reg; /* enum frame_register; FRAME_NR_REGISTERS: another */
	int64_t offset;
};

uint64_t label__of_register(unsigned int reg);

/* False if the value is no label. */
bool label__parse(uint64_t value, struct label *ret);

/* What is at an address that is a label. False if it is none, or of too many words. */
bool label__read(uint64_t address, uint64_t *ret);

#endif
