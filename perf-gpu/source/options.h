/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that all commands that read a recording have in common. */
#ifndef PERF_GPU_SOURCE_OPTIONS_H
#define PERF_GPU_SOURCE_OPTIONS_H

#include "source/source.h"
#include "util/usage.h"

enum {
	OPT_NAMES = USAGE_LONG_ONLY,
	OPT_KEEP_DRIVER_FRAMES,
	OPT_KEEP_INTERPRETER_FRAMES,
	OPT_SYMFS,
	OPT_GRAPH_STACKS,
	OPT_WEIGHT,
	OPT_LEAKS,
	OPT_LABEL,
	OPT_LABEL_AT,
	OPT_THREADS,
	SOURCE_OPTIONS_END, /* a command's own keys count from here */
};

#define SOURCE_USAGE_INPUT                                                        \
	{                                                                         \
		'i', "input", "file",                                             \
			"read <file> (perf.data), a recording or an archive; -: " \
			"standard input"                                          \
	}
/* For who keeps what is made of the file */
#define SOURCE_USAGE_INPUT_FILE                                              \
	{                                                                    \
		'i', "input", "file",                                        \
			"read <file> (perf.data), a recording or an archive" \
	}
#define SOURCE_USAGE_GPU                                                             \
	{                                                                            \
		'g', "gpu", "file",                                                  \
			"read the GPU records from <file> (the input's name + .gpu)" \
	}
#define SOURCE_USAGE_EVENTS                                                              \
	{'e', "event", "list",                                                           \
	 "show these events, of those that were recorded (all of them); or "             \
	 "+<event>,-<event> on top of that"},                                            \
		{OPT_WEIGHT, "weight", "unit",                                           \
		 "what gpu-memcpy and gpu-memset (ns by default) and gpu-fault (bytes) " \
		 "are weighed by: ns or bytes"},                                         \
	{                                                                                \
		OPT_LEAKS, "leaks", NULL, "of gpu-alloc, show only what was never freed" \
	}
#define SOURCE_USAGE_NAMES                                                               \
	{                                                                                \
		OPT_NAMES, "names", "style",                                             \
			"kernels' names: full (with template arguments and parameters, " \
			"the default), "                                                 \
			"short or mangled"                                               \
	}
#define SOURCE_USAGE_KEEP_DRIVER_FRAMES                                        \
	{                                                                      \
		OPT_KEEP_DRIVER_FRAMES, "keep-driver-frames", NULL,            \
			"keep the frames of CUPTI, the driver and the runtime" \
	}
#define SOURCE_USAGE_LABELS                                                             \
	{OPT_LABEL, "label", "list",                                                    \
	 "put these into stacks as frames: device, stream, context, graph, nvtx (open " \
	 "ranges), rank"},                                                              \
	{                                                                               \
		OPT_LABEL_AT, "label-at", "end",                                        \
			"where in stacks labels are: leaf (just above it, the "         \
			"default), root"                                                \
	}
#define SOURCE_USAGE_THREADS                                                          \
	{                                                                             \
		OPT_THREADS, "threads", "which",                                      \
			"show what ran on a GPU as done by: launch (the thread that " \
			"launched it, when it did; the default), stream (a thread "   \
			"for each stream, when it ran)"                               \
	}
#define SOURCE_USAGE_GRAPH_STACKS                                                  \
	{                                                                          \
		OPT_GRAPH_STACKS, "graph-stacks", "which",                         \
			"of kernels of CUDA graphs: launch (where the graph was "  \
			"launched), capture (where its node was made), both (the " \
			"default)"                                                 \
	}
#define SOURCE_USAGE_KEEP_INTERPRETER_FRAMES                                             \
	{                                                                                \
		OPT_KEEP_INTERPRETER_FRAMES, "keep-interpreter-frames", NULL,            \
			"keep the frames of CPython itself between the Python functions" \
	}
#define SOURCE_USAGE_SYMFS                                                    \
	{                                                                     \
		OPT_SYMFS, "symfs", "directory",                              \
			"look for files with symbols relative to <directory>" \
	}
/* What stacks are like, in the order in which --help has it */
#define SOURCE_USAGE_STACKS                                                             \
	SOURCE_USAGE_NAMES, SOURCE_USAGE_KEEP_DRIVER_FRAMES, SOURCE_USAGE_GRAPH_STACKS, \
		SOURCE_USAGE_KEEP_INTERPRETER_FRAMES, SOURCE_USAGE_SYMFS
#define SOURCE_USAGE_VERBOSITY                     \
	{'q', "quiet", NULL, "print errors only"}, \
	{                                          \
		'v', "verbose", NULL, "say more"   \
	}

#define SOURCE_OPTIONS_DEFAULT                                       \
	{                                                            \
		.perfdata_path = "perf.data", .names = DEMANGLE_FULL \
	}

/**
 * source_options__take - one of the options above
 * @usage: of the command, whose help is recommended
 * @key, @arg: of usage__next(); @arg is kept by reference
 *
 * Return: 0, or -EINVAL, printed, for an argument that the option doesn't take.
 */
int source_options__take(struct source_options *options, const struct usage *usage,
			 int key, const char *arg);

/* Is it an archive that is read? */
bool source_options__read_archive(const struct source_options *options);

/*
 * Is @path one of the files that are read? Writing it would destroy the recording.
 * Printed if so.
 */
bool source_options__reads(const struct source_options *options, const char *path);

#endif
