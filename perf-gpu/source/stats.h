/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read, written and lost, for those who print it. One thread. */
#ifndef PERF_GPU_SOURCE_STATS_H
#define PERF_GPU_SOURCE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "join/occurrences.h"
#include "sidecar/sidecar.h"
#include "util/account.h"

/* What became of an event */
struct source_event_stats {
	struct event_total total; /* all of it, in the sidecar */
	uint64_t nr_attributed, attributed; /* with a stack; and the sum of periods */
	uint64_t nr_written, written; /* samples, and the sum of their periods */
};

/* How a GPU spent its time, if gpu-idle is among the events */
struct source_gpu_stats {
	uint32_t number; /* that it is shown by: devices__shown_number() */
	char name[64]; /* "" if not known */
	uint64_t busy_ns, idle_ns, nr_gaps; /* between its first and its last work */
	/*
	 * From the first log of a process that used it to its first work, and from its
	 * last to the last thing that was recorded
	 */
	uint64_t before_ns, after_ns;
};

/* What became of everything: printed by inject, added up by tests. */
struct source_stats {
	uint32_t events; /* GPU_LOG_EVENT_BIT()s: which were chosen */
	enum event_weight weight;
	bool are_leaks; /* allocations are those that were never freed */
	struct source_event_stats of[GPU_LOG_NR_EVENTS];
	struct source_gpu_stats *gpus; /* those that did anything */
	size_t nr_gpus;
	uint64_t nr_unknown_frees; /* of memory that was allocated before recording */
	uint64_t nr_faults[GPU_LOG_FAULT_DTOD + 1]; /* of those that are only counted */
	uint64_t nr_without_call; /* kernels that aren't in gpu-queue */
	uint64_t nr_launches; /* launch samples read */
	/* of them, hits of probes on the API, and those that a call was found for */
	uint64_t nr_hits, nr_joined_hits;
	uint64_t nr_truncated; /* launches whose stack goes on, but wasn't walked */
	uint64_t nr_unknown_threads; /* samples: labels__nr_unknown_threads() */
	uint64_t nr_lost_launches; /* ring and stack losses, as recorded */
	uint64_t nr_lost_records; /* GPU records lost, as recorded */
	/* of before what record --overwrite has kept, and not here */
	uint64_t nr_cut_launches, nr_cut_records;
	uint64_t nr_broken_records; /* perf.data records that could not be read */
	uint64_t nr_stale_files; /* not the ones recorded: symbols weren't taken */
	uint64_t stopped_after_ns; /* record --max-size stopped it; 0: not */
	uint64_t nr_bytes_cut; /* of logs, left out for it */
	uint64_t
		nr_unended; /* processes that didn't end in order, as record tells them */
	uint64_t nr_lost_sideband; /* records of mappings and processes, as recorded */
	struct account account; /* of all that was recorded, whichever events are shown */
};

/**
 * source_stats__take - what is known of the whole once all is fed
 * @stats:  its other fields are left alone
 * @end_ns: time of the last thing that was recorded
 *
 * Return: 0 or -ENOMEM.
 */
int source_stats__take(struct source_stats *stats, const struct sidecar *sidecar,
		       const struct occurrences *occurrences, uint64_t end_ns);
void source_stats__release(struct source_stats *stats);

/* What was written, and everything that is missing from it. */
void source_stats__print_summary(const struct source_stats *stats);

/* A line for each kind of record that was lost before it could be read. */
void source_stats__print_losses(const struct source_stats *stats);

#endif
