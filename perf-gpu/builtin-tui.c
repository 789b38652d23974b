// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu tui: a recording in perf report. */
#include "builtin.h"

#include <stdlib.h>

#include "open/open.h"

static const struct usage usage = {
	.command = "tui",
	.synopsis = "[<options>] [-- <options of perf report>]",
	.summary = "Open what the GPU did in perf report",
	.options = open__options,
	.stops_at_operand = true,
};

int cmd_tui(int argc, const char **argv)
{
	static const char *const first[] = {"report", "-i", NULL};
	struct open_options options;
	char program[PATH_MAX];
	int status;

	status = open_options__parse(&usage, argc, argv, &options);
	if (status < 0) {
		status = EXIT_FAILURE; /* it comes back only then */
		if (!open__find_program(
			    "perf",
			    "install linux-perf (Debian), linux-tools-generic "
			    "(Ubuntu) or perf (others); 'perf-gpu report' needs "
			    "none",
			    program))
			open__run(&options, program, "--buildid-dir", first);
	}
	open_options__release(&options);
	return status;
}
