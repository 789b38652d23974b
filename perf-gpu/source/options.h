/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all commands that read a recording have in common: their options, and
 * what they say about losses.
 */
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
	SOURCE_OPTIONS_END, /* a command's own keys count from here */
};

#define SOURCE_USAGE_INPUT                                      \
	{                                                       \
		'i', "input", "file", "read <file> (perf.data)" \
	}
#define SOURCE_USAGE_GPU                                                             \
	{                                                                            \
		'g', "gpu", "file",                                                  \
			"read the GPU records from <file> (the input's name + .gpu)" \
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

/*
 * Is @path one of the files that are read? Writing it would destroy the recording.
 * Printed if so.
 */
bool source_options__reads(const struct source_options *options, const char *path);

/* A line for each kind of record that was lost before it could be read. */
void source_stats__print_losses(const struct source_stats *stats);

#endif
