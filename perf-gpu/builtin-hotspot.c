// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu hotspot: a recording in hotspot. */
#include "builtin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "open/open.h"
#include "util/log.h"

static const struct usage usage = {
	.command = "hotspot",
	.synopsis = "[<options>] [-- <options of hotspot>]",
	.summary = "Open what the GPU did in hotspot",
	.options = open__options,
	.stops_at_operand = true,
};

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* Qt would abort, with a core dump. Its own ways to have no screen are its user's. */
static int check_display(const char **args)
{
	if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM"))
		return 0;
	for (; *args; args++)
		if (!strcmp(*args, "-platform") || !strcmp(*args, "--platform"))
			return 0;
	pr_err("hotspot has no display: neither DISPLAY nor WAYLAND_DISPLAY is set; log "
	       "in "
	       "on a desktop or with 'ssh -X', or use 'perf-gpu tui' or 'perf-gpu "
	       "flamegraph'");
	return -ENODEV;
}

int cmd_hotspot(int argc, const char **argv)
{
	static const char *const first[] = {NULL};
	struct open_options options;
	char program[PATH_MAX];
	int status;

	status = open_options__parse(&usage, argc, argv, &options);
	if (status < 0) {
		status = EXIT_FAILURE; /* it comes back only then */
		if (!open__find_program("hotspot",
					"install the package hotspot "
					"(https://github.com/KDAB/hotspot); 'perf-gpu "
					"flamegraph' needs a browser only",
					program) &&
		    !check_display(options.args))
			open__run(&options, program, "--debugPaths", first);
	}
	open_options__release(&options);
	return status;
}
