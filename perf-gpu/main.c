// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf-gpu: GPU work in Linux perf. Also `perf gpu`: perf runs a perf-NAME that
 * is on PATH.
 *
 * Exit status:
 *   0    the job was done
 *   1    it was not; what failed was printed
 *   129  wrong command line, as perf and git have it
 *   record: that of the recorded command, if the recording was made; 128 + N
 *   if signal N killed it
 *   wait: that of the command
 *   hotspot, tui: that of the program, if it was run
 */
#include "builtin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/environment.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/rights.h"
#include "util/usage.h"

/* clang-format off */
const struct command commands[] = {
	{ "record",  cmd_record,  "Run a command, and record its launches and what the GPU did", true, true },
	{ "inject",  cmd_inject,  "Give what the GPU did the stacks that asked for it, for perf report", true, false },
	{ "script",  cmd_script,  "Print what the GPU did, with its stacks, as perf script does", true, false },
	{ "report",  cmd_report,  "Tell where the GPU time went, and which code sent it there", true, false },
	{ "flamegraph", cmd_flamegraph, "Draw what the GPU did as a flame graph", true, false },
	{ "export",  cmd_export,  "Write what the GPU did, with its stacks, for other viewers", true, false },
	{ "hotspot", cmd_hotspot, "Open what the GPU did in hotspot", true, false },
	{ "tui",     cmd_tui,     "Open what the GPU did in perf report", true, false },
	{ "archive", cmd_archive, "Pack a recording with its symbols, to read it on another machine", true, false },
	{ "list",    cmd_list,    "List the events that can be recorded", true, false },
	{ "merge",   cmd_merge,   "Make one recording of those of several hosts or ranks", true, false },
	{ "wait",    cmd_wait,    "Run a command, which can be recorded later by record -p", true, true },
	{ "check",   cmd_check,   "Tell what works on this machine, and how to mend what doesn't", true, true },
	{ "version", cmd_version, "Print the version; with -b, what it was built with, too", false, false },
	{ "help",    cmd_help,    "Show the manual page of a command", false, false },
	{ 0 },
};
/* clang-format on */

static const struct usage_option options[] = {
	{'v', "version", NULL, "print the version, and exit"},
	{0},
};

static const struct usage usage = {
	.synopsis = "[--version] [--help] <command> [<args>]",
	.summary = "Record what the GPU does, and which call stack asked for it",
	.options = options,
	.stops_at_operand = true,
};

static void print_commands(void)
{
	printf("\n Commands:\n");
	for (const struct command *command = commands; command->name; command++)
		printf("    %-10s %s\n", command->name, command->help);
	printf("\n See 'perf-gpu help <command>' for its manual page.\n");
}

void command__print_usage(void)
{
	usage__print(&usage);
	print_commands();
}

static size_t smallest(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many letters to insert, drop or change to make one name of the other
 * (Levenshtein, https://en.wikipedia.org/wiki/Levenshtein_distance). One row
 * of the matrix is kept: row[j] is the distance of @a's first i letters to @b's
 * first j.
 */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[16];
	size_t length = strlen(b);

	if (length >= sizeof(row) / sizeof(row[0]))
		return length;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t changed = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = smallest(changed, smallest(row[j], diagonal) + 1);
		}
	}
	return row[length];
}

const struct command *command__find(const char *name)
{
	const struct command *nearest = NULL;
	size_t nearest_distance = 4; /* further away it is no misspelling */

	for (const struct command *command = commands; command->name; command++) {
		size_t distance = edit_distance(name, command->name);

		if (distance == 0)
			return command;
		if (distance < nearest_distance && distance < strlen(command->name)) {
			nearest_distance = distance;
			nearest = command;
		}
	}
	if (nearest)
		pr_err("'%s' is no perf-gpu command; did you mean '%s'?", name,
		       nearest->name);
	else
		pr_err("'%s' is no perf-gpu command; see 'perf-gpu --help'", name);
	return NULL;
}

/* What was printed must have arrived: a full disk is no success. */
static int flush_output(int status)
{
	if (fflush(stdout))
		pr_err("standard output could not be written: %m");
	else if (ferror(stdout))
		pr_err("standard output could not be written whole: is there room for "
		       "it?");
	else
		return status;
	return status ? status : EXIT_FAILURE;
}

static int run_command(const struct command *command, int argc, const char **argv)
{
	usage__restart();
	log__set_command(command->name);
	if (rights__check_user())
		return EXIT_FAILURE;
	/* What others have made is read: if it is an attack, there is little to be had. */
	if (!command->needs_rights)
		rights__keep(RIGHTS_FILES);
	return command->run(argc, argv);
}

static int run(int argc, const char **argv)
{
	const struct command *command;
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'v':
			return run_command(command__find("version"), 1,
					   (const char *[]){"version", NULL});
		case USAGE_HELP:
			print_commands();
			return EXIT_SUCCESS;
		default:
			return USAGE_STATUS;
		}
	}
	if (optind == argc) {
		command__print_usage();
		return USAGE_STATUS;
	}
	command = command__find(argv[optind]);
	if (!command)
		return USAGE_STATUS;
	return run_command(command, argc - optind, argv + optind);
}

/*
 * If we were started with one of the standard descriptors closed, the next file that
 * is opened would get its number, and our messages in its midst. So the place is
 * taken, by what can't be used (as if it were closed), nor gets to a child.
 */
static void take_standard_descriptors(void)
{
	static const int wrong_way[] = {
		[STDIN_FILENO] = O_WRONLY,
		[STDOUT_FILENO] = O_RDONLY,
		[STDERR_FILENO] = O_RDONLY,
	};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", wrong_way[fd] | O_CLOEXEC) < 0)
			return; /* no /dev: it's as it was */
}

int main(int argc, const char **argv)
{
	int status;

	take_standard_descriptors();
	environment__init(argv);
	status = run(argc, argv);
	progress__end();
	return flush_output(status);
}
