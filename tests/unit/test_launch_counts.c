// SPDX-License-Identifier: GPL-2.0-or-later
/* Launches of each log, also of more logs than have a place */
#include "record/launch_counts.h"
#include "unit.h"

TEST(an_empty_one_has_none)
{
	struct launch_counts counts = {};

	CHECK_EQ(launch_counts__of(&counts, 1), 0);
	launch_counts__release(&counts);
}

/* Ids that want the same place, too */
TEST(logs_are_counted_apart)
{
	struct launch_counts counts = {};

	for (uint64_t id = 1; id <= 1000; id++)
		for (uint64_t i = 0; i < id % 7; i++)
			launch_counts__add(&counts, id << 20, 1);
	for (uint64_t id = 1; id <= 1000; id++)
		CHECK_EQ(launch_counts__of(&counts, id << 20), id % 7);
	CHECK_EQ(launch_counts__of(&counts, 1), 0);
	launch_counts__release(&counts);
}

TEST(of_too_many_logs_the_last_are_unknown)
{
	struct launch_counts counts = {};

	for (uint64_t id = 1; id <= LAUNCH_COUNTS_MAX_LOGS + 1; id++)
		launch_counts__add(&counts, id, 1);
	launch_counts__add(&counts, 1, 1);
	CHECK_EQ(launch_counts__of(&counts, 1), 2);
	CHECK_EQ(launch_counts__of(&counts, LAUNCH_COUNTS_MAX_LOGS), 1);
	CHECK_EQ(launch_counts__of(&counts, LAUNCH_COUNTS_MAX_LOGS + 1), UINT64_MAX);
	launch_counts__release(&counts);
}
