// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu report: where the GPU time went, and which code sent it there, as tables. */
#include "builtin.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/order.h"
#include "report/print.h"
#include "report/report.h"
#include "sink/sink.h"
#include "source/options.h"
#include "source/source.h"
#include "util/log.h"
#include "util/usage.h"

enum {
	OPT_SORT = SOURCE_OPTIONS_END,
	OPT_LIMIT,
	OPT_CALLERS,
	OPT_BY,
	OPT_CSV,
	OPT_JSON,
};

#define DEFAULT_COLUMNS 80
#define MIN_COLUMNS	80 /* the figures leave no room for names in less */
#define MAX_COLUMNS	1000
#define MIN_LINES	24
#define MAX_LINES	50 /* in a pipe, too: more is no overview */

static const struct usage_option options[] = {
	SOURCE_USAGE_INPUT,
	SOURCE_USAGE_GPU,
	{'e', "event", "list",
	 "show these events, of those that were recorded (all of them); or "
	 "+<event>,-<event> on top of that"},
	{OPT_LEAKS, "leaks", NULL, "of gpu-alloc, show only what was never freed"},
	{OPT_BY, "by", "list",
	 "tables for each of these, or for each combination: device, stream, process, "
	 "rank; nvtx: what ran within each NVTX range (of record --nvtx)"},
	{OPT_SORT, "sort", "key",
	 "sort rows by total (the default), calls, mean, median, min, max, stddev, bytes "
	 "or name"},
	{OPT_LIMIT, "limit", "n",
	 "print <n> rows of each table (6 of kernels, 4 of others, or what fits on a "
	 "screen; all of CSV and JSON); 0: all"},
	{OPT_CALLERS, "callers", "n",
	 "print <n> callers of each row (2 of kernels, 3 of gpu-idle, 1 of others; all "
	 "of "
	 "CSV and JSON)"},
	{OPT_CSV, "csv", NULL, "print comma-separated values"},
	{OPT_JSON, "json", NULL, "print JSON"},
	SOURCE_USAGE_NAMES,
	SOURCE_USAGE_GRAPH_STACKS,
	SOURCE_USAGE_SYMFS,
	SOURCE_USAGE_VERBOSITY,
	{0},
};

static const struct usage usage = {
	.command = "report",
	.synopsis = "[<options>]",
	.summary = "Tell where the GPU time went, and which code sent it there",
	.options = options,
};

struct report_command {
	struct source_options source;
	enum report_sort sort;
	unsigned int by;
	size_t limit, nr_callers;
	void (*print)(const struct report_view *view);
};

static int take_number(const char *option, const char *text, size_t *ret)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || number >= REPORT_DEFAULT) {
		usage__error(&usage, "%s takes a number, not %s", option, text);
		return -EINVAL;
	}
	*ret = number;
	return 0;
}

static int take_by(const char *text, unsigned int *ret)
{
	static const struct {
		const char *word;
		enum report_by by;
	} words[] = {
		{"device", REPORT_BY_DEVICE},	{"stream", REPORT_BY_STREAM},
		{"process", REPORT_BY_PROCESS}, {"rank", REPORT_BY_RANK},
		{"nvtx", REPORT_BY_NVTX},
	};
	const size_t nr_words = sizeof(words) / sizeof(*words);

	for (;; text++) {
		size_t nr_bytes = strcspn(text, ","), i = 0;

		while (i < nr_words && (strlen(words[i].word) != nr_bytes ||
					strncmp(text, words[i].word, nr_bytes) != 0))
			i++;
		if (i == nr_words) {
			usage__error(&usage,
				     "--by takes device, stream, process, rank and "
				     "nvtx, not '%.*s'",
				     (int)nr_bytes, text);
			return -EINVAL;
		}
		*ret |= words[i].by;
		/* CUDA counts streams in each context: without a device they say little. */
		if (words[i].by == REPORT_BY_STREAM)
			*ret |= REPORT_BY_DEVICE;
		text += nr_bytes;
		if (!*text)
			return 0;
	}
}

static int set_print(struct report_command *command,
		     void (*print)(const struct report_view *view))
{
	if (command->print != report__print_text && command->print != print) {
		usage__error(&usage, "--csv and --json exclude each other");
		return -EINVAL;
	}
	command->print = print;
	return 0;
}

static int take_option(struct report_command *command, int key, const char *arg)
{
	switch (key) {
	case OPT_SORT:
		return report_sort__parse(arg, &command->sort);
	case OPT_LIMIT:
		return take_number("--limit", arg, &command->limit);
	case OPT_CALLERS:
		return take_number("--callers", arg, &command->nr_callers);
	case OPT_BY:
		return take_by(arg, &command->by);
	case OPT_CSV:
		return set_print(command, report__print_csv);
	case OPT_JSON:
		return set_print(command, report__print_json);
	default:
		return source_options__take(&command->source, &usage, key, arg);
	}
}

/* As wide as the terminal, or as COLUMNS says; else 80, also in a pipe */
static size_t find_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	long columns = text ? strtol(text, NULL, 10) : 0;

	if (columns <= 0 && isatty(STDOUT_FILENO) &&
	    !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		columns = size.ws_col;
	if (columns <= 0)
		return DEFAULT_COLUMNS;
	if (columns < MIN_COLUMNS)
		return MIN_COLUMNS;
	return columns > MAX_COLUMNS ? MAX_COLUMNS : (size_t)columns;
}

/* What a terminal shows above the next prompt */
static size_t find_lines(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    !size.ws_row || size.ws_row > MAX_LINES)
		return MAX_LINES;
	return (size_t)(size.ws_row < MIN_LINES ? MIN_LINES : size.ws_row) - 1;
}

/* https://no-color.org: it need only be there, and not be empty. */
static bool wants_colours(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (!none || !*none) && term &&
	       strcmp(term, "dumb") != 0;
}

static int print(const struct report_command *command, struct report *report,
		 const struct source_stats *stats)
{
	struct report_view view = {
		.report = report,
		.stats = stats,
		.path = command->source.perfdata_path,
		.limit = command->limit,
		.nr_callers = command->nr_callers,
		.columns = find_columns(),
		.lines = find_lines(),
		.has_colours = wants_colours(),
		.is_verbose = log_verbosity > 0,
	};
	struct report_entry *entries;

	if (report_order__new(report, command->sort, &entries)) {
		pr_err("no memory for the report");
		return -ENOMEM;
	}
	view.entries = entries;
	command->print(&view);
	free(entries);
	return 0;
}

static int run(struct report_command *command)
{
	bool is_text = command->print == report__print_text;
	struct report *report = NULL;
	struct source_stats stats;
	struct sink *sink = NULL;
	int err;

	command->source.unwind = true; /* there is nobody behind this to do it */
	command->source.has_label_values = command->by & REPORT_BY_LABELS;
	err = report__new(command->by, !is_text || log_verbosity > 0, &report);
	if (err)
		pr_err("no memory for the report");
	else
		err = sink_report__new(report, &sink);
	if (!err)
		err = source__run(&command->source, sink, &stats);
	if (!err) {
		err = print(command, report, &stats);
		source_stats__print_losses(&stats);
		source_stats__release(&stats);
	}
	if (sink)
		sink->ops->delete (sink);
	report__delete(report);
	return err;
}

int cmd_report(int argc, const char **argv)
{
	struct report_command command = {
		.source = SOURCE_OPTIONS_DEFAULT,
		.limit = REPORT_DEFAULT,
		.nr_callers = REPORT_DEFAULT,
		.print = report__print_text,
	};
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case USAGE_HELP:
			return 0;
		case USAGE_ERROR:
			return USAGE_STATUS;
		default:
			if (take_option(&command, key, optarg))
				return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__unexpected(&usage, argv[optind]);
	return run(&command) ? EXIT_FAILURE : EXIT_SUCCESS;
}
