// SPDX-License-Identifier: GPL-2.0-or-later
#include "cupti_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* Of so many measurements the quickest counts: the others were interrupted. */
#define NR_MEASUREMENTS 4

static const struct cupti_table *cupti;
static bool is_other; /* CUPTI has a clock of its own */
static atomic_int_fast64_t distance_ns; /* to be added to its times */

uint64_t cupti_clock__now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t CUPTIAPI on_timestamp_requested(void)
{
	return cupti_clock__now();
}

CUptiResult cupti_clock__begin(const struct cupti_table *table, const char **ret_what)
{
	uint64_t time_ns;

	cupti = table;
	is_other = !cupti->cuptiActivityRegisterTimestampCallback;
	if (!is_other) {
		*ret_what = "cuptiActivityRegisterTimestampCallback";
		return cupti->cuptiActivityRegisterTimestampCallback(
			on_timestamp_requested);
	}
	*ret_what = "cuptiGetTimestamp";
	if (!cupti->cuptiGetTimestamp)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	cupti_clock__measure();
	return cupti->cuptiGetTimestamp(&time_ns);
}

void cupti_clock__measure(void)
{
	uint64_t shortest = UINT64_MAX;
	int64_t distance = 0;

	if (!is_other)
		return;
	for (int i = 0; i < NR_MEASUREMENTS; i++) {
		uint64_t before = cupti_clock__now(), time_ns, after;

		if (cupti->cuptiGetTimestamp(&time_ns))
			continue;
		after = cupti_clock__now();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		distance = (int64_t)(before + shortest / 2 - time_ns);
	}
	if (shortest != UINT64_MAX)
		atomic_store_explicit(&distance_ns, distance, memory_order_relaxed);
}

uint64_t cupti_clock__convert(uint64_t time_ns)
{
	if (!is_other || !time_ns)
		return time_ns;
	return time_ns +
	       (uint64_t)atomic_load_explicit(&distance_ns, memory_order_relaxed);
}
