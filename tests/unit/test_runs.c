// SPDX-License-Identifier: GPL-2.0-or-later
/* Elements come in the order of their keys, and equal ones as they stand. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util/runs.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Keys by place; 0: no element is there */
struct keys {
	const uint64_t *keys;
	size_t nr, nr_next;
};

static uint64_t next(void *data, uint64_t *place)
{
	struct keys *keys = data;

	keys->nr_next++;
	for (size_t i = *place + 1; i < keys->nr; i++)
		if (keys->keys[i]) {
			*place = i;
			return keys->keys[i];
		}
	return 0;
}

static void add_all(struct runs *runs, const struct keys *keys)
{
	for (size_t i = 0; i < keys->nr; i++)
		if (keys->keys[i])
			CHECK_EQ(runs__add(runs, keys->keys[i], i), 0);
}

/* The walk goes through all of them, in order. */
static void check_order(struct runs *runs, struct keys *keys)
{
	uint8_t *is_seen = calloc(keys->nr + 1, 1);
	uint64_t key, place, last_key = 0, last_place = 0;
	size_t nr_seen = 0, nr = 0;
	struct runs_walk walk;

	CHECK(is_seen != NULL);
	CHECK_EQ(runs_walk__begin(&walk, runs, next, keys), 0);
	while (runs_walk__next(&walk, &key, &place)) {
		CHECK(place < keys->nr);
		CHECK_EQ(key, keys->keys[place]);
		CHECK(!is_seen[place]);
		CHECK(key > last_key ||
		      (key == last_key && (place > last_place || !nr_seen)));
		is_seen[place] = 1;
		last_key = key;
		last_place = place;
		nr_seen++;
	}
	CHECK(!runs_walk__next(&walk, &key, &place));
	runs_walk__end(&walk);
	for (size_t i = 0; i < keys->nr; i++)
		nr += keys->keys[i] != 0;
	CHECK_EQ(nr_seen, nr);
	free(is_seen);
}

static void check(const uint64_t *of, size_t nr, size_t nr_runs)
{
	struct keys keys = {.keys = of, .nr = nr};
	struct runs runs = {0};

	add_all(&runs, &keys);
	if (nr_runs)
		CHECK_EQ(runs.nr, nr_runs);
	check_order(&runs, &keys);
	check_order(&runs, &keys); /* once more */
	runs__release(&runs);
}

TEST(nothing_has_no_element)
{
	check(NULL, 0, 0);
}

TEST(what_is_in_order_is_one_run)
{
	static const uint64_t keys[] = {1, 2, 2, 0, 3, 9, 0};

	check(keys, NR(keys), 1);
}

TEST(runs_are_merged)
{
	static const uint64_t keys[] = {1, 4, 5, 9, 2, 3, 6, 7, 8, 10, 11};

	check(keys, NR(keys), 2);
}

TEST(equal_keys_come_by_place)
{
	static const uint64_t keys[] = {5, 5, 4, 5, 5, 3, 5, 5};

	check(keys, NR(keys), 3);
}

TEST(what_is_backwards_is_turned_round)
{
	static const uint64_t keys[] = {9, 8, 7, 6, 5, 0, 4, 3, 2, 1};

	check(keys, NR(keys), 9);
}

TEST(a_run_ends_where_it_is_closed)
{
	static const uint64_t of[] = {1, 2, 3, 4};
	struct keys keys = {.keys = of, .nr = NR(of)};
	struct runs runs = {0};

	for (size_t i = 0; i < NR(of); i++) {
		CHECK_EQ(runs__add(&runs, of[i], i), 0);
		runs__close(&runs);
	}
	CHECK_EQ(runs.nr, 4);
	check_order(&runs, &keys);
	CHECK_EQ(keys.nr_next, 0);
	runs__release(&runs);
}

TEST(any_order_becomes_order)
{
	enum { NR_KEYS = 20000 };
	uint64_t *keys = calloc(NR_KEYS, sizeof(*keys));

	CHECK(keys != NULL);
	srand(1);
	for (size_t limit = 3; limit < 1000000; limit *= 50) {
		for (size_t i = 0; i < NR_KEYS; i++)
			keys[i] = (uint64_t)rand() % limit + (limit > 1000 ? i : 0);
		check(keys, NR_KEYS, 0);
	}
	free(keys);
}

static uint64_t find_nothing(void *data, uint64_t *place)
{
	(void)data;
	(void)place;
	return 0;
}

/* A file that is written to meanwhile */
TEST(a_run_that_has_changed_ends)
{
	struct runs runs = {0};
	struct runs_walk walk;
	uint64_t key, place;

	CHECK_EQ(runs__add(&runs, 7, 1), 0);
	CHECK_EQ(runs__add(&runs, 8, 2), 0);
	CHECK_EQ(runs_walk__begin(&walk, &runs, find_nothing, NULL), 0);
	CHECK(runs_walk__next(&walk, &key, &place));
	CHECK_EQ(key, 7);
	CHECK(!runs_walk__next(&walk, &key, &place));
	runs_walk__end(&walk);
	runs__release(&runs);
}
