// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu archive: a recording and the files that have its symbols → one file. */
#include "builtin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/sink.h"
#include "source/options.h"
#include "source/recording.h"
#include "source/source.h"
#include "util/log.h"
#include "util/usage.h"

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	{'o', "output", "file",
	 "write to <file> (the input's name + .tar.zst); - is standard output"},
	SOURCE_USAGE_GPU,
	SOURCE_USAGE_SYMFS,
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "archive",
	.synopsis = "[<options>]",
	.summary = "Pack a recording with the files that have its symbols, to read it on "
		   "another machine",
	.options = options,
	.notes = " All commands read it: perf-gpu report -i perf.data.tar.zst\n",
};

static int pack(const struct source_options *source, const char *output)
{
	struct source_stats stats;
	struct sink *sink;
	int err;

	if (source_options__reads(source, output))
		return -EINVAL;
	err = sink_archive__new(output, &sink);
	if (err)
		return err;
	err = source__run(source, sink, &stats);
	if (!err)
		source_stats__release(&stats);
	sink->ops->delete (sink);
	return err;
}

/* Every frame, of every event: files that any way to look at it needs are packed. */
static void take_all_frames(struct source_options *source)
{
	source->unwind = true;
	source->keep_driver_frames = true;
	source->keep_interpreter_frames = true;
	source->graph_stacks = GRAPH_STACKS_BOTH;
}

int cmd_archive(int argc, const char **argv)
{
	struct source_options source = SOURCE_OPTIONS_DEFAULT;
	const char *output = NULL;
	char *beside = NULL;
	int key, err;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'o':
			output = optarg;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		case USAGE_ERROR:
			return USAGE_STATUS;
		default:
			if (source_options__take(&source, &usage, key, optarg))
				return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__error(&usage, "unexpected argument %s", argv[optind]);
	take_all_frames(&source);
	if (!output &&
	    asprintf(&beside, "%s.tar.zst",
		     strcmp(source.perfdata_path, RECORDING_STDIN) ? source.perfdata_path
								   : "perf.data") < 0) {
		pr_err("no memory to pack %s", source.perfdata_path);
		return EXIT_FAILURE;
	}
	err = pack(&source, output ? output : beside);
	free(beside);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
