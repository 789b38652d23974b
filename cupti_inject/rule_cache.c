// SPDX-License-Identifier: GPL-2.0-or-later
#include "rule_cache.h"

/* Keys that no place has */
#define KEY_EMPTY  0
#define KEY_LOCKED 1 /* being written */

struct rule_cache_entry rule_cache[RULE_CACHE_NR_SETS][RULE_CACHE_NR_WAYS];

bool rule_cache__find(uint64_t pc, uint16_t epoch, struct frame_rule *ret)
{
	const uint64_t key = pc << 16 | epoch;
	struct rule_cache_entry *set = rule_cache__set(pc);
	uint64_t words[RULE_CACHE_NR_WORDS];

	if (!rule_cache__has_key(pc))
		return false;
	for (int i = 0; i < RULE_CACHE_NR_WAYS; i++) {
		struct rule_cache_entry *entry = &set[i];

		if (atomic_load_explicit(&entry->key, memory_order_acquire) != key)
			continue;
		for (size_t j = 0; j < RULE_CACHE_NR_WORDS; j++)
			words[j] = atomic_load_explicit(&entry->words[j],
							memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&entry->key, memory_order_relaxed) != key)
			return false;
		memcpy(ret, words, sizeof(*ret));
		return true;
	}
	return false;
}

/* Where a rule goes: over an older one of the place, an empty entry, or any. */
static struct rule_cache_entry *choose(struct rule_cache_entry *set, uint64_t pc,
				       uint64_t *ret_key)
{
	static atomic_uint next_victim;
	struct rule_cache_entry *empty = NULL;
	unsigned int victim;

	for (int i = 0; i < RULE_CACHE_NR_WAYS; i++) {
		uint64_t key = atomic_load_explicit(&set[i].key, memory_order_relaxed);

		if (key >> 16 == pc) {
			*ret_key = key;
			return &set[i];
		}
		if (key == KEY_EMPTY)
			empty = &set[i];
	}
	if (empty) {
		*ret_key = KEY_EMPTY;
		return empty;
	}
	victim = atomic_fetch_add_explicit(&next_victim, 1, memory_order_relaxed);
	*ret_key = atomic_load_explicit(&set[victim % RULE_CACHE_NR_WAYS].key,
					memory_order_relaxed);
	return &set[victim % RULE_CACHE_NR_WAYS];
}

void rule_cache__add(uint64_t pc, uint16_t epoch, const struct frame_rule *rule)
{
	uint64_t words[RULE_CACHE_NR_WORDS], key;
	struct rule_cache_entry *entry;

	if (!rule_cache__has_key(pc))
		return;
	entry = choose(rule_cache__set(pc), pc, &key);
	if (key == KEY_LOCKED || !atomic_compare_exchange_strong_explicit(
					 &entry->key, &key, KEY_LOCKED,
					 memory_order_acquire, memory_order_relaxed))
		return;
	/* The lock is to be seen before the words are. */
	atomic_thread_fence(memory_order_release);
	memcpy(words, rule, sizeof(words));
	for (size_t j = 0; j < RULE_CACHE_NR_WORDS; j++)
		atomic_store_explicit(&entry->words[j], words[j], memory_order_relaxed);
	atomic_store_explicit(&entry->key, pc << 16 | epoch, memory_order_release);
}

void rule_cache__clear(void)
{
	for (size_t i = 0; i < RULE_CACHE_NR_SETS; i++) {
		for (size_t j = 0; j < RULE_CACHE_NR_WAYS; j++) {
			uint64_t key = atomic_load(&rule_cache[i][j].key);

			if (key != KEY_LOCKED)
				atomic_compare_exchange_strong(&rule_cache[i][j].key,
							       &key, KEY_EMPTY);
		}
	}
}
