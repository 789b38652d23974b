// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "source/recording.h"
#include "util/file.h"
#include "util/gpu_events.h"
#include "util/log.h"

static int take_names(struct source_options *options, const struct usage *usage,
		      const char *arg)
{
	if (!strcmp(arg, "full")) {
		options->names = DEMANGLE_FULL;
	} else if (!strcmp(arg, "short")) {
		options->names = DEMANGLE_SHORT;
	} else if (!strcmp(arg, "mangled")) {
		options->names = DEMANGLE_NONE;
	} else {
		usage__error(usage, "--names takes full, short or mangled, not %s", arg);
		return -EINVAL;
	}
	return 0;
}

static int take_graph_stacks(struct source_options *options, const struct usage *usage,
			     const char *arg)
{
	if (!strcmp(arg, "both")) {
		options->graph_stacks = GRAPH_STACKS_BOTH;
	} else if (!strcmp(arg, "launch")) {
		options->graph_stacks = GRAPH_STACKS_LAUNCH;
	} else if (!strcmp(arg, "capture")) {
		options->graph_stacks = GRAPH_STACKS_CAPTURE;
	} else {
		usage__error(usage,
			     "--graph-stacks takes both, launch or capture, not %s", arg);
		return -EINVAL;
	}
	return 0;
}

/* What there is to choose from is known later: now only the words are looked at. */
static int take_events(struct source_options *options, const struct usage *usage,
		       const char *arg)
{
	uint32_t all = GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS) - 1;

	if (options->events) {
		usage__error(usage, "-e is there twice: name the events in one list, "
				    "with commas between");
		return -EINVAL;
	}
	options->events = arg;
	return gpu_events__parse(arg, &all);
}

static int take_weight(struct source_options *options, const struct usage *usage,
		       const char *arg)
{
	if (!strcmp(arg, "ns")) {
		options->weight = EVENT_WEIGHT_NS;
	} else if (!strcmp(arg, "bytes")) {
		options->weight = EVENT_WEIGHT_BYTES;
	} else {
		usage__error(usage, "--weight takes ns or bytes, not %s", arg);
		return -EINVAL;
	}
	return 0;
}

static int take_label_end(struct source_options *options, const struct usage *usage,
			  const char *arg)
{
	options->labels.is_at_root = !strcmp(arg, "root");
	if (options->labels.is_at_root || !strcmp(arg, "leaf"))
		return 0;
	usage__error(usage, "--label-at takes leaf or root, not %s", arg);
	return -EINVAL;
}

static int take_threads(struct source_options *options, const struct usage *usage,
			const char *arg)
{
	options->has_stream_threads = !strcmp(arg, "stream");
	if (options->has_stream_threads || !strcmp(arg, "launch"))
		return 0;
	usage__error(usage, "--threads takes launch or stream, not %s", arg);
	return -EINVAL;
}

int source_options__take(struct source_options *options, const struct usage *usage,
			 int key, const char *arg)
{
	switch (key) {
	case 'i':
		options->perfdata_path = arg;
		return 0;
	case 'g':
		options->sidecar_path = arg;
		return 0;
	case 'e':
		return take_events(options, usage, arg);
	case OPT_WEIGHT:
		return take_weight(options, usage, arg);
	case OPT_LEAKS:
		options->are_leaks = true;
		return 0;
	case OPT_LABEL:
		return label_list__parse(arg, &options->labels);
	case OPT_LABEL_AT:
		return take_label_end(options, usage, arg);
	case OPT_THREADS:
		return take_threads(options, usage, arg);
	case OPT_NAMES:
		return take_names(options, usage, arg);
	case OPT_KEEP_DRIVER_FRAMES:
		options->keep_driver_frames = true;
		return 0;
	case OPT_GRAPH_STACKS:
		return take_graph_stacks(options, usage, arg);
	case OPT_KEEP_INTERPRETER_FRAMES:
		options->keep_interpreter_frames = true;
		return 0;
	case OPT_SYMFS:
		options->symfs = arg;
		return 0;
	case 'q':
		log_verbosity = -1;
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	}
	return -EINVAL;
}

bool source_options__read_archive(const struct source_options *options)
{
	return archive_file__is_one(options->perfdata_path);
}

bool source_options__reads(const struct source_options *options, const char *path)
{
	char beside[PATH_MAX];
	const char *sidecar = options->sidecar_path;

	if (!sidecar) {
		snprintf(beside, sizeof(beside), "%s.gpu",
			 strcmp(options->perfdata_path, RECORDING_STDIN) == 0
				 ? "perf.data"
				 : options->perfdata_path);
		sidecar = beside;
	}
	if (!file__is_same(path, options->perfdata_path) && !file__is_same(path, sidecar))
		return false;
	pr_err("%s is what is read: write to another file with -o", path);
	return true;
}
