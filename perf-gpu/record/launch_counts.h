/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many launches of each log have become samples, to be held against what the log
 * itself says, and up to which. One thread.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_COUNTS_H
#define PERF_GPU_RECORD_LAUNCH_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/launch_set.h"

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
	struct launch_set left_out; /* those that have later ones among the samples */
};

/* A launch more of a log, with its id there. Without memory, it is an uncounted one. */
void launch_counts__add(struct launch_counts *counts, uint64_t log_id, uint64_t key);

/* One that is not to become a sample, nor any that comes later. */
void launch_counts__leave_out(struct launch_counts *counts, uint64_t log_id,
			      uint64_t key);

/* UINT64_MAX for a log of which it isn't known. */
uint64_t launch_counts__of(const struct launch_counts *counts, uint64_t log_id);

/* Has anything of the log been added, or left out? */
bool launch_counts__knows(const struct launch_counts *counts, uint64_t log_id);

/* Was the launch, of a log that is known, left out, or was it behind all that is there? */
bool launch_counts__is_left_out(const struct launch_counts *counts, uint64_t log_id,
				uint64_t key);

void launch_counts__release(struct launch_counts *counts);

#endif
