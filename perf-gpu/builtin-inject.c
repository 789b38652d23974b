// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu inject: perf.data + perf.data.gpu → a perf.data with GPU samples. */
#include "builtin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/recover.h"
#include "sink/sink.h"
#include "source/options.h"
#include "source/source.h"
#include "util/log.h"
#include "util/usage.h"

enum {
	OPT_KEEP_CPU = SOURCE_OPTIONS_END,
	OPT_UNWIND,
	OPT_AGGREGATE,
	OPT_RECOVER,
};

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	{'o', "output", "file", "write to <file> (perf.gpu.data)"},
	SOURCE_USAGE_GPU,
	SOURCE_USAGE_EVENTS,
	SOURCE_USAGE_LABELS,
	SOURCE_USAGE_THREADS,
	SOURCE_USAGE_STACKS,
	{OPT_UNWIND, "unwind", NULL,
	 "unwind the stacks that record --call-graph dwarf has copied"},
	{OPT_AGGREGATE, "aggregate", NULL,
	 "add up samples of equal stacks and kernels; weights tell how many they were"},
	{OPT_RECOVER, "recover", NULL,
	 "first make a recording of what a recorder has left that did not finish"},
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

/* Another machine's perf report needs more than the output. */
static void tell_symbol_folder(const struct source_options *source, const char *output)
{
	if (source->symbol_folder && source_options__read_archive(source))
		pr_info("the archive's files with symbols are in %s: perf --buildid-dir "
			"%s "
			"report -i %s",
			source->symbol_folder, source->symbol_folder, output);
}

static int inject(struct source_options *source,
		  const struct perfdata_options *sink_options, const char *output)
{
	struct source_stats stats;
	struct sink *sink = NULL;
	char *symbol_folder;
	int err;

	if (source_options__reads(source, output))
		return -EINVAL;
	if (asprintf(&symbol_folder, "%s.dso/symbols", output) < 0) {
		pr_err("no memory to write %s", output);
		return -ENOMEM;
	}
	source->symbol_folder = symbol_folder;
	err = sink_perfdata__new(output, sink_options, &sink);
	if (!err)
		err = source__run(source, sink, &stats);
	if (!err) {
		source_stats__print_summary(&stats);
		source_stats__release(&stats);
		tell_symbol_folder(source, output);
	}
	if (sink)
		sink->ops->delete (sink);
	free(symbol_folder);
	return err;
}

int cmd_inject(int argc, const char **argv)
{
	struct source_options source = SOURCE_OPTIONS_DEFAULT;
	const char *output = NULL;
	struct perfdata_options sink_options = {.keep_other = false};
	bool is_recovering = false;
	char recovered[PATH_MAX];
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'o':
			if (!strcmp(optarg, "-"))
				return usage__error(&usage,
						    "-o - is not supported: two files "
						    "are written, not a stream");
			output = optarg;
			break;
		case OPT_KEEP_CPU:
			sink_options.keep_other = true;
			break;
		case OPT_AGGREGATE:
			sink_options.is_aggregated = true;
			source.unwind = true; /* else no two stacks are equal */
			break;
		case OPT_RECOVER:
			is_recovering = true;
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
		return usage__unexpected(&usage, argv[optind]);

	if (!output) {
		output = "perf.gpu.data";
		/* Who keeps other samples has them; who recovers has a recording. */
		if (!sink_options.keep_other && !is_recovering)
			source.usual_output = output;
	}
	if (is_recovering) {
		if (recover__run(source.perfdata_path, recovered))
			return EXIT_FAILURE;
		source.perfdata_path = recovered;
	}
	return inject(&source, &sink_options, output) ? EXIT_FAILURE : EXIT_SUCCESS;
}
