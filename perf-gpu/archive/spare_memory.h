/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where libarchive has no memory for a name, it prints a line and exits. So it is asked for
 * before, whether there is as much as the longest names take: a megabyte each, in three
 * encodings, of which one has four bytes a letter.
 */
#ifndef PERF_GPU_ARCHIVE_SPARE_MEMORY_H
#define PERF_GPU_ARCHIVE_SPARE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

#define SPARE_MEMORY_BYTES (16u << 20)

static inline bool spare_memory__is_there(void)
{
	/* Else compilers know better, and ask nobody. */
	void *volatile spare = malloc(SPARE_MEMORY_BYTES);
	const bool is_there = spare != NULL;

	free(spare);
	return is_there;
}

#endif
