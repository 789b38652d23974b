// SPDX-License-Identifier: GPL-2.0-or-later
/* Which call a hit of a probe is of, when some of either are missing: join/by_time.c */
#include <errno.h>
#include <stdlib.h>

#include "join/by_time.h"
#include "unit.h"

enum { PID = 10, TID = 11, OTHER_PID = 20 };

static struct sidecar_log logs[] = {{.log_id = 1, .pid = PID},
				    {.log_id = 2, .pid = OTHER_PID}};

static struct by_time *new_by_time(struct sidecar_api_call *calls, size_t nr)
{
	const struct sidecar sidecar = {
		.logs = logs, .nr_logs = 2, .api_calls = calls, .nr_api_calls = nr};
	struct by_time *by_time = NULL;

	CHECK_EQ(by_time__new(&sidecar, &by_time), 0);
	return by_time;
}

#define NEW(calls) new_by_time(calls, sizeof(calls) / sizeof(*(calls)))

static struct probe_hit hit_at(uint64_t time_ns)
{
	return (struct probe_hit){.pid = PID, .tid = TID, .time_ns = time_ns};
}

static void tell(struct by_time *by_time, uint64_t time_ns)
{
	const struct probe_hit hit = hit_at(time_ns);

	by_time__tell(by_time, &hit);
}

/* Correlation id of the call that the hit is of; 0: of none */
static uint64_t id_at(const struct by_time *by_time, uint64_t time_ns)
{
	const struct probe_hit hit = hit_at(time_ns);
	const struct sidecar_api_call *call = by_time__call(by_time, &hit);

	return call ? call->correlation_id : 0;
}

static struct sidecar_api_call call_of(uint64_t id, uint64_t start_ns, uint64_t end_ns)
{
	return (struct sidecar_api_call){
		.correlation_id = id, .start_ns = start_ns, .end_ns = end_ns, .tid = TID};
}

static size_t nr_claimed(const struct by_time *by_time)
{
	size_t cursor = 0, nr = 0;

	while (by_time__next(by_time, &cursor))
		nr++;
	return nr;
}

TEST(hit_is_of_the_call_that_ends_first_after_it)
{
	/* In no order, as several buffers bring them. */
	struct sidecar_api_call calls[] = {
		call_of(2, 30, 40),
		call_of(1, 10, 20),
		call_of(3, 50, 60),
	};
	struct by_time *by_time = NEW(calls);

	tell(by_time, 9); /* the probe may be before CUPTI's clock */
	tell(by_time, 35);
	tell(by_time, 60); /* as late as can be */
	CHECK_EQ(id_at(by_time, 9), 1);
	CHECK_EQ(id_at(by_time, 35), 2);
	CHECK_EQ(id_at(by_time, 60), 3);
	CHECK_EQ(nr_claimed(by_time), 3);
	by_time__delete(by_time);
}

TEST(lost_record_costs_its_own_launch_only)
{
	struct sidecar_api_call calls[] = {call_of(1, 10, 20), call_of(3, 50, 60)};
	struct by_time *by_time = NEW(calls);

	tell(by_time, 55);
	tell(by_time, 11);
	tell(by_time, 31); /* its call, 30 to 40, is lost */
	CHECK_EQ(id_at(by_time, 11), 1);
	CHECK_EQ(id_at(by_time, 31), 0);
	CHECK_EQ(id_at(by_time, 55), 3);
	by_time__delete(by_time);
}

TEST(lost_hit_costs_its_own_launch_only)
{
	struct sidecar_api_call calls[] = {
		call_of(1, 10, 20),
		call_of(2, 30, 40),
		call_of(3, 50, 60),
	};
	struct by_time *by_time = NEW(calls);
	size_t cursor = 0;

	tell(by_time, 11);
	tell(by_time, 51);
	tell(by_time, 71); /* behind all calls */
	CHECK_EQ(id_at(by_time, 11), 1);
	CHECK_EQ(id_at(by_time, 51), 3);
	CHECK_EQ(id_at(by_time, 71), 0);
	CHECK_EQ(by_time__next(by_time, &cursor)->correlation_id, 1);
	CHECK_EQ(by_time__next(by_time, &cursor)->correlation_id, 3);
	CHECK(!by_time__next(by_time, &cursor));
	by_time__delete(by_time);
}

TEST(driver_call_within_a_runtime_call_is_the_same_launch)
{
	struct sidecar_api_call calls[] = {
		call_of(1, 12, 18), call_of(1, 10, 20), call_of(2, 32, 40),
		call_of(2, 32, 40), call_of(3, 52, 58),
	};
	struct by_time *by_time;

	calls[1].api = 100; /* the runtime's */
	calls[3].api = 100;
	by_time = NEW(calls);
	/* Probes on both: the later is the driver's. */
	tell(by_time, 11);
	tell(by_time, 13);
	tell(by_time, 19); /* of a launch whose record is lost; but 1 hasn't ended yet */
	tell(by_time, 33);
	tell(by_time, 53);
	CHECK_EQ(id_at(by_time, 11), 0);
	CHECK_EQ(id_at(by_time, 13), 0);
	CHECK_EQ(id_at(by_time, 19), 1);
	CHECK_EQ(id_at(by_time, 33), 2);
	CHECK_EQ(id_at(by_time, 53), 3);
	for (uint64_t time_ns = 19; time_ns <= 33; time_ns += 14) {
		const struct probe_hit hit = hit_at(time_ns);

		CHECK_EQ(by_time__call(by_time, &hit)->api, 100);
	}
	CHECK_EQ(nr_claimed(by_time), 3);
	by_time__delete(by_time);
}

TEST(threads_and_processes_are_kept_apart)
{
	struct sidecar_api_call calls[] = {call_of(1, 10, 20), call_of(2, 10, 20),
					   call_of(3, 10, 20)};
	const struct probe_hit other_thread = {.pid = PID, .tid = TID + 1, .time_ns = 11};
	const struct probe_hit other_process = {
		.pid = OTHER_PID, .tid = TID, .time_ns = 11};
	const struct probe_hit unknown = {.pid = 30, .tid = TID, .time_ns = 11};
	struct by_time *by_time;

	calls[1].tid = TID + 1;
	calls[2].log = 1;
	by_time = NEW(calls);
	by_time__tell(by_time, &other_thread);
	by_time__tell(by_time, &other_process);
	by_time__tell(by_time, &unknown);
	CHECK_EQ(id_at(by_time, 11), 0);
	CHECK_EQ(by_time__call(by_time, &other_thread)->correlation_id, 2);
	CHECK_EQ(by_time__call(by_time, &other_process)->correlation_id, 3);
	CHECK(!by_time__call(by_time, &unknown));
	by_time__delete(by_time);
}

TEST(calls_without_times_are_left_out)
{
	struct sidecar_api_call calls[] = {call_of(1, 0, 0), call_of(2, 10, 20)};
	struct by_time *by_time = NEW(calls);

	tell(by_time, 11);
	tell(by_time, UINT64_MAX);
	CHECK_EQ(id_at(by_time, 11), 2);
	CHECK_EQ(id_at(by_time, UINT64_MAX), 0);
	by_time__delete(by_time);
	by_time = new_by_time(NULL, 0);
	tell(by_time, 11);
	CHECK_EQ(id_at(by_time, 11), 0);
	by_time__delete(by_time);
	by_time__delete(NULL);
}

/* Against the rule itself, whatever is lost: no pair that is wrong, and none too few. */
TEST(random_losses_match_the_definition)
{
	enum { NR = 200 };

	srandom(1);
	for (int round = 0; round < 100; round++) {
		struct sidecar_api_call calls[NR];
		uint64_t hits[NR], now = 1000;
		bool has_call[NR], has_hit[NR];
		struct by_time *by_time;
		size_t nr = 0;

		for (int i = 0; i < NR; i++) {
			hits[i] = now += 1 + (uint64_t)random() % 10;
			has_call[i] = random() % 5;
			has_hit[i] = random() % 5;
			now += (uint64_t)random() % 10;
			if (has_call[i])
				calls[nr++] = call_of((uint64_t)i + 1, hits[i], now);
		}
		by_time = new_by_time(calls, nr);
		for (int i = NR; i-- > 0;)
			if (has_hit[i])
				tell(by_time, hits[i]);
		for (int i = 0; i < NR; i++) {
			uint64_t id = has_hit[i] ? id_at(by_time, hits[i]) : 0;

			if (has_hit[i] && has_call[i])
				CHECK_EQ(id, i + 1);
			else
				/* Two losses next to each other are told by nobody. */
				CHECK(!id || (has_hit[i] && !has_hit[id - 1]));
		}
		by_time__delete(by_time);
	}
}
