// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Activities that stay in the file are the same as those in a table, and so is what a join
 * makes of them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu_log_build.h"
#include "join/join.h"
#include "join/key_set.h"
#include "sidecar/activities.h"
#include "unit.h"

#define NR_LOGS	   3
#define NR_SHAPES  4
#define NR_RECORDS 4000

/* Of any kind, in blocks of any length, of logs that take turns */
static void add_records(struct log_build *build, uint64_t spread)
{
	for (uint64_t i = 0; i < NR_RECORDS; i++) {
		uint32_t log = (uint32_t)rand() % NR_LOGS;
		uint64_t id = i / 2 + (uint64_t)rand() % spread;
		uint64_t start_ns = 1000 * i + (uint64_t)rand() % (spread * 1000);
		uint64_t end_ns = rand() % 50 ? start_ns + (uint64_t)rand() % 5000 : 0;
		struct gpu_log_activity copy = {.operation = 1 + (uint32_t)rand() % 3,
						.correlation_id = id,
						.start_ns = start_ns,
						.end_ns = end_ns,
						.bytes = (uint64_t)rand() % 4096};
		struct gpu_log_memory memory = {.operation = 4,
						.correlation_id = id,
						.time_ns = start_ns,
						.bytes = 64};

		if (rand() % 20 == 0)
			log_build__end_block(build);
		if (build->bytes == build->block)
			build->log_id = 1 + log;
		if (rand() % 3)
			log_build__kernel(build, 1 + (uint32_t)rand() % NR_SHAPES, id,
					  start_ns, end_ns);
		else if (rand() % 4)
			LOG_BUILD_ADD(build, GPU_LOG_ACTIVITY, copy);
		else
			LOG_BUILD_ADD(build, GPU_LOG_MEMORY, memory);
	}
	log_build__end_block(build);
}

static void begin_log(struct log_build *build, uint64_t log_id)
{
	static const uint32_t kinds[] = {GPU_LOG_KIND_MEMCPY, GPU_LOG_KIND_MEMSET,
					 GPU_LOG_KIND_SYNC, GPU_LOG_KIND_MEMORY};

	build->log_id = log_id;
	build->nr_strings = 0;
	log_build__process(build, (uint32_t)log_id, "app");
	for (uint32_t i = 1; i <= NR_SHAPES; i++)
		log_build__shape(build, i, "k");
	for (uint32_t i = 0; i < 4; i++) {
		struct gpu_log_operation operation = {
			.operation = 1 + i, .kind = kinds[i], .what = 2};

		/* Waits on the GPU are no occurrences, those of threads are. */
		if (kinds[i] == GPU_LOG_KIND_SYNC)
			operation.what = GPU_LOG_SYNC_STREAM;
		LOG_BUILD_ADD(build, GPU_LOG_OPERATION, operation);
	}
	log_build__end_block(build);
}

/* A sidecar whose activities have ids within @spread of their order */
static struct sidecar *open_sidecar(uint64_t spread)
{
	struct log_build build = {.session = 7};
	int fd = memfd_create("sidecar", MFD_CLOEXEC);
	struct sidecar *sidecar;
	char path[64];

	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	srand((unsigned int)spread);
	for (uint64_t i = 1; i <= NR_LOGS; i++)
		begin_log(&build, i);
	add_records(&build, spread);
	CHECK_EQ(log_build__save(&build, path), 0);
	CHECK_EQ(sidecar__open(path, &sidecar), 0);
	log_build__release(&build);
	close(fd);
	return sidecar;
}

TEST(activities_are_read_where_they_stand)
{
	struct sidecar *streamed = open_sidecar(10), *listed = open_sidecar(10);
	struct activity_walk walk = {.sidecar = streamed};
	struct sidecar_activity activity, again;
	uint64_t place;
	size_t nr = 0;

	CHECK_EQ(sidecar__list_activities(listed), 0);
	CHECK(!streamed->activities);
	CHECK_EQ(listed->nr_activities, NR_RECORDS);
	CHECK_EQ(streamed->nr_activities, NR_RECORDS);
	for (; activity_walk__next(&walk, &activity, &place); nr++) {
		CHECK(nr < NR_RECORDS);
		CHECK_MEM(&activity, &listed->activities[nr], sizeof(activity));
		CHECK_EQ(sidecar__log_at(streamed, place), activity.log);
		CHECK_EQ(sidecar__correlation_id(streamed, place),
			 activity.correlation_id);
		sidecar__activity(streamed, activity.log, place, &again);
		CHECK_MEM(&again, &activity, sizeof(activity));
	}
	CHECK_EQ(nr, NR_RECORDS);
	sidecar__close(streamed);
	sidecar__close(listed);
}

static void check_same(const struct occurrence *a, const struct occurrence *b)
{
	CHECK_EQ(a->correlation_id, b->correlation_id);
	CHECK_EQ(a->period, b->period);
	CHECK_EQ(a->start_ns, b->start_ns);
	CHECK_EQ(a->log, b->log);
	CHECK_EQ(a->event, b->event);
	CHECK_MEM(a->activity, b->activity, sizeof(*a->activity));
}

/* Two joins of one recording: one with all in memory */
struct both {
	struct sidecar *sidecars[2];
	struct occurrences occurrences[2];
	struct join *joins[2];
};

static void both__open(struct both *both, uint64_t spread, uint32_t events,
		       enum event_weight weight)
{
	for (size_t i = 0; i < 2; i++) {
		both->sidecars[i] = open_sidecar(spread);
		if (i)
			CHECK_EQ(sidecar__list_activities(both->sidecars[i]), 0);
		CHECK_EQ(occurrences__find(both->sidecars[i], events, weight, false,
					   &both->occurrences[i]),
			 0);
		CHECK_EQ(both->occurrences[i].is_streamed, !i);
		CHECK_EQ(join__new(both->sidecars[i], &both->joins[i]), 0);
		CHECK_EQ(join__index(both->joins[i], &both->occurrences[i]), 0);
	}
	CHECK_MEM(both->occurrences[0].totals, both->occurrences[1].totals,
		  sizeof(both->occurrences[0].totals));
}

static void both__close(struct both *both)
{
	for (size_t i = 0; i < 2; i++) {
		join__delete(both->joins[i]);
		occurrences__release(&both->occurrences[i]);
		sidecar__close(both->sidecars[i]);
	}
}

static void check_launch(struct both *both, uint64_t log_id, uint64_t id)
{
	size_t first[2], nr = join__launch(both->joins[0], log_id, id, &first[0]);

	CHECK_EQ(join__launch(both->joins[1], log_id, id, &first[1]), nr);
	for (size_t k = 0; k < nr; k++)
		check_same(join__at(both->joins[0], first[0] + k),
			   join__at(both->joins[1], first[1] + k));
}

static void check_rest(struct both *both)
{
	const struct occurrence *of[2];
	size_t cursor[2] = {0};

	do {
		for (size_t i = 0; i < 2; i++)
			of[i] = join__rest(both->joins[i], &cursor[i]);
		CHECK_EQ(!of[0], !of[1]);
		if (!of[0])
			break;
		CHECK_EQ(cursor[0], cursor[1]);
		check_same(of[0], of[1]);
		check_same(join__at(both->joins[0], cursor[0] - 1), of[1]);
	} while (of[0]);
}

static void check_joins(uint64_t spread, uint32_t events, enum event_weight weight)
{
	struct both both;

	both__open(&both, spread, events, weight);
	for (uint64_t id = 0; id < NR_RECORDS; id++)
		for (size_t i = 0; i < 2; i++)
			if (id % 7)
				CHECK_EQ(join__announce(both.joins[i], 1 + id % 3, id),
					 0);
	check_rest(&both);
	/* In order, and then anywhere, of which many were there */
	for (uint64_t id = 0; id < NR_RECORDS / 2; id++)
		check_launch(&both, 1 + id % 3, id);
	for (size_t i = 0; i < NR_RECORDS; i++)
		check_launch(&both, 1 + (uint64_t)rand() % 4,
			     (uint64_t)rand() % NR_RECORDS);
	both__close(&both);
}

TEST(a_join_of_what_is_streamed_is_that_of_a_table)
{
	static const uint64_t spreads[] = {1, 2, 30, 1000};

	for (size_t i = 0; i < sizeof(spreads) / sizeof(*spreads); i++) {
		check_joins(spreads[i], GPU_LOG_DEFAULT_EVENTS, EVENT_WEIGHT_DEFAULT);
		check_joins(spreads[i],
			    GPU_LOG_DEFAULT_EVENTS |
				    GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_SYNC),
			    EVENT_WEIGHT_BYTES);
		check_joins(spreads[i], GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMSET),
			    EVENT_WEIGHT_NS);
	}
}

TEST(other_events_are_not_streamed)
{
	struct sidecar *sidecar = open_sidecar(10);

	CHECK(occurrences__can_be_streamed(sidecar, GPU_LOG_DEFAULT_EVENTS));
	CHECK(!occurrences__can_be_streamed(sidecar,
					    GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_ALLOC)));
	CHECK(!occurrences__can_be_streamed(
		sidecar, GPU_LOG_DEFAULT_EVENTS | GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_IDLE)));
	sidecar__close(sidecar);
}

TEST(keys_have_marks_of_their_own)
{
	static const uint64_t ids[] = {0, 1, 511, 512, 1ull << 40, UINT64_MAX};
	struct key_set set = {0};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		CHECK(!key_set__has(&set, 1, ids[i], KEY_IS_ANNOUNCED));
		CHECK_EQ(key_set__mark(&set, 1, ids[i], KEY_IS_ANNOUNCED), 0);
		CHECK(key_set__has(&set, 1, ids[i], KEY_IS_ANNOUNCED));
		CHECK(!key_set__has(&set, 1, ids[i], KEY_IS_TAKEN));
		CHECK(!key_set__has(&set, 2, ids[i], KEY_IS_ANNOUNCED));
	}
	CHECK_EQ(key_set__mark(&set, 2, 511, KEY_IS_TAKEN), 0);
	CHECK(!key_set__has(&set, 1, 511, KEY_IS_TAKEN));
	CHECK(key_set__has(&set, 1, 511, KEY_IS_ANNOUNCED));
	CHECK(!key_set__has(&set, 1, 510, KEY_IS_ANNOUNCED));
	key_set__release(&set);
}
