/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each key was there, and the sum of its values: keys are two numbers, and there
 * are more of them than caches have room for.
 *
 *   pending   (3, 17) +832 │ (9, 4) +736 │ ...      looked up together, KEY_SUMS_BATCH at
 *                │                                  a time: the memory that they need is
 *                ▼                                  fetched for all of them at once
 *   items     (0, 5) 12× 9216 │ (3, 17) 2× 1600 │ ...   in the order of their first time
 *
 * One look-up after the other would wait for memory twice: 150 ns for each of a million
 * samples with 80,000 keys, where this takes 30. One thread.
 */
#ifndef PERF_GPU_UTIL_KEY_SUMS_H
#define PERF_GPU_UTIL_KEY_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash_index.h"

#define KEY_SUMS_BATCH 32

struct key_sum {
	uint64_t a, b; /* the key */
	uint64_t nr, sum; /* never wrap around: UINT64_MAX is "too many" */
};

/* All 0: without a key. Fields from index on are private. */
struct key_sums {
	struct key_sum *items; /* valid behind key_sums__settle() */
	size_t nr, nr_allocated;
	struct hash_index index;
	struct key_sum pending[KEY_SUMS_BATCH]; /* nr is the hash of the key */
	size_t nr_pending;
};

/* Count all that was added. 0 or -ENOMEM. */
int key_sums__settle(struct key_sums *sums);
void key_sums__release(struct key_sums *sums);

/* Add a value of a key, which is looked for later. 0 or -ENOMEM. */
static inline int key_sums__add(struct key_sums *sums, uint64_t a, uint64_t b,
				uint64_t value)
{
	uint64_t hash = hash__mix(hash__mix(0, a), b);

	sums->pending[sums->nr_pending++] =
		(struct key_sum){.a = a, .b = b, .nr = hash, .sum = value};
	hash_index__prefetch(&sums->index, hash);
	return sums->nr_pending < KEY_SUMS_BATCH ? 0 : key_sums__settle(sums);
}

#endif
