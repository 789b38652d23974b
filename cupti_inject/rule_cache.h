/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that were learned, by place in the program; one table for all threads, without
 * locks: a thread that finds an entry being changed learns the rule itself.
 *
 *   16,384 rules in 512 KiB. PyTorch launches from some thousand places. When a set is
 *   full, another rule is forgotten.
 *
 * A rule is of an epoch, which ends when a library is closed: another may then be at
 * its place.
 */
#ifndef PERF_GPU_INJECT_RULE_CACHE_H
#define PERF_GPU_INJECT_RULE_CACHE_H

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "frame_rule.h"

#define RULE_CACHE_SET_BITS 12
#define RULE_CACHE_NR_SETS  (1u << RULE_CACHE_SET_BITS)
#define RULE_CACHE_NR_WAYS  4
#define RULE_CACHE_NR_WORDS (sizeof(struct frame_rule) / sizeof(uint64_t))

/*
 * A writer locks the key, writes the words, and sets the key; a reader looks at the key
 * before and after reading the words. Of two entries of one key, which threads that
 * learn at once can make, either is right.
 */
struct rule_cache_entry {
	_Atomic uint64_t key; /* pc << 16 | epoch */
	_Atomic uint64_t words[RULE_CACHE_NR_WORDS];
};

_Static_assert(sizeof(struct rule_cache_entry) == 32, "two in a cache line");

extern struct rule_cache_entry rule_cache[RULE_CACHE_NR_SETS][RULE_CACHE_NR_WAYS];

static inline struct rule_cache_entry *rule_cache__set(uint64_t pc)
{
	/* Fibonacci hashing: the upper bits of the product are the mixed ones. */
	return rule_cache[(pc * 0x9e3779b97f4a7c15ull) >> (64 - RULE_CACHE_SET_BITS)];
}

/* 0 and what doesn't fit into a key are no places of code. */
static inline bool rule_cache__has_key(uint64_t pc)
{
	return !((pc - 1) >> 48);
}

/* The head of a rule alone. Returns false if the rule isn't there. */
static inline bool rule_cache__find_head(uint64_t pc, uint16_t epoch,
					 struct frame_rule_head *ret)
{
	const uint64_t key = pc << 16 | epoch;
	struct rule_cache_entry *set = rule_cache__set(pc);
	uint64_t word;

	if (!rule_cache__has_key(pc))
		return false;
	for (int i = 0; i < RULE_CACHE_NR_WAYS; i++) {
		if (atomic_load_explicit(&set[i].key, memory_order_acquire) != key)
			continue;
		word = atomic_load_explicit(&set[i].words[0], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		memcpy(ret, &word, sizeof(word));
		return atomic_load_explicit(&set[i].key, memory_order_relaxed) == key;
	}
	return false;
}

/* The whole of it. The same. */
bool rule_cache__find(uint64_t pc, uint16_t epoch, struct frame_rule *ret);

void rule_cache__add(uint64_t pc, uint16_t epoch, const struct frame_rule *rule);

/* Forget all: epochs have come round. */
void rule_cache__clear(void);

#endif
