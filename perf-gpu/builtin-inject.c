// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu inject: perf.data + perf.data.gpu → a perf.data with GPU samples. */
#include "builtin.h"

#include <stdlib.h>

#include "sink/sink.h"
#include "source/options.h"
#include "source/source.h"
#include "util/format.h"
#include "util/log.h"
#include "util/usage.h"

enum {
	OPT_KEEP_CPU = SOURCE_OPTIONS_END,
	OPT_UNWIND,
};

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	{'o', "output", "file", "write to <file> (perf.gpu.data)"},
	SOURCE_USAGE_GPU,
	SOURCE_USAGE_NAMES,
	SOURCE_USAGE_KEEP_DRIVER_FRAMES,
	SOURCE_USAGE_GRAPH_STACKS,
	SOURCE_USAGE_KEEP_INTERPRETER_FRAMES,
	SOURCE_USAGE_SYMFS,
	{OPT_UNWIND, "unwind", NULL,
	 "unwind the stacks that record --call-graph dwarf has copied"},
	{OPT_KEEP_CPU, "keep-cpu", NULL, "keep the samples of other events in the input"},
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "inject",
	.synopsis = "[<options>]",
	.summary = "Put what the GPU did into a perf.data, for perf report and others to "
		   "read",
	.options = options,
};

/* What was written, and everything that is missing from it. */
static void print_summary(const struct source_stats *stats)
{
	struct format_buf count, time, percent;

	if (!stats->nr_kernels && stats->nr_hits) {
		pr_info("the stacks of %s launches were recorded, but no GPU records: "
			"there "
			"is nothing to weigh them by; perf report shows them in the "
			"input",
			format__count(stats->nr_hits, &count));
		return;
	}
	if (!stats->nr_kernels) {
		pr_info("no GPU kernels: none ran, or none was recorded");
		source_stats__print_losses(stats);
		return;
	}
	pr_info("%s GPU kernels, %s; %s of GPU time has a stack",
		format__count(stats->nr_kernels, &count),
		format__ms(stats->kernels_ns, &time),
		format__percent(stats->attributed_ns, stats->kernels_ns, &percent));
	if (stats->nr_kernels > stats->nr_attributed)
		pr_info("%s kernels without a stack, %s, are under [unattributed]",
			format__count(stats->nr_kernels - stats->nr_attributed, &count),
			format__ms(stats->kernels_ns - stats->attributed_ns, &time));
	source_stats__print_losses(stats);
}

int cmd_inject(int argc, const char **argv)
{
	struct source_options source = SOURCE_OPTIONS_DEFAULT;
	const char *output = "perf.gpu.data";
	struct source_stats stats;
	struct sink *sink = NULL;
	bool keep_cpu = false;
	int key, err;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'o':
			output = optarg;
			break;
		case OPT_KEEP_CPU:
			keep_cpu = true;
			break;
		case OPT_UNWIND:
			source.unwind = true;
			break;
		case USAGE_HELP:
			return 0;
		case USAGE_ERROR:
			return USAGE_STATUS;
		default:
			if (source_options__take(&source, &usage, key, optarg))
				return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__error(&usage, "unexpected argument %s", argv[optind]);

	if (source_options__reads(&source, output))
		return EXIT_FAILURE;
	err = sink_perfdata__new(output, keep_cpu, &sink);
	if (!err)
		err = source__run(&source, sink, &stats);
	if (!err)
		print_summary(&stats);
	if (sink)
		sink->ops->delete (sink);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
