/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way from files to samples: reads perf.data and its sidecar, joins
 * them, and feeds a sink in time order.
 */
#ifndef PERF_GPU_SOURCE_SOURCE_H
#define PERF_GPU_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/occurrences.h"
#include "sink/sink.h"
#include "source/label_list.h"
#include "source/node_stacks.h"
#include "source/stats.h"
#include "symbol/demangle.h"

struct source_options {
	const char *perfdata_path;
	const char *sidecar_path; /* NULL: perfdata_path + ".gpu" */
	const char *symfs; /* where the recorded machine's files are; NULL: in / */
	/*
	 * Where the files with symbols of an archive are put at the end, if it is one
	 * (source/symbol_folder.h); NULL: nowhere
	 */
	const char *symbol_folder;
	enum demangle_style names; /* of kernels */
	bool keep_driver_frames; /* of CUPTI, the driver and the runtime too */
	enum graph_stacks graph_stacks;
	bool unwind; /* make callchains of copied stacks */
	bool keep_interpreter_frames; /* Python's own C functions between Python's */
	const char *events; /* -e; NULL: all that were recorded */
	enum event_weight weight; /* of events that have a duration and bytes */
	struct label_list labels; /* that become frames */
	bool has_label_values; /* samples have their labels */
	bool has_stream_threads; /* --threads=stream: each stream is a thread */
	bool are_leaks; /* of allocations, only those that were never freed */
	/*
	 * The output's path, if it is one of the usual name: not written without a sample,
	 * since something useful may be there. NULL: written in any case
	 */
	const char *usual_output;
};

/**
 * source__run - feed @sink with everything the two files hold
 * @options: see above
 * @sink:    started, fed and finished; not deleted
 * @ret:     released by source_stats__release(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int source__run(const struct source_options *options, struct sink *sink,
		struct source_stats *ret);

#endif
