// SPDX-License-Identifier: GPL-2.0-or-later
/* What recorded calls are called, and the sums of everything that is lost */
#include "gpu_log.h"
#include "record/call_counts.h"
#include "unit.h"
#include "util/account.h"

#define LAUNCH GPU_LOG_API_ID(2, 211)
#define WAIT   GPU_LOG_API_ID(2, 165)
#define ALLOC  GPU_LOG_API_ID(1, 243)
#define OTHER  GPU_LOG_API_ID(1, 7)

#define BIT(kind)   GPU_LOG_KIND_BIT(GPU_LOG_KIND_##kind)
#define EVENT(name) GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_##name)

static struct call_counts counts;
static struct call_kinds kinds;

static void add(uint32_t api, unsigned int nr)
{
	while (nr--)
		call_counts__add(&counts, api);
}

TEST(calls_are_what_logs_say_of_their_functions)
{
	struct call_sums sums;

	call_kinds__set(&kinds, LAUNCH, BIT(KERNEL) | BIT(CALL));
	call_kinds__set(&kinds, WAIT, BIT(SYNC));
	call_kinds__set(&kinds, ALLOC, BIT(MEMORY) | BIT(SYNC));
	call_kinds__set(&kinds, LAUNCH, BIT(MEMORY)); /* too late */
	add(LAUNCH, 5);
	add(0, 2); /* probes on the API */
	add(WAIT, 3);
	add(ALLOC, 4);
	add(OTHER, 6);
	add(UINT32_MAX, 1); /* made up */
	sums = call_counts__sum(&counts, &kinds, EVENT(KERNEL) | EVENT(SYNC));
	CHECK_EQ(sums.nr[CALL_LAUNCH], 7);
	CHECK_EQ(sums.nr[CALL_WAIT], 3);
	CHECK_EQ(sums.nr[CALL_MEMORY], 4);
	CHECK_EQ(sums.nr[CALL_UNKNOWN], 7);
}

/* As of a process that was killed before its log told of the function */
TEST(unknown_functions_launch_if_nothing_else_was_asked_for)
{
	struct call_sums sums;

	add(OTHER, 6);
	sums = call_counts__sum(&counts, &kinds, EVENT(KERNEL) | EVENT(MEMCPY));
	CHECK_EQ(sums.nr[CALL_LAUNCH], 6);
	CHECK_EQ(sums.nr[CALL_UNKNOWN], 0);
}

TEST(losses_of_each_kind_are_of_the_sum)
{
	struct account account = {.nr_samples = 1, .nr_delivered = 2};
	struct gpu_log_loss loss = {.nr_records = 1};

	for (loss.kind = 0; loss.kind < 100; loss.kind++)
		account__add_loss(&account, &loss);
	/* By CUPTI, of writing, of memory; not those that have a record, nor launches */
	CHECK_EQ(account__nr_dropped(&account), 3);
	for (int i = 0; i < ACCOUNT_NR_LOSSES; i++)
		account.nr_lost[i] = 1;
	CHECK_EQ(account__nr_lost(&account), ACCOUNT_NR_LOSSES);
	account.nr_lost[0] = UINT64_MAX;
	CHECK_EQ(account__nr_lost(&account), UINT64_MAX);
}
