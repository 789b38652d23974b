// SPDX-License-Identifier: GPL-2.0-or-later
/* Callchains of probes on a function's entry: record/hit_chain.c */
#include <linux/perf_event.h>

#include "record/hit_chain.h"
#include "unit.h"

#define CHAIN(...) ((const uint64_t[]){__VA_ARGS__})

static void check(const uint64_t *ips, uint64_t nr, uint64_t caller,
		  const uint64_t *wanted, uint64_t nr_wanted)
{
	uint64_t got[HIT_CHAIN_MAX_IPS];

	CHECK_EQ(hit_chain__add_caller(ips, nr, caller, got), nr_wanted);
	for (uint64_t i = 0; i < nr_wanted; i++)
		CHECK_EQ(got[i], wanted[i]);
}

#define USER ((uint64_t)PERF_CONTEXT_USER)

TEST(caller_comes_behind_the_function)
{
	check(CHAIN(USER, 10, 30), 3, 20, CHAIN(USER, 10, 20, 30), 4);
	check(CHAIN(USER, 10), 2, 20, CHAIN(USER, 10, 20), 3);
	check(CHAIN((uint64_t)PERF_CONTEXT_KERNEL, 1, USER, 10, 30), 5, 20,
	      CHAIN((uint64_t)PERF_CONTEXT_KERNEL, 1, USER, 10, 20, 30), 6);
}

TEST(caller_that_is_there_stays_one)
{
	check(CHAIN(USER, 10, 20, 30), 4, 20, CHAIN(USER, 10, 20, 30), 4);
	/* A function that calls itself is not in the chain yet, only its caller's. */
	check(CHAIN(USER, 10, 30, 20), 4, 20, CHAIN(USER, 10, 20, 30, 20), 5);
}

TEST(nothing_is_added_to_what_has_no_user_part)
{
	check(CHAIN(USER, 10, 30), 3, 0, CHAIN(USER, 10, 30), 3);
	check(CHAIN(USER), 1, 20, CHAIN(USER), 1);
	check(NULL, 0, 20, NULL, 0);
	check(CHAIN((uint64_t)PERF_CONTEXT_KERNEL, 1), 2, 20,
	      CHAIN((uint64_t)PERF_CONTEXT_KERNEL, 1), 2);
}

TEST(long_chain_is_cut)
{
	uint64_t ips[HIT_CHAIN_MAX_IPS + 10] = {USER}, got[HIT_CHAIN_MAX_IPS];

	for (uint64_t i = 1; i < HIT_CHAIN_MAX_IPS + 10; i++)
		ips[i] = i;
	CHECK_EQ(hit_chain__add_caller(ips, HIT_CHAIN_MAX_IPS + 10, 77, got),
		 HIT_CHAIN_MAX_IPS);
	CHECK_EQ(got[1], 1);
	CHECK_EQ(got[2], 77);
	CHECK_EQ(got[HIT_CHAIN_MAX_IPS - 1], HIT_CHAIN_MAX_IPS - 2);
}
