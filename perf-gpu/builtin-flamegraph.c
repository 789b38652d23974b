// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu flamegraph: what the GPU did, as a flame graph. */
#include "builtin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/flame.h"
#include "flamegraph/page.h"
#include "flamegraph/svg.h"
#include "sink/out_file.h"
#include "sink/sink.h"
#include "source/options.h"
#include "source/source.h"
#include "util/log.h"
#include "util/usage.h"

enum {
	OPT_SVG = SOURCE_OPTIONS_END,
	OPT_DIFFERENTIAL,
};

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	{'o', "output", "file",
	 "write to <file> (flamegraph.html, or flamegraph.svg); - is standard output"},
	{OPT_SVG, "svg", NULL,
	 "draw a picture that needs no scripts, in place of a page"},
	{OPT_DIFFERENTIAL, "differential", "old",
	 "compare with <old>, a recording made before; its GPU records are in <old>.gpu"},
	SOURCE_USAGE_GPU,
	SOURCE_USAGE_EVENTS,
	SOURCE_USAGE_LABELS,
	SOURCE_USAGE_THREADS,
	SOURCE_USAGE_STACKS,
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "flamegraph",
	.synopsis = "[<options>]",
	.summary = "Draw what the GPU did as a flame graph",
	.options = options,
};

struct flamegraph_options {
	struct source_options source;
	const char *output;
	const char *old; /* perf.data to compare with, or NULL */
	bool is_svg;
};

/* The exit status of a wrong command line or of --help, or -1: go on */
static int parse(int argc, const char **argv, struct flamegraph_options *opts)
{
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'o':
			opts->output = optarg;
			break;
		case OPT_DIFFERENTIAL:
			opts->old = optarg;
			break;
		case OPT_SVG:
			opts->is_svg = true;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		case USAGE_ERROR:
			return USAGE_STATUS;
		default:
			if (source_options__take(&opts->source, &usage, key, optarg))
				return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__unexpected(&usage, argv[optind]);
	return -1;
}

static int read_recording(const struct source_options *source,
			  enum flame_recording recording, struct flame *flame)
{
	struct source_stats stats;
	struct sink *sink;
	int err;

	err = sink_flamegraph__new(flame, recording, source->weight, &sink);
	if (err)
		return err;
	err = source__run(source, sink, &stats);
	if (!err) {
		source_stats__print_losses(&stats);
		source_stats__release(&stats);
	}
	sink->ops->delete (sink);
	return err;
}

static int read_recordings(const struct flamegraph_options *opts, struct flame *flame)
{
	struct source_options old = opts->source;
	int err;

	old.perfdata_path = opts->old;
	old.sidecar_path = NULL;
	old.usual_output = NULL; /* it is what is new that is shown */
	err = read_recording(&opts->source, FLAME_NEW, flame);
	if (!err && opts->old)
		err = read_recording(&old, FLAME_OLD, flame);
	return err;
}

static int write_graph(const struct flamegraph_options *opts, const struct flame *flame)
{
	struct out_file *file;
	int err;

	err = out_file__open(opts->output, &file);
	if (err)
		return err;
	if (opts->is_svg)
		err = flame_svg__write(flame, opts->old, file);
	else
		flame_page__write(flame, opts->old, file);
	if (err)
		pr_err("no memory to write %s", opts->output);
	else
		err = out_file__finish(file);
	if (!err && strcmp(opts->output, "-") != 0)
		pr_info("%s written", opts->output);
	out_file__close(file);
	return err;
}

/* Before anything is read */
static int check_output(const struct flamegraph_options *opts)
{
	const char *why_not = opts->is_svg ? NULL : flame_page__why_not();
	struct source_options old = SOURCE_OPTIONS_DEFAULT;

	if (why_not) {
		pr_err("no page can be written: %s; draw a picture with --svg", why_not);
		return -ENOTSUP;
	}
	if (source_options__reads(&opts->source, opts->output))
		return -EINVAL;
	old.perfdata_path = opts->old;
	return opts->old && source_options__reads(&old, opts->output) ? -EINVAL : 0;
}

int cmd_flamegraph(int argc, const char **argv)
{
	struct flamegraph_options opts = {.source = SOURCE_OPTIONS_DEFAULT};
	struct flame *flame = NULL;
	int status, err;

	opts.source.unwind = true; /* there is nobody behind this to do it */
	opts.source.has_label_values = true; /* to tell GPUs apart */
	status = parse(argc, argv, &opts);
	if (status >= 0)
		return status;
	if (!opts.output) {
		opts.output = opts.is_svg ? "flamegraph.svg" : "flamegraph.html";
		opts.source.usual_output = opts.output;
	}
	if (check_output(&opts))
		return EXIT_FAILURE;

	err = flame__new(&flame);
	if (err)
		pr_err("no memory for the flame graph");
	if (!err)
		err = read_recordings(&opts, flame);
	if (!err)
		err = write_graph(&opts, flame);
	flame__delete(flame);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
