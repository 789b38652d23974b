// SPDX-License-Identifier: GPL-2.0-or-later
/* Each key has how often it was there, and its sum, in the order of its first time. */
#include <stdlib.h>

#include "unit.h"
#include "util/key_sums.h"

static void check(const struct key_sum *item, uint64_t a, uint64_t b, uint64_t nr,
		  uint64_t sum)
{
	CHECK_EQ(item->a, a);
	CHECK_EQ(item->b, b);
	CHECK_EQ(item->nr, nr);
	CHECK_EQ(item->sum, sum);
}

TEST(keys_are_counted_as_they_come)
{
	struct key_sums sums = {.items = NULL};

	CHECK_EQ(key_sums__settle(&sums), 0);
	CHECK_EQ(sums.nr, 0);
	CHECK_EQ(key_sums__add(&sums, 7, 1, 100), 0);
	CHECK_EQ(key_sums__add(&sums, 1, 7, 10), 0);
	CHECK_EQ(key_sums__add(&sums, 7, 1, 5), 0);
	CHECK_EQ(key_sums__settle(&sums), 0);
	/* And it goes on after a look. */
	CHECK_EQ(key_sums__add(&sums, 1, 7, 1), 0);
	CHECK_EQ(key_sums__add(&sums, 0, 0, 0), 0);
	CHECK_EQ(key_sums__settle(&sums), 0);
	CHECK_EQ(sums.nr, 3);
	check(&sums.items[0], 7, 1, 2, 105);
	check(&sums.items[1], 1, 7, 2, 11);
	check(&sums.items[2], 0, 0, 1, 0);
	key_sums__release(&sums);
	CHECK_EQ(sums.nr, 0);
}

TEST(a_sum_that_is_too_large_stays_so)
{
	struct key_sums sums = {.items = NULL};

	CHECK_EQ(key_sums__add(&sums, 1, 2, UINT64_MAX - 1), 0);
	CHECK_EQ(key_sums__add(&sums, 1, 2, 2), 0);
	CHECK_EQ(key_sums__add(&sums, 1, 2, 3), 0);
	CHECK_EQ(key_sums__settle(&sums), 0);
	check(&sums.items[0], 1, 2, 3, UINT64_MAX);
	key_sums__release(&sums);
}

/* More keys than a batch, which come several times, within a batch and across them */
TEST(many_keys_are_what_a_table_of_them_says)
{
	enum { NR_A = 61, NR_B = 53, NR = 50000 };
	static struct key_sum expected[NR_A][NR_B];
	struct key_sums sums = {.items = NULL};
	uint64_t random = 1, nr_keys = 0;

	for (uint64_t i = 0; i < NR; i++) {
		struct key_sum *item;

		random = hash__mix(random, i);
		item = &expected[random % NR_A][random / NR_A % (i % 2 ? NR_B : 3)];
		nr_keys += !item->nr++;
		item->sum += i;
		CHECK_EQ(key_sums__add(&sums, (uint64_t)(item - expected[0]) / NR_B,
				       (uint64_t)(item - expected[0]) % NR_B, i),
			 0);
	}
	CHECK_EQ(key_sums__settle(&sums), 0);
	CHECK_EQ(sums.nr, nr_keys);
	for (size_t i = 0; i < sums.nr; i++) {
		const struct key_sum *found = &sums.items[i];

		check(found, found->a, found->b, expected[found->a][found->b].nr,
		      expected[found->a][found->b].sum);
		expected[found->a][found->b].nr = 0; /* it doesn't come again */
	}
	key_sums__release(&sums);
}
