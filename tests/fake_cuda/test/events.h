/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of records that aren't kernels' ask of them. */
#ifndef FAKE_CUDA_TEST_EVENTS_H
#define FAKE_CUDA_TEST_EVENTS_H

#include "profiler.h"

#define MB (1 << 20)

/* The nth record of a kind; NULL past the last */
__attribute__((unused)) static const union profiler_event *event(CUpti_ActivityKind kind,
								 size_t n)
{
	for (size_t i = 0; i < profiler.nr_events; i++)
		if (profiler.events[i].kind == kind && !n--)
			return &profiler.events[i];
	return NULL;
}

__attribute__((unused)) static size_t nr_of(CUpti_ActivityKind kind)
{
	size_t nr = 0;

	while (event(kind, nr))
		nr++;
	return nr;
}

__attribute__((unused)) static void record(CUpti_ActivityKind kind)
{
	CHECK_EQ(cuptiActivityEnable(kind), 0);
}

/* The correlation id of the last call that was told of */
__attribute__((unused)) static uint32_t last_id(void)
{
	CHECK(profiler.nr_calls && profiler.nr_calls <= PROFILER_MAX_CALLS);
	return profiler.calls[profiler.nr_calls - 1].correlation_id;
}

#endif
