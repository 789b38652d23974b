/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many launches of each log have become samples, to be held against what the log
 * itself says. One thread.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_COUNTS_H
#define PERF_GPU_RECORD_LAUNCH_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Logs that are told apart; a process can claim any log id. Of those that come after
 * the last place is taken, it is not known how many launches they have.
 */
#define LAUNCH_COUNTS_MAX_LOGS (1u << 16)

/* All 0 is empty. */
struct launch_counts {
	struct launch_count *places; /* by hash of the log id; a power of two */
	size_t nr_places;
	size_t nr_logs;
	uint64_t nr_uncounted;
};

/* A launch more of a log. Without memory, it is an uncounted one. */
void launch_counts__add(struct launch_counts *counts, uint64_t log_id);

/* UINT64_MAX for a log of which it isn't known. */
uint64_t launch_counts__of(const struct launch_counts *counts, uint64_t log_id);

void launch_counts__release(struct launch_counts *counts);

#endif
