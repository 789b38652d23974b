// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu export: a recording in the formats of other viewers. */
#include "builtin.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sink/export.h"
#include "source/options.h"
#include "source/source.h"
#include "util/log.h"
#include "util/usage.h"

enum {
	OPT_CHROME = SOURCE_OPTIONS_END,
	OPT_PERFETTO,
	OPT_PPROF,
	OPT_SPEEDSCOPE,
	OPT_FIREFOX,
	OPT_SQLITE,
};

/* What isn't built in has NULL for a sink, and the library that it needs. */
#ifdef HAVE_PROTOBUF_C
#define WITH_PROTOBUF_C(sink) (sink)
#else
#define WITH_PROTOBUF_C(sink) NULL
#endif

#ifdef HAVE_SQLITE3
#define WITH_SQLITE3(sink) (sink)
#else
#define WITH_SQLITE3(sink) NULL
#endif

/* A format: its option, the file that it writes if none is named, and who writes it */
static const struct format {
	int key;
	const char *name, *path;
	int (*make)(const struct export_options *options, struct sink **ret);
	const char *library; /* that it needs; NULL: none */
	bool has_labels; /* samples are to have theirs */
} formats[] = {
	{OPT_CHROME, "--chrome", "perf.gpu.trace.json", sink_chrome__new, NULL, false},
	{OPT_PERFETTO, "--perfetto", "perf.gpu.pftrace",
	 WITH_PROTOBUF_C(sink_perfetto__new), "protobuf-c", false},
	{OPT_PPROF, "--pprof", "perf.gpu.pb.gz", WITH_PROTOBUF_C(sink_pprof__new),
	 "protobuf-c", true},
	{OPT_SPEEDSCOPE, "--speedscope", "perf.gpu.speedscope.json", sink_speedscope__new,
	 NULL, false},
	{OPT_FIREFOX, "--firefox", "perf.gpu.firefox.json", sink_firefox__new, NULL,
	 false},
	{OPT_SQLITE, "--sqlite", "perf.gpu.sqlite", WITH_SQLITE3(sink_nsys_sqlite__new),
	 "sqlite3", false},
};

#define NR_FORMATS (sizeof(formats) / sizeof(*formats))

static const struct usage_option options[] = {
	{OPT_CHROME, "chrome", NULL,
	 "a timeline for chrome://tracing and ui.perfetto.dev (perf.gpu.trace.json)"},
	{OPT_PERFETTO, "perfetto", NULL,
	 "a timeline in the own format of ui.perfetto.dev, with stacks "
	 "(perf.gpu.pftrace)"},
	{OPT_PPROF, "pprof", NULL,
	 "a profile for go tool pprof, Pyroscope, Parca (perf.gpu.pb.gz)"},
	{OPT_SPEEDSCOPE, "speedscope", NULL,
	 "a profile for speedscope (perf.gpu.speedscope.json)"},
	{OPT_FIREFOX, "firefox", NULL,
	 "a timeline for the Firefox Profiler, profiler.firefox.com "
	 "(perf.gpu.firefox.json)"},
	{OPT_SQLITE, "sqlite", NULL,
	 "a SQLite database with the tables of nsys export (perf.gpu.sqlite)"},
	SOURCE_USAGE_INPUT,
	{'o', "output", "file", "write to <file>; -: to standard output"},
	SOURCE_USAGE_GPU,
	SOURCE_USAGE_EVENTS,
	SOURCE_USAGE_LABELS,
	SOURCE_USAGE_STACKS,
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "export",
	.synopsis = "--<format> [<options>]",
	.summary = "Write what the GPU did, with its stacks, for other viewers: into "
		   "<file>, or else into the one in brackets below",
	.options = options,
};

struct export
{
	struct source_options source;
	const struct format *format;
	const char *output;
};

static const struct format *find_format(int key)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (formats[i].key == key)
			return &formats[i];
	return NULL;
}

static int take(struct export *export, int key)
{
	const struct format *format = find_format(key);

	if (!format)
		return source_options__take(&export->source, &usage, key, optarg);
	if (export->format && export->format != format)
		return usage__error(&usage, "%s and %s: one format at a time",
				    export->format->name, format->name);
	export->format = format;
	return 0;
}

/* Return: 0, USAGE_HELP or USAGE_ERROR, printed. */
static int parse(int argc, const char **argv, struct export *export)
{
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		if (key == USAGE_HELP || key == USAGE_ERROR)
			return key;
		if (key == 'o')
			export->output = optarg;
		else if (take(export, key))
			return USAGE_ERROR;
	}
	if (optind < argc)
		usage__unexpected(&usage, argv[optind]);
	else if (!export->format)
		usage__error(&usage, "no format is named, as --perfetto");
	else
		return 0;
	return USAGE_ERROR;
}

static int run(struct export *export)
{
	struct export_options opts = {
		.path = export->output ? export->output : export->format->path,
		.weight = export->source.weight,
	};
	struct source_stats stats;
	struct sink *sink = NULL;
	int err;

	if (!export->format->make) {
		pr_err("%s needs %s, which this perf-gpu was built without: install it, "
		       "and build again (perf-gpu version --build-options)",
		       export->format->name, export->format->library);
		return -ENOTSUP;
	}
	if (source_options__reads(&export->source, opts.path))
		return -EINVAL;
	if (!export->output)
		export->source.usual_output = opts.path;
	export->source.unwind = true; /* there is nobody behind this to do it */
	export->source.has_label_values = export->format->has_labels;
	err = export->format->make(&opts, &sink);
	if (!err)
		err = source__run(&export->source, sink, &stats);
	if (!err) {
		source_stats__print_losses(&stats);
		if (strcmp(opts.path, "-") != 0)
			pr_info("%s written", opts.path);
		source_stats__release(&stats);
	}
	if (sink)
		sink->ops->delete (sink);
	return err;
}

int cmd_export(int argc, const char **argv)
{
	struct export export = {.source = SOURCE_OPTIONS_DEFAULT};
	int err = parse(argc, argv, &export);

	if (err)
		return err == USAGE_HELP ? EXIT_SUCCESS : USAGE_STATUS;
	return run(&export) ? EXIT_FAILURE : EXIT_SUCCESS;
}
