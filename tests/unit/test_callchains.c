// SPDX-License-Identifier: GPL-2.0-or-later
/* The same number is never of two callchains. */
#include <stdlib.h>

#include "source/callchains.h"
#include "unit.h"

static struct callchains *new_chains(void)
{
	struct callchains *chains;

	CHECK_EQ(callchains__new(&chains), 0);
	return chains;
}

TEST(equal_callchains_have_one_number)
{
	static const uint64_t one[] = {0x1000, 0x2000, 0x3000},
			      other[] = {0x1000, 0x2000, 0x3001};
	uint64_t again[] = {0x1000, 0x2000, 0x3000};
	struct callchains *chains = new_chains();

	CHECK_EQ(callchains__number(chains, one, 3), 1);
	CHECK_EQ(callchains__number(chains, other, 3), 2);
	CHECK_EQ(callchains__number(chains, one, 2), 3);
	CHECK_EQ(callchains__number(chains, NULL, 0), 4);
	CHECK_EQ(callchains__number(chains, again, 3), 1);
	CHECK_EQ(callchains__number(chains, NULL, 0), 4);
	callchains__delete(chains);
	callchains__delete(NULL);
}

TEST(which_callchains_came_again_is_known)
{
	struct callchains *chains = new_chains();
	uint64_t ips[] = {0x401000, 0};

	/* Every third comes twice, one of them when all others are known. */
	for (uint64_t i = 1; i <= 1000; i++) {
		ips[1] = i;
		CHECK_EQ(callchains__number(chains, ips, 2), i);
		CHECK(!callchains__came_again(chains, i));
		if (i % 3 == 0)
			CHECK_EQ(callchains__number(chains, ips, 2), i);
	}
	ips[1] = 1;
	CHECK_EQ(callchains__number(chains, ips, 2), 1);
	for (uint64_t i = 1; i <= 1000; i++)
		CHECK_EQ(callchains__came_again(chains, i), i % 3 == 0 || i == 1);
	CHECK(!callchains__came_again(chains, 1000000));
	callchains__delete(chains);
}

TEST(a_callchain_is_copied)
{
	uint64_t mine[] = {0x1000, 0x2000};
	struct callchains *chains = new_chains();

	CHECK_EQ(callchains__number(chains, mine, 2), 1);
	mine[0] = 0;
	CHECK_EQ(callchains__number(chains, mine, 2), 2);
	callchains__delete(chains);
}

/* As many as a program launches from are all remembered. */
TEST(five_hundred_callchains_have_room_beside_each_other)
{
	struct callchains *chains = new_chains();

	for (int is_second = 0; is_second < 2; is_second++)
		for (uint64_t i = 0; i < 500; i++) {
			const uint64_t ips[] = {0x7f0000000000 + 64 * i, 0x401000};

			CHECK_EQ(callchains__number(chains, ips, 2), i + 1);
		}
	callchains__delete(chains);
}

/* Of all lengths, so that one has the room of another that had to go */
TEST(many_are_known_or_forgotten_but_never_mixed_up)
{
	enum { NR = 20000, MAX_IPS = 5, MAX_NUMBER = 2 * NR + 1 };
	struct callchains *chains = new_chains();
	uint64_t *of_number = calloc(MAX_NUMBER, sizeof(*of_number));
	size_t nr_known = 0;

	CHECK(of_number);
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 1; i <= NR; i++) {
			const uint64_t ips[MAX_IPS] = {i, 2 * i, 3, 4, 5};
			uint64_t nr_ips = 1 + i % MAX_IPS,
				 number = callchains__number(chains, ips, nr_ips);

			CHECK(number > 0 && number < MAX_NUMBER);
			nr_known += of_number[number] == i;
			CHECK(!of_number[number] || of_number[number] == i);
			of_number[number] = i;
			CHECK_EQ(callchains__number(chains, ips, nr_ips), number);
		}
	CHECK(nr_known < NR);
	free(of_number);
	callchains__delete(chains);
}
