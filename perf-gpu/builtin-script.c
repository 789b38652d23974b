// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu script: the samples that inject makes, as perf script's text. */
#include "builtin.h"

#include <stdlib.h>

#include "sink/sink.h"
#include "source/options.h"
#include "source/source.h"
#include "util/log.h"
#include "util/usage.h"

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	SOURCE_USAGE_GPU,
	{'F', "fields", "list",
	 "print these fields: comm, pid, tid, cpu, time, period, event, ip, sym, symoff, "
	 "dso, srcline; "
	 "or +<field>,-<field> on top of the default"},
	SOURCE_USAGE_NAMES,
	SOURCE_USAGE_KEEP_DRIVER_FRAMES,
	SOURCE_USAGE_GRAPH_STACKS,
	SOURCE_USAGE_KEEP_INTERPRETER_FRAMES,
	SOURCE_USAGE_SYMFS,
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "script",
	.synopsis = "[<options>]",
	.summary = "Print a sample with its stack for every kernel, as perf script does",
	.options = options,
	.notes = " Flame graph: perf-gpu script | stackcollapse-perf.pl | flamegraph.pl "
		 "> gpu.svg\n",
};

int cmd_script(int argc, const char **argv)
{
	struct source_options source = SOURCE_OPTIONS_DEFAULT;
	unsigned int fields = SCRIPT_DEFAULT_FIELDS;
	struct source_stats stats;
	struct sink *sink = NULL;
	int key, err;

	source.unwind = true; /* there is nobody behind this to do it */
	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'F':
			if (script_field__parse(optarg, &fields))
				return USAGE_STATUS;
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

	err = sink_script__new(fields, &sink);
	if (!err)
		err = source__run(&source, sink, &stats);
	if (!err)
		source_stats__print_losses(&stats);
	if (sink)
		sink->ops->delete (sink);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
