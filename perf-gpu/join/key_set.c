// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/key_set.h"

#include <errno.h>
#include <stdlib.h>

#include "sidecar/table.h"

static uint64_t hash_of(uint32_t log, uint64_t chunk)
{
	return hash__mix(hash__mix(0, log), chunk);
}

/* The chunk of a key; NULL if there is none. */
static struct key_chunk *find_chunk(struct key_set *set, uint32_t log, uint64_t chunk)
{
	struct hash_cursor cursor;
	uint32_t id;

	if (set->nr && set->chunks[set->last].chunk == chunk &&
	    set->chunks[set->last].log == log)
		return &set->chunks[set->last];
	cursor = hash_index__find(&set->index, hash_of(log, chunk));
	while (hash_index__next(&set->index, &cursor, &id))
		if (set->chunks[id].chunk == chunk && set->chunks[id].log == log) {
			set->last = id;
			return &set->chunks[id];
		}
	return NULL;
}

static struct key_chunk *add_chunk(struct key_set *set, uint32_t log, uint64_t chunk)
{
	struct key_chunk *new = table__grow(set->chunks, set->nr, sizeof(*new));

	if (!new)
		return NULL;
	set->chunks = new;
	if (hash_index__add(&set->index, hash_of(log, chunk), (uint32_t)set->nr))
		return NULL;
	set->last = set->nr++;
	set->chunks[set->last] = (struct key_chunk){.chunk = chunk, .log = log};
	return &set->chunks[set->last];
}

int key_set__mark(struct key_set *set, uint32_t log, uint64_t correlation_id,
		  enum key_mark mark)
{
	uint64_t chunk = correlation_id / KEY_CHUNK_IDS,
		 bit = correlation_id % KEY_CHUNK_IDS;
	struct key_chunk *found = find_chunk(set, log, chunk);

	if (!found)
		found = add_chunk(set, log, chunk);
	if (!found)
		return -ENOMEM;
	found->marks[mark][bit / 64] |= 1ull << bit % 64;
	return 0;
}

bool key_set__take(struct key_set *set, uint32_t log, uint64_t correlation_id)
{
	uint64_t chunk = correlation_id / KEY_CHUNK_IDS,
		 bit = correlation_id % KEY_CHUNK_IDS, mask = 1ull << bit % 64;
	struct key_chunk *found = find_chunk(set, log, chunk);

	if (!found || !(found->marks[KEY_IS_ANNOUNCED][bit / 64] & mask) ||
	    found->marks[KEY_IS_TAKEN][bit / 64] & mask)
		return false;
	found->marks[KEY_IS_TAKEN][bit / 64] |= mask;
	return true;
}

bool key_set__has(struct key_set *set, uint32_t log, uint64_t correlation_id,
		  enum key_mark mark)
{
	uint64_t chunk = correlation_id / KEY_CHUNK_IDS,
		 bit = correlation_id % KEY_CHUNK_IDS;
	const struct key_chunk *found = find_chunk(set, log, chunk);

	return found && found->marks[mark][bit / 64] >> bit % 64 & 1;
}

void key_set__release(struct key_set *set)
{
	free(set->chunks);
	hash_index__release(&set->index);
	*set = (struct key_set){0};
}
