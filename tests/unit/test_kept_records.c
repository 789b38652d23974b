// SPDX-License-Identifier: GPL-2.0-or-later
/* What is kept of records is what was read, and no more is kept than there is room for. */
#include "source/kept_records.h"
#include "unit.h"

#define NR_ROOM (KEPT_MAX_CHUNKS * KEPT_CHUNK_RECORDS)

static const uint64_t record[100]; /* of which only addresses are asked for */
static const struct perf_event_header *const header = (const void *)record;

/* One of many, of which some have something in common */
static struct launch launch_at(size_t i)
{
	return (struct launch){
		.sample = {.time_ns = 1000 + i,
			   .pid = 7,
			   .tid = 7 + (uint32_t)(i % 5),
			   .cpu = (uint32_t)(i % 3),
			   .ips = i % 11 ? record + 7 : record + 9,
			   .nr_ips = i % 13},
		.event = {.log_id = 100 + i % 2,
			  .correlation_id = (1ull << 40) + i,
			  .api = (uint32_t)(i % 7)},
		.is_hit = i % 17 == 0,
		.is_earlier = i % 19 == 0,
		.chain = i % 500,
	};
}

static bool add(struct kept_records *kept, size_t i)
{
	const struct launch launch = launch_at(i);

	return kept_records__add(kept, i * sizeof(uint64_t), launch.sample.time_ns,
				 (uint32_t)(i % 2), header, &launch);
}

static void check_launch(const struct kept_records *kept, size_t i)
{
	const struct kept_record *of = kept_records__at(kept, i);
	const struct launch wanted = launch_at(i);
	struct launch launch;

	kept_records__launch(kept, of, header, &launch);
	CHECK_EQ(kept_record__offset(of), i * sizeof(uint64_t));
	CHECK_EQ(kept_records__kind(kept, of)->event, i % 2);
	CHECK(kept_records__kind(kept, of)->is_launch);
	CHECK_EQ(of->time_ns, wanted.sample.time_ns);
	CHECK_EQ(launch.sample.time_ns, wanted.sample.time_ns);
	CHECK_EQ(launch.sample.pid, wanted.sample.pid);
	CHECK_EQ(launch.sample.tid, wanted.sample.tid);
	CHECK_EQ(launch.sample.cpu, wanted.sample.cpu);
	CHECK(launch.sample.ips == wanted.sample.ips);
	CHECK_EQ(launch.sample.nr_ips, wanted.sample.nr_ips);
	CHECK(!launch.sample.user_state && !launch.sample.user_state_bytes);
	CHECK_EQ(launch.event.log_id, wanted.event.log_id);
	CHECK_EQ(launch.event.correlation_id, wanted.event.correlation_id);
	CHECK_EQ(launch.event.api, wanted.event.api);
	CHECK_EQ(launch.is_hit, wanted.is_hit);
	CHECK_EQ(launch.is_earlier, wanted.is_earlier);
	CHECK_EQ(launch.chain, wanted.chain);
}

TEST(launches_are_as_they_were_until_there_is_no_room)
{
	struct kept_records kept = {.nr = 0};
	size_t nr = 0;

	while (add(&kept, nr))
		nr++;
	CHECK_EQ(nr, NR_ROOM);
	for (size_t i = 0; i < nr; i += 1009)
		check_launch(&kept, i);
	check_launch(&kept, nr - 1);
	kept_records__give_up(&kept);
	CHECK(kept.are_given_up);
	kept_records__give_up(&kept);
}

TEST(other_records_have_a_time_and_a_place)
{
	struct kept_records kept = {.nr = 0};
	const struct kept_record *of;

	CHECK(kept_records__add(&kept, 80, 5, 70000, header, NULL));
	of = kept_records__at(&kept, 0);
	CHECK_EQ(of->time_ns, 5);
	CHECK_EQ(kept_record__offset(of), 80);
	CHECK_EQ(kept_records__kind(&kept, of)->event, 70000);
	CHECK(!kept_records__kind(&kept, of)->is_launch);
	kept_records__give_up(&kept);
}

TEST(a_launch_without_a_callchain_has_none)
{
	struct kept_records kept = {.nr = 0};
	struct launch launch = {.chain = 1};

	CHECK(kept_records__add(&kept, 0, 5, 0, header, &launch));
	kept_records__launch(&kept, kept_records__at(&kept, 0), header, &launch);
	CHECK(!launch.sample.ips);
	kept_records__give_up(&kept);
}

TEST(what_does_not_fit_is_not_kept)
{
	struct kept_records kept = {.nr = 0};
	struct launch launch = launch_at(0);

	CHECK(!kept_records__add(&kept, (UINT32_MAX + 1ull) * 8, 5, 0, header, NULL));
	CHECK(kept_records__add(&kept, UINT32_MAX * 8ull, 5, 0, header, NULL));
	CHECK_EQ(kept_record__offset(kept_records__at(&kept, 0)), UINT32_MAX * 8ull);
	launch.sample.user_state_bytes = 16;
	CHECK(!kept_records__add(&kept, 0, 5, 0, header, &launch));
	launch = launch_at(0);
	launch.sample.cpu = 65536;
	CHECK(!kept_records__add(&kept, 0, 5, 0, header, &launch));
	launch = launch_at(0);
	launch.chain = UINT32_MAX + 1ull;
	CHECK(!kept_records__add(&kept, 0, 5, 0, header, &launch));
	CHECK_EQ(kept.nr, 1);
	kept_records__give_up(&kept);
}
