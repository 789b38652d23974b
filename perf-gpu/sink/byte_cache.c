// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/byte_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const void *key)
{
	return hash__mix(0, (uintptr_t)key);
}

const struct cached_bytes *byte_cache__find(const struct byte_cache *cache,
					    const void *key)
{
	struct hash_cursor cursor = hash_index__find(&cache->index, hash_of(key));
	uint32_t id;

	while (hash_index__next(&cache->index, &cursor, &id))
		if (cache->items[id].key == key)
			return &cache->items[id];
	return NULL;
}

const struct cached_bytes *byte_cache__add(struct byte_cache *cache, const void *key,
					   const void *bytes, size_t nr_bytes)
{
	struct cached_bytes item = {.key = key, .nr_bytes = nr_bytes};

	if (cache->nr == cache->nr_allocated) {
		size_t nr = cache->nr ? 2 * cache->nr : 64;
		struct cached_bytes *items =
			reallocarray(cache->items, nr, sizeof(*items));

		if (!items)
			return NULL;
		cache->items = items;
		cache->nr_allocated = nr;
	}
	item.bytes = malloc(nr_bytes ? nr_bytes : 1);
	if (!item.bytes ||
	    hash_index__add(&cache->index, hash_of(key), (uint32_t)cache->nr)) {
		free(item.bytes);
		return NULL;
	}
	if (nr_bytes)
		memcpy(item.bytes, bytes, nr_bytes);
	cache->items[cache->nr] = item;
	return &cache->items[cache->nr++];
}

void byte_cache__release(struct byte_cache *cache)
{
	for (size_t i = 0; i < cache->nr; i++)
		free(cache->items[i].bytes);
	free(cache->items);
	hash_index__release(&cache->index);
	*cache = (struct byte_cache){};
}
