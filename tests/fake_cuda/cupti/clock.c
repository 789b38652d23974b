// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clock of the records: CLOCK_REALTIME, or one that the client gives. The distance
 * to the timeline's CLOCK_MONOTONIC is measured once, so that a duration is never
 * changed by it; a clock nearer than CLOSE_NS is taken to be the same.
 */
#include "cupti_state.h"

#include <time.h>

#define CLOSE_NS   20000
#define NR_SAMPLES 8

static _Atomic(CUpti_TimestampCallbackFunc) client_clock;
static atomic_int_fast64_t distance_ns;
static atomic_bool has_distance;

static uint64_t read_clock(clockid_t id)
{
	struct timespec time;

	clock_gettime(id, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static uint64_t record_clock_ns(void)
{
	CUpti_TimestampCallbackFunc clock = atomic_load(&client_clock);

	return clock ? clock() : read_clock(CLOCK_REALTIME);
}

/* Of several samples, the one that was taken in the shortest time */
static int64_t measure(void)
{
	uint64_t best = UINT64_MAX;
	int64_t distance = 0;

	for (int i = 0; i < NR_SAMPLES; i++) {
		uint64_t before = monotonic_ns();
		uint64_t theirs = record_clock_ns();
		uint64_t took = monotonic_ns() - before;

		if (took < best) {
			best = took;
			distance = (int64_t)(theirs - (before + took / 2));
		}
	}
	return distance > -CLOSE_NS && distance < CLOSE_NS ? 0 : distance;
}

uint64_t to_record_clock(uint64_t time_ns)
{
	/* Two threads at once may both measure: either result will do. */
	if (!atomic_load_explicit(&has_distance, memory_order_acquire)) {
		atomic_store(&distance_ns, measure());
		atomic_store_explicit(&has_distance, true, memory_order_release);
	}
	return time_ns +
	       (uint64_t)atomic_load_explicit(&distance_ns, memory_order_relaxed);
}

static CUptiResult register_clock(CUpti_TimestampCallbackFunc funcTimestamp)
{
	CUptiResult result = scripted_error("cuptiActivityRegisterTimestampCallback");

	if (result)
		return result;
	if (!funcTimestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	/* What has begun keeps its clock, as with the real one. */
	if (!atomic_load(&has_distance))
		atomic_store(&client_clock, funcTimestamp);
	return CUPTI_SUCCESS;
}
VERSIONED(cuptiActivityRegisterTimestampCallback, register_clock)

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = record_clock_ns();
	return CUPTI_SUCCESS;
}
