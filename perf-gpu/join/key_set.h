/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of the join (log, correlation id), with two marks each, in two bits: ids of a log
 * follow each other closely. One thread.
 */
#ifndef PERF_GPU_JOIN_KEY_SET_H
#define PERF_GPU_JOIN_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/hash_index.h"

enum key_mark {
	KEY_IS_ANNOUNCED,
	KEY_IS_TAKEN,
	NR_KEY_MARKS,
};

#define KEY_CHUNK_IDS 512

struct key_chunk {
	uint64_t chunk; /* correlation id / KEY_CHUNK_IDS */
	uint32_t log;
	uint64_t marks[NR_KEY_MARKS][KEY_CHUNK_IDS / 64];
};

/* All 0: no key is marked. */
struct key_set {
	struct key_chunk *chunks;
	size_t nr, last; /* the last is where the one before was */
	struct hash_index index;
};

/* Mark a key. Return: 0 or -ENOMEM. */
int key_set__mark(struct key_set *set, uint32_t log, uint64_t correlation_id,
		  enum key_mark mark);

/* Mark a key as taken, if it is announced and isn't taken yet: else false. */
bool key_set__take(struct key_set *set, uint32_t log, uint64_t correlation_id);

bool key_set__has(struct key_set *set, uint32_t log, uint64_t correlation_id,
		  enum key_mark mark);

void key_set__release(struct key_set *set);

#endif
