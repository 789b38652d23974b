/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ids of a log, in ascending order, mostly without gaps: who has kept a part of a log leaves
 * out those that nothing refers to. Inline, since it is asked for every activity.
 */
#ifndef PERF_GPU_SIDECAR_IDS_H
#define PERF_GPU_SIDECAR_IDS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sidecar/sidecar.h"

/* @id among @nr of them, each at the beginning of an item; NULL: it isn't there. */
static inline const void *ids__find(const void *items, size_t nr, size_t item_bytes,
				    uint32_t id)
{
	const char *first = items;
	size_t low = 0, high = nr, at;
	uint32_t found;

	if (!nr || id < *(const uint32_t *)items)
		return NULL;
	/* There, if no id is missing; never further behind. */
	at = id - *(const uint32_t *)items;
	if (at < nr) {
		high = at + 1;
		if (*(const uint32_t *)(const void *)(first + at * item_bytes) == id)
			return first + at * item_bytes;
	}
	while (low < high) {
		at = low + (high - low) / 2;
		found = *(const uint32_t *)(const void *)(first + at * item_bytes);
		if (found == id)
			return first + at * item_bytes;
		if (found < id)
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

/* The index in sidecar.shapes of a shape, or of an operation; or -EINVAL */
static inline int ids__find_shape(const struct sidecar_id *ids, uint32_t nr, uint32_t id,
				  uint32_t *ret)
{
	const struct sidecar_id *found = ids__find(ids, nr, sizeof(*ids), id);

	if (!found)
		return -EINVAL;
	*ret = found->index;
	return 0;
}

/* Is an id higher than all before? */
static inline bool ids__is_next(const struct sidecar_id *ids, uint32_t nr, uint32_t id)
{
	return id > (nr ? ids[nr - 1].id : 0);
}

#endif
