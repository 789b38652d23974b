// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu help: the manual page of a command, or its options without man. */
#include "builtin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/log.h"
#include "util/paths.h"
#include "util/usage.h"

static const struct usage_option options[] = {{0}};

static const struct usage usage = {
	.command = "help",
	.synopsis = "[<command>]",
	.summary = "Show the manual page of a command",
	.options = options,
};

/* Returns only if there is no man(1). */
static int show_page(const char *name)
{
	char path[PATH_MAX];
	int err;

	/* Our own page, which man doesn't find in a build tree or a moved one */
	if (!paths__find_man_page(name, path))
		name = path;
	execlp("man", "man", name, NULL);
	err = -errno;
	if (err != -ENOENT)
		pr_err("man %s could not be run: %m", name);
	return err;
}

int cmd_help(int argc, const char **argv)
{
	const struct command *command = NULL;
	char page[64] = "perf-gpu";
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END)
		return key == USAGE_HELP ? EXIT_SUCCESS : USAGE_STATUS;
	if (argc - optind > 1)
		return usage__unexpected(&usage, argv[optind + 1]);
	if (optind < argc) {
		command = command__find(argv[optind]);
		if (!command)
			return USAGE_STATUS;
		if (command->has_page)
			snprintf(page, sizeof(page), "perf-gpu-%s", command->name);
	}
	if (show_page(page) != -ENOENT)
		return EXIT_FAILURE;
	if (!command) {
		command__print_usage();
		return EXIT_SUCCESS;
	}
	usage__restart();
	return command->run(2, (const char *[]){command->name, "--help", NULL});
}
