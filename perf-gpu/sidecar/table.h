/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow. Their capacity is known from the number of items in them. */
#ifndef PERF_GPU_SIDECAR_TABLE_H
#define PERF_GPU_SIDECAR_TABLE_H

#include <stdlib.h>

/* Room for item number @nr in an array that has been grown by this alone. */
static inline void *table__grow(void *items, size_t nr, size_t item_bytes)
{
	enum { SMALLEST = 16 };

	if (!nr)
		return reallocarray(items, SMALLEST, item_bytes);
	if (nr < SMALLEST || nr & (nr - 1))
		return items;
	return reallocarray(items, 2 * nr, item_bytes);
}

/* A pointer to a new item at the end of @table; NULL without memory. */
#define TABLE_APPEND(table, nr)                                              \
	({                                                                   \
		void *items_ = table__grow((table), (nr), sizeof(*(table))); \
                                                                             \
		if (items_)                                                  \
			(table) = items_;                                    \
		items_ ? &(table)[(nr)++] : NULL;                            \
	})

#endif
