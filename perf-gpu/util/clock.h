/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock that recordings are in. Stateless; any thread. */
#ifndef PERF_GPU_UTIL_CLOCK_H
#define PERF_GPU_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, in ns */
static inline uint64_t clock__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
