/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a hash to the ids (0, 1, 2, ...) of what has it: open addressing, linear probing.
 * The items are the caller's, who compares them: several ids come for one hash.
 *
 *	struct hash_cursor cursor = hash_index__find(&index, hash);
 *
 *	while (hash_index__next(&index, &cursor, &id))
 *		if (is_wanted(&items[id]))
 *			return id;
 *
 * Inline, since it is asked for every frame of every sample. One thread.
 */
#ifndef PERF_GPU_UTIL_HASH_INDEX_H
#define PERF_GPU_UTIL_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t id_plus_1; /* 0: free */
};

/* All 0: empty. */
struct hash_index {
	struct hash_slot *slots;
	size_t nr_slots; /* a power of two, or 0 */
	size_t nr; /* less than 3/4 of the slots */
};

struct hash_cursor {
	uint32_t hash;
	size_t slot;
};

/* Mixes a word into a hash, which is 0 at first. */
static inline uint64_t hash__mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u; /* 2^64 / the golden ratio */
	return hash ^ hash >> 32;
}

/*
 * Of many words: four chains of multiplications at once, since one waits for the other
 * within a chain.
 */
static inline uint64_t hash__words(const uint64_t *words, size_t nr)
{
	uint64_t lanes[4] = {nr, 1, 2, 3};
	size_t i = 0;

	for (; i + 4 <= nr; i += 4)
		for (size_t k = 0; k < 4; k++) {
			uint64_t mixed = lanes[k] ^ words[i + k];

			lanes[k] = (mixed << 29 | mixed >> 35) * 0x9e3779b97f4a7c15u;
		}
	for (; i < nr; i++)
		lanes[0] = hash__mix(lanes[0], words[i]);
	return hash__mix(hash__mix(lanes[0], lanes[1]), hash__mix(lanes[2], lanes[3]));
}

static inline uint64_t hash__text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = hash__mix(hash, (unsigned char)*text);
	return hash;
}

static inline struct hash_cursor hash_index__find(const struct hash_index *index,
						  uint64_t hash)
{
	return (struct hash_cursor){
		.hash = (uint32_t)hash,
		.slot = index->nr_slots ? (uint32_t)hash & (index->nr_slots - 1) : 0,
	};
}

/* Have the memory that a look-up begins with fetched, while something else is done. */
static inline void hash_index__prefetch(const struct hash_index *index, uint64_t hash)
{
	if (index->nr_slots)
		__builtin_prefetch(&index->slots[(uint32_t)hash & (index->nr_slots - 1)]);
}

/* The next id of the hash; false: there is none more. */
static inline bool hash_index__next(const struct hash_index *index,
				    struct hash_cursor *cursor, uint32_t *ret_id)
{
	if (!index->nr_slots)
		return false;
	for (;;) {
		const struct hash_slot *slot = &index->slots[cursor->slot];

		if (!slot->id_plus_1)
			return false;
		cursor->slot = (cursor->slot + 1) & (index->nr_slots - 1);
		if (slot->hash == cursor->hash) {
			*ret_id = slot->id_plus_1 - 1;
			return true;
		}
	}
}

/* Add an id, less than UINT32_MAX, which isn't there. Return: 0 or -ENOMEM. */
int hash_index__add(struct hash_index *index, uint64_t hash, uint32_t id);

void hash_index__release(struct hash_index *index);

#endif
