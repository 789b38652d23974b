/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Byte strings to small ids: the first is 1, the next 2, and so on. A hash
 * table with open addressing; keys are copied. Not locked: the log's mutex is.
 */
#ifndef PERF_GPU_INJECT_INTERN_H
#define PERF_GPU_INJECT_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern_slot {
	uint64_t hash;
	void *key; /* NULL: free */
	uint32_t nr_bytes;
	uint32_t id;
};

struct intern { /* all 0 is an empty one */
	struct intern_slot *slots;
	size_t nr_slots; /* a power of two */
	size_t nr_keys;
	size_t nr_key_bytes;
	uint32_t nr_ids; /* given so far */
};

/* The id of a key, 0 if it has none. */
uint32_t intern__find(const struct intern *intern, const void *key, size_t nr_bytes);

/* The same in two steps, for who wants to do the first without a lock. */
uint64_t intern__hash(const void *key, size_t nr_bytes);
uint32_t intern__find_hashed(const struct intern *intern, uint64_t hash, const void *key,
			     size_t nr_bytes);

/*
 * Give a key that has none the next id. 0 without memory; the id is used up then,
 * since the caller may have written it already.
 */
uint32_t intern__add(struct intern *intern, const void *key, size_t nr_bytes);

/* Forget all keys; those to come get ids that weren't given before. */
void intern__forget(struct intern *intern);

/* The same, and count from 1 again. */
void intern__clear(struct intern *intern);

/* What intern__add() will return next. */
uint32_t intern__next_id(const struct intern *intern);

#endif
