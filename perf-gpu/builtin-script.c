// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu script: the samples that inject makes, as perf script's text. */
#include "builtin.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sink/sink.h"
#include "source/options.h"
#include "source/source.h"
#include "util/usage.h"

enum {
	OPT_FOLDED = SOURCE_OPTIONS_END,
	OPT_UNIT,
};

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	SOURCE_USAGE_GPU,
	SOURCE_USAGE_EVENTS,
	{'F', "fields", "list",
	 "print these fields: comm, pid, tid, cpu, time, period, event, ip, sym, symoff, "
	 "dso, srcline, and device, stream, context, graph, nvtx, rank, bytes; "
	 "or +<field>,-<field> on top of the default"},
	{OPT_FOLDED, "folded", NULL,
	 "print a line for each distinct stack, <frame>;<frame>;<leaf> and the sum of "
	 "periods, of gpu-kernel or what -e says"},
	{OPT_UNIT, "unit", "unit",
	 "with --folded, print times in ns (the default), us or ms"},
	SOURCE_USAGE_LABELS,
	SOURCE_USAGE_THREADS,
	SOURCE_USAGE_STACKS,
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "script",
	.synopsis = "[<options>]",
	.summary = "Print what the GPU did, with its stacks, as perf script does",
	.options = options,
	.notes = " Flame graph: perf-gpu script --folded | flamegraph.pl > gpu.svg\n",
};

struct script_options {
	struct source_options source;
	unsigned int fields;
	bool has_fields; /* -F was given */
	bool is_folded;
	enum time_unit unit;
};

static int take_unit(struct script_options *opts, const char *arg)
{
	static const char *const names[] = {
		[TIME_UNIT_NS] = "ns", [TIME_UNIT_US] = "us", [TIME_UNIT_MS] = "ms"};

	for (enum time_unit unit = TIME_UNIT_NS; unit <= TIME_UNIT_MS; unit++) {
		if (!strcmp(arg, names[unit])) {
			opts->unit = unit;
			return 0;
		}
	}
	usage__error(&usage, "--unit takes ns, us or ms, not %s", arg);
	return -EINVAL;
}

/* Return: 0, USAGE_HELP, or, printed, USAGE_ERROR or -ENOMEM. */
static int parse(int argc, const char **argv, struct script_options *opts)
{
	int key, err;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'F':
			err = script_field__parse(optarg, &opts->fields);
			if (err)
				return err == -ENOMEM ? err : USAGE_ERROR;
			opts->has_fields = true;
			break;
		case OPT_FOLDED:
			opts->is_folded = true;
			break;
		case OPT_UNIT:
			if (take_unit(opts, optarg))
				return USAGE_ERROR;
			break;
		case USAGE_HELP:
		case USAGE_ERROR:
			return key;
		default:
			if (source_options__take(&opts->source, &usage, key, optarg))
				return USAGE_ERROR;
		}
	}
	if (optind < argc)
		usage__unexpected(&usage, argv[optind]);
	else if (opts->is_folded && opts->has_fields)
		usage__error(&usage, "-F is of samples, and --folded adds them up: "
				     "choose one of them");
	else if (opts->unit && !opts->is_folded)
		usage__error(&usage, "--unit needs --folded");
	else
		return 0;
	return USAGE_ERROR;
}

static int make_sink(const struct script_options *opts, struct sink **ret)
{
	const struct folded_options folded = {
		.unit = opts->unit,
		.weight = opts->source.weight,
		.has_all_events = opts->source.events,
	};

	return opts->is_folded ? sink_folded__new(&folded, ret)
			       : sink_script__new(opts->fields, ret);
}

int cmd_script(int argc, const char **argv)
{
	struct script_options opts = {
		.source = SOURCE_OPTIONS_DEFAULT,
		.fields = SCRIPT_DEFAULT_FIELDS,
	};
	struct source_stats stats;
	struct sink *sink = NULL;
	int err = parse(argc, argv, &opts);

	if (err)
		return err == USAGE_HELP    ? EXIT_SUCCESS
		       : err == USAGE_ERROR ? USAGE_STATUS
					    : EXIT_FAILURE;
	opts.source.unwind = true; /* there is nobody behind this to do it */
	opts.source.has_label_values =
		!opts.is_folded && opts.fields & SCRIPT_LABEL_FIELDS;
	err = make_sink(&opts, &sink);
	if (!err)
		err = source__run(&opts.source, sink, &stats);
	if (!err) {
		source_stats__print_losses(&stats);
		source_stats__release(&stats);
	}
	if (sink)
		sink->ops->delete (sink);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
