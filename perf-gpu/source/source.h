/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way from files to samples: reads perf.data and its sidecar, joins
 * them, and feeds a sink in time order.
 */
#ifndef PERF_GPU_SOURCE_SOURCE_H
#define PERF_GPU_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"
#include "source/node_stacks.h"
#include "symbol/demangle.h"

struct source_options {
	const char *perfdata_path;
	const char *sidecar_path; /* NULL: perfdata_path + ".gpu" */
	const char *symfs; /* where the recorded machine's files are; NULL: in / */
	enum demangle_style names; /* of kernels */
	bool keep_driver_frames; /* of CUPTI, the driver and the runtime too */
	enum graph_stacks graph_stacks;
	bool unwind; /* make callchains of copied stacks */
	bool keep_interpreter_frames; /* Python's own C functions between Python's */
};

/* What became of everything: printed by inject, added up by tests. */
struct source_stats {
	uint64_t nr_launches; /* launch samples read */
	/* of them, hits of probes on the API, and those that a call was found for */
	uint64_t nr_hits, nr_joined_hits;
	/* not an error: the GPU record is lost, or the graph was empty */
	uint64_t nr_launches_without_kernel;
	uint64_t nr_kernels, kernels_ns; /* all kernels of the sidecar */
	uint64_t nr_attributed, attributed_ns; /* those with a stack */
	uint64_t nr_truncated; /* launches whose stack goes on, but wasn't walked */
	uint64_t nr_unknown_time; /* kernels whose times CUPTI didn't know */
	uint64_t nr_lost_launches; /* ring and stack losses, as recorded */
	uint64_t nr_lost_kernels; /* GPU records lost, as recorded */
	uint64_t nr_broken_records; /* perf.data records that could not be read */
	uint64_t nr_stale_files; /* not the ones recorded: symbols weren't taken */
};

/**
 * source__run - feed @sink with everything the two files hold
 * @options: see above
 * @sink:    started, fed and finished; not deleted
 * @ret:     written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int source__run(const struct source_options *options, struct sink *sink,
		struct source_stats *ret);

#endif
