// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/pid_set.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define PIDS_PER_PAGE  (1u << 16)
#define WORDS_PER_PAGE (PIDS_PER_PAGE / 64)

int pid_set__add(struct pid_set *set, uint32_t pid)
{
	uint64_t **page = &set->pages[pid / PIDS_PER_PAGE];

	if (!pid)
		return 0;
	if (!*page)
		*page = calloc(WORDS_PER_PAGE, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	(*page)[pid % PIDS_PER_PAGE / 64] |= 1ull << pid % 64;
	if (pid > set->highest)
		set->highest = pid;
	return 0;
}

bool pid_set__has(const struct pid_set *set, uint32_t pid)
{
	const uint64_t *page = set->pages[pid / PIDS_PER_PAGE];

	return page && page[pid % PIDS_PER_PAGE / 64] >> pid % 64 & 1;
}

static int add_word(struct pid_set *set, uint64_t word, uint32_t first)
{
	int err = 0;

	for (; word && !err; word &= word - 1)
		err = pid_set__add(set, first + (uint32_t)__builtin_ctzll(word));
	return err;
}

int pid_set__add_all(struct pid_set *set, const struct pid_set *from, uint32_t offset)
{
	int err = 0;

	for (uint32_t i = 0; i < PID_SET_NR_PAGES; i++) {
		const uint64_t *page = from->pages[i];

		for (uint32_t word = 0; page && word < WORDS_PER_PAGE && !err; word++)
			err = add_word(set, page[word],
				       offset + i * PIDS_PER_PAGE + word * 64);
	}
	return err;
}

bool pid_set__meets(const struct pid_set *set, const struct pid_set *other)
{
	for (size_t i = 0; i < PID_SET_NR_PAGES; i++) {
		const uint64_t *a = set->pages[i], *b = other->pages[i];

		for (size_t word = 0; a && b && word < WORDS_PER_PAGE; word++)
			if (a[word] & b[word])
				return true;
	}
	return false;
}

void pid_set__release(struct pid_set *set)
{
	for (size_t i = 0; i < PID_SET_NR_PAGES; i++) {
		/* Not a word is written to what was never used, and has no memory. */
		if (!set->pages[i])
			continue;
		free(set->pages[i]);
		set->pages[i] = NULL;
	}
	set->highest = 0;
}
