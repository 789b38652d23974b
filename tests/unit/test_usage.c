// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines: options of the table, errors, and the help made of it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "util/usage.h"

enum { OPT_CALL_GRAPH = USAGE_LONG_ONLY };

static const struct usage_option options[] = {
	{'o', "output", "file", "write to <file> (perf.data)"},
	{OPT_CALL_GRAPH, "call-graph", "mode",
	 "how to walk the stack: unwind (the default), fp, which needs code with frame "
	 "pointers, or dwarf"},
	{'q', "quiet", NULL, "print errors only"},
	{0},
};

static const struct usage permuting = {
	.command = "inject",
	.synopsis = "[<options>]",
	.summary = "Give each kernel its stack",
	.options = options,
};

static const struct usage stopping = {
	.command = "record",
	.synopsis = "[<options>] <command>\n[<options>] -- <command> [<args>]",
	.summary = "Record a command",
	.options = options,
	.notes = "A note.\n",
	.stops_at_operand = true,
};

#define NEXT(usage, ...) next(usage, (const char *[]){"x", __VA_ARGS__, NULL})

static int next(const struct usage *usage, const char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return usage__next(usage, argc, argv);
}

/* What a call prints to the descriptor */
#define PRINTED(fd, call) (capture(fd), (void)(call), printed(fd))

static int pipe_fds[2];

static void capture(int fd)
{
	CHECK_EQ(pipe(pipe_fds), 0);
	CHECK_EQ(dup2(pipe_fds[1], fd), fd);
	close(pipe_fds[1]);
}

static const char *printed(int fd)
{
	static char output[4096];
	ssize_t nr_bytes;

	fflush(stdout);
	close(fd);
	nr_bytes = read(pipe_fds[0], output, sizeof(output) - 1);
	CHECK(nr_bytes >= 0);
	output[nr_bytes] = '\0';
	return output;
}

TEST(letter_and_long_name_are_one)
{
	CHECK_EQ(NEXT(&permuting, "-ofile"), 'o');
	CHECK_STR(optarg, "file");
	usage__restart();
	CHECK_EQ(NEXT(&permuting, "--output=other"), 'o');
	CHECK_STR(optarg, "other");
	usage__restart();
	CHECK_EQ(NEXT(&permuting, "--call-graph", "fp"), OPT_CALL_GRAPH);
	CHECK_STR(optarg, "fp");
}

TEST(options_end)
{
	const char *argv[] = {"x", "a", "-q", "b", NULL};

	CHECK_EQ(usage__next(&permuting, 4, argv), 'q');
	CHECK_EQ(usage__next(&permuting, 4, argv), USAGE_END);
	CHECK_EQ(optind, 2);
	CHECK_STR(argv[2], "a");
}

TEST(options_stop_at_the_command)
{
	const char *argv[] = {"x", "-q", "app", "-o", "--help", NULL};

	CHECK_EQ(usage__next(&stopping, 5, argv), 'q');
	CHECK_EQ(usage__next(&stopping, 5, argv), USAGE_END);
	CHECK_EQ(optind, 2);
}

TEST(dashes_end_options)
{
	const char *argv[] = {"x", "--", "-q", NULL};

	CHECK_EQ(usage__next(&stopping, 3, argv), USAGE_END);
	CHECK_EQ(optind, 2);
}

TEST(errors_name_the_argument)
{
	CHECK_STR(PRINTED(STDERR_FILENO, NEXT(&stopping, "-Z")),
		  "perf-gpu: unknown option -Z; see 'perf-gpu record --help'\n");
}

TEST(wrong_long_name)
{
	CHECK_STR(PRINTED(STDERR_FILENO, NEXT(&stopping, "--nonsense=1")),
		  "perf-gpu: unknown or ambiguous option --nonsense=1; "
		  "see 'perf-gpu record --help'\n");
}

TEST(missing_argument)
{
	CHECK_STR(PRINTED(STDERR_FILENO, NEXT(&stopping, "--output")),
		  "perf-gpu: --output needs an argument; see 'perf-gpu record --help'\n");
}

TEST(superfluous_argument)
{
	CHECK_STR(
		PRINTED(STDERR_FILENO, NEXT(&stopping, "--quiet=3")),
		"perf-gpu: --quiet=3 takes no argument; see 'perf-gpu record --help'\n");
}

TEST(errors_end_parsing)
{
	CHECK_EQ(NEXT(&stopping, "-qZ"), 'q');
	usage__restart();
	CHECK_EQ(NEXT(&stopping, "-Z"), USAGE_ERROR);
}

TEST(help)
{
	CHECK_STR(PRINTED(STDOUT_FILENO, NEXT(&stopping, "--help")),
		  " Usage: perf-gpu record [<options>] <command>\n"
		  "    or: perf-gpu record [<options>] -- <command> [<args>]\n"
		  "\n"
		  " Record a command.\n"
		  "\n"
		  "    -o, --output <file>     write to <file> (perf.data)\n"
		  "        --call-graph <mode> how to walk the stack: unwind (the "
		  "default), fp,\n"
		  "                            which needs code with frame pointers, or "
		  "dwarf\n"
		  "    -q, --quiet             print errors only\n"
		  "    -h, --help              print this help, and exit\n"
		  "\n"
		  "A note.\n");
}
