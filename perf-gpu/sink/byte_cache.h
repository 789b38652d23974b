/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was made of something that comes again, kept as the bytes that are written: a
 * kernel's name with its escapes, the details of a launch's shape. By the thing's
 * address, which must stay. One thread.
 */
#ifndef PERF_GPU_SINK_BYTE_CACHE_H
#define PERF_GPU_SINK_BYTE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/hash_index.h"

struct cached_bytes {
	const void *key;
	size_t nr_bytes;
	unsigned char *bytes;
};

/* All 0: empty. */
struct byte_cache {
	struct cached_bytes *items;
	size_t nr, nr_allocated;
	struct hash_index index;
};

/* NULL: it isn't there. Valid until the next add(). */
const struct cached_bytes *byte_cache__find(const struct byte_cache *cache,
					    const void *key);

/**
 * byte_cache__add - keep bytes of a key that isn't there
 * @bytes: copied
 *
 * Return: what find() returns from now on, or NULL without memory.
 */
const struct cached_bytes *byte_cache__add(struct byte_cache *cache, const void *key,
					   const void *bytes, size_t nr_bytes);

void byte_cache__release(struct byte_cache *cache);

#endif
