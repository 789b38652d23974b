/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of the command and its subcommands: one table is what getopt_long(3)
 * parses and what --help prints, so that they can't tell different things and
 * all of them look alike. Shell completion and the check of the man pages read
 * --help too.
 *
 *	enum { OPT_CALL_GRAPH = USAGE_LONG_ONLY };
 *
 *	static const struct usage_option options[] = {
 *		{ 'o', "output", "file", "write to <file> (perf.data)" },
 *		{ OPT_CALL_GRAPH, "call-graph", "mode", "unwind (the default), ..." },
 *		{ 'q', "quiet", NULL, "print errors only" },
 *		{ 0 },
 *	};
 *
 *	static const struct usage usage = {
 *		.command = "record",
 *		.synopsis = "[<options>] -- <command> [<args>]",
 *		.summary = "Record the launches of a command and what the GPU did",
 *		.options = options,
 *		.stops_at_operand = true,
 *	};
 *
 *	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
 *		switch (key) {
 *		case 'o':
 *			opts.output = optarg;
 *			break;
 *		case USAGE_HELP:
 *			return 0;
 *		case USAGE_ERROR:
 *			return USAGE_STATUS;
 *		}
 *	}
 *	argc -= optind; ...
 */
#ifndef PERF_GPU_UTIL_USAGE_H
#define PERF_GPU_UTIL_USAGE_H

#include <getopt.h> /* optarg, optind */
#include <stdbool.h>

/* Keys of options without a letter count from here. */
#define USAGE_LONG_ONLY 256

/* Exit status after a wrong command line, perf's and git's */
#define USAGE_STATUS 129

enum {
	USAGE_END = -1, /* no more options; argv[optind] is the first operand */
	USAGE_HELP = -2, /* --help was asked for and has been printed */
	USAGE_ERROR = -3, /* a wrong option; the error has been printed */
};

struct usage_option {
	int key; /* its letter, or USAGE_LONG_ONLY and up; 0 ends the table */
	const char *name; /* long name, without the dashes */
	/*
	 * What --help calls the argument; NULL: takes none. With a = before it, of long
	 * options only: it may be left out, and then optarg is NULL.
	 */
	const char *arg;
	const char *help; /* lower case, no full stop; wrapped when printed */
};

/* What is said of an option that there isn't */
struct usage_hint {
	int key; /* its letter */
	const char *text; /* what to do instead */
};

struct usage {
	const char *command; /* "record"; NULL: perf-gpu itself */
	const char *synopsis; /* what follows the name; "\n" starts another form */
	const char *summary; /* one sentence, no full stop */
	const struct usage_option *options; /* without -h, --help: always there */
	const char *notes; /* printed at the end as it is; NULL: none */
	/* Of letters that people have from other commands; ends with key 0; NULL: none */
	const struct usage_hint *hints;
	bool stops_at_operand; /* options end at the first operand, as for record */
};

/**
 * usage__next - the next option of a command line
 * @usage: the table; the same one at every call
 * @argc:  as main's
 * @argv:  as main's: argv[0] is skipped; permuted unless stops_at_operand
 *
 * A new command line starts after usage__restart(). One thread, as getopt(3).
 *
 * Return: the key, with the argument in optarg; or USAGE_END, USAGE_HELP,
 * USAGE_ERROR.
 */
int usage__next(const struct usage *usage, int argc, const char **argv);
void usage__restart(void);

/* Print the help, on stdout. */
void usage__print(const struct usage *usage);

/**
 * usage__error - the command line is wrong in a way that the table can't tell
 * @usage: names the command whose --help is recommended
 * @fmt:   what is wrong, on which argument
 *
 * Return: USAGE_STATUS.
 */
int usage__error(const struct usage *usage, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * usage__unexpected - the same of an argument where the command takes none
 *
 * Of a file it says how the command is told to read one, if it can.
 *
 * Return: USAGE_STATUS.
 */
int usage__unexpected(const struct usage *usage, const char *arg);

#endif
