// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of rules that all threads share: rule_cache.c */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "rule_cache.h"

#define PC 0x7f1234567890ull

/* All of it made of the offset, so that a mixed one can be told */
static struct frame_rule make_rule(int32_t offset)
{
	struct frame_rule rule = {
		.head = {.kind = FRAME_TABLE,
			 .saved_fp = (int16_t)offset,
			 .cfa_offset = offset},
		.return_offset = (int16_t)offset,
		.nr_loads = (uint16_t)offset,
	};

	for (int i = 0; i < 5; i++)
		rule.saved_others[i] = (int16_t)offset;
	return rule;
}

TEST(a_rule_is_found_in_its_epoch)
{
	struct frame_rule rule = make_rule(24), found;
	struct frame_rule_head head;

	CHECK(!rule_cache__find(PC, 7, &found));
	rule_cache__add(PC, 7, &rule);
	CHECK(rule_cache__find(PC, 7, &found));
	CHECK(!memcmp(&found, &rule, sizeof(rule)));
	CHECK(rule_cache__find_head(PC, 7, &head));
	CHECK_EQ(head.cfa_offset, 24);
	CHECK(!rule_cache__find(PC, 8, &found));
	CHECK(!rule_cache__find_head(PC, 8, &head));
	CHECK(!rule_cache__find(PC + 1, 7, &found));
}

TEST(a_new_rule_replaces_the_one_of_another_epoch)
{
	struct frame_rule old = make_rule(24), new = make_rule(32), found;

	rule_cache__add(PC, 1, &old);
	rule_cache__add(PC, 2, &new);
	CHECK(rule_cache__find(PC, 2, &found));
	CHECK_EQ(found.head.cfa_offset, 32);
	CHECK(!rule_cache__find(PC, 1, &found));
}

TEST(addresses_that_no_process_has_are_not_kept)
{
	struct frame_rule rule = make_rule(24), found;

	rule_cache__add(0, 0, &rule);
	rule_cache__add(1ull << 48 | PC, 1, &rule);
	rule_cache__add(PC, 1, &rule);
	CHECK(!rule_cache__find(0, 0, &found));
	CHECK(!rule_cache__find(0, 1, &found));
	CHECK(!rule_cache__find(1ull << 48 | PC, 1, &found));
	CHECK(!rule_cache__find_head(1ull << 48 | PC, 1, &found.head));
	CHECK(!rule_cache__find_head(0, 0, &found.head));
}

TEST(of_too_many_some_are_kept_and_all_are_right)
{
	const uint64_t nr = 4 * RULE_CACHE_NR_SETS * RULE_CACHE_NR_WAYS;
	struct frame_rule found;
	uint64_t nr_found = 0;

	for (uint64_t i = 0; i < nr; i++) {
		struct frame_rule rule = make_rule((int32_t)(i & 0x7fff));

		rule_cache__add(PC + i * 16, 3, &rule);
		CHECK(rule_cache__find(PC + i * 16, 3, &found));
	}
	for (uint64_t i = 0; i < nr; i++) {
		if (!rule_cache__find(PC + i * 16, 3, &found))
			continue;
		nr_found++;
		CHECK_EQ(found.head.cfa_offset, (int32_t)(i & 0x7fff));
	}
	CHECK(nr_found > RULE_CACHE_NR_SETS * RULE_CACHE_NR_WAYS / 2);
	CHECK(nr_found <= RULE_CACHE_NR_SETS * RULE_CACHE_NR_WAYS);
	rule_cache__clear();
	for (uint64_t i = 0; i < nr; i++)
		CHECK(!rule_cache__find(PC + i * 16, 3, &found));
}

/* More places than a set takes, in one set, written and read by four threads. */
#define NR_PLACES 12
#define NR_TURNS  200000

static uint64_t places[NR_PLACES];
static atomic_ulong nr_wrong, nr_read;

static void *use_one_set(void *argument)
{
	unsigned int seed = (unsigned int)(uintptr_t)argument;

	for (int i = 0; i < NR_TURNS; i++) {
		struct frame_rule found, wanted;
		unsigned int place;

		seed = seed * 1664525 + 1013904223;
		place = (seed >> 16) % NR_PLACES;
		wanted = make_rule((int32_t)place + 1);
		if (!rule_cache__find(places[place], 1, &found)) {
			rule_cache__add(places[place], 1, &wanted);
			continue;
		}
		nr_read++;
		nr_wrong += memcmp(&found, &wanted, sizeof(found)) != 0;
	}
	return NULL;
}

TEST(threads_never_see_a_mixed_rule)
{
	pthread_t threads[4];
	unsigned int nr = 0;

	for (uint64_t pc = PC; nr < NR_PLACES; pc += 16) {
		if (rule_cache__set(pc) == rule_cache__set(PC))
			places[nr++] = pc;
	}
	for (uintptr_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, use_one_set, (void *)(i + 1)),
			 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(nr_wrong, 0);
	CHECK(nr_read > NR_TURNS / 10);
}
