// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu check: would record work here, and if not, what is to be done? */
#include "builtin.h"

#include <stdlib.h>

#include "check/check.h"
#include "util/usage.h"

static const struct usage_option options[] = {
	{'v', "verbose", NULL, "say more about what was found"},
	{0},
};

static const struct usage usage = {
	.command = "check",
	.synopsis = "[<options>]",
	.summary = "Tell what works on this machine, and how to mend what doesn't",
	.options = options,
	.notes = " Exit status: 0 if record would work here, else 1.\n",
};

int cmd_check(int argc, const char **argv)
{
	bool is_verbose = false;
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'v':
			is_verbose = true;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		default:
			return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__unexpected(&usage, argv[optind]);
	return check__run(is_verbose) ? EXIT_SUCCESS : EXIT_FAILURE;
}
