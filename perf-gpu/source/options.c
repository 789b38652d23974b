// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "symbol/symbol_files.h"
#include "util/format.h"
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

static bool is_same_file(const char *a, const char *b)
{
	struct stat a_stat, b_stat;

	return !stat(a, &a_stat) && !stat(b, &b_stat) && a_stat.st_dev == b_stat.st_dev &&
	       a_stat.st_ino == b_stat.st_ino;
}

bool source_options__reads(const struct source_options *options, const char *path)
{
	char beside[PATH_MAX];
	const char *sidecar = options->sidecar_path;

	if (!sidecar) {
		snprintf(beside, sizeof(beside), "%s.gpu", options->perfdata_path);
		sidecar = beside;
	}
	if (!is_same_file(path, options->perfdata_path) && !is_same_file(path, sidecar))
		return false;
	pr_err("%s is what is read: write to another file with -o", path);
	return true;
}

void source_stats__print_losses(const struct source_stats *stats)
{
	struct format_buf count;

	if (stats->nr_lost_launches)
		pr_info("%s launches were lost while recording: their kernels have no "
			"stack",
			format__count(stats->nr_lost_launches, &count));
	if (stats->nr_joined_hits)
		pr_info("%s launches were joined with their GPU records by time",
			format__count(stats->nr_joined_hits, &count));
	if (stats->nr_hits > stats->nr_joined_hits)
		pr_info("%s hits of probes are of no API call in the GPU records",
			format__count(stats->nr_hits - stats->nr_joined_hits, &count));
	if (stats->nr_truncated)
		pr_info("the stacks of %s launches end early, in [truncated]",
			format__count(stats->nr_truncated, &count));
	if (stats->nr_unknown_time)
		pr_info("%s kernels have no time, CUPTI didn't know it: they are left "
			"out",
			format__count(stats->nr_unknown_time, &count));
	if (stats->nr_lost_kernels)
		pr_info("%s GPU records were lost while recording: their time is missing",
			format__count(stats->nr_lost_kernels, &count));
	if (stats->nr_stale_files > SYMBOL_FILES_MAX_WARNINGS)
		pr_warning(
			"%s more files are not the ones that were recorded",
			format__count(stats->nr_stale_files - SYMBOL_FILES_MAX_WARNINGS,
				      &count));
	if (stats->nr_broken_records)
		pr_warning("%s records could not be read: the file is damaged",
			   format__count(stats->nr_broken_records, &count));
}
