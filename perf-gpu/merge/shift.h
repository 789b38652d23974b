/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of one recording's times and pids among the others'. */
#ifndef PERF_GPU_MERGE_SHIFT_H
#define PERF_GPU_MERGE_SHIFT_H

#include <stdint.h>

struct shift {
	/* Later: the clock that all are put on is that of the machine that is up longest. */
	uint64_t time_ns;
	uint32_t pid; /* higher; 0: they stay */
};

/* 0 is "unknown", and stays. */
static inline uint64_t shift__time(const struct shift *shift, uint64_t time_ns)
{
	uint64_t shifted;

	if (!time_ns)
		return 0;
	return __builtin_add_overflow(time_ns, shift->time_ns, &shifted) ? UINT64_MAX
									 : shifted;
}

/* 0 and -1 are nobody's: the idle task's and the kernel's. */
static inline uint32_t shift__pid(const struct shift *shift, uint32_t pid)
{
	return pid && pid <= INT32_MAX ? pid + shift->pid : pid;
}

#endif
