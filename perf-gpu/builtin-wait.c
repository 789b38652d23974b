// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu wait: run a command that record -p can record later. */
#include "builtin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/injection.h"
#include "record/workload.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/rights.h"
#include "util/paths.h"
#include "util/usage.h"

/* cupti_inject/config.h */
#define WAIT_VARIABLE "PERF_GPU_WAIT"

static const struct usage_option options[] = {
	{'e', "env", NULL,
	 "print the variables that make a process wait, as NAME=value, and run nothing"},
	{0},
};

static const struct usage usage = {
	.command = "wait",
	.synopsis = "[--] <command> [<args>]\n--env",
	.summary = "Run a command, which waits for 'perf-gpu record -p'",
	.options = options,
	.stops_at_operand = true,
};

static int find_library(char ret[PATH_MAX])
{
	char libdir[PATH_MAX];
	int err;

	err = paths__find_libdir(libdir);
	if (err)
		return err;
	if (snprintf(ret, PATH_MAX, "%s/libperf-gpu-inject.so", libdir) >= PATH_MAX) {
		pr_err("the path of the injected library is too long: %s", libdir);
		return -ENAMETOOLONG;
	}
	return 0;
}

static int print_environment(const char *library)
{
	const char *next = injection__next_nvtx(library);

	printf("CUDA_INJECTION64_PATH=%s\n" WAIT_VARIABLE "=1\n", library);
	printf(INJECTION_NVTX_VARIABLE "=%s\n", library);
	if (next)
		printf(INJECTION_NVTX_NEXT_VARIABLE "=%s\n", next);
	return EXIT_SUCCESS;
}

/* 0, or -1 without memory */
static int set_environment(const char *library)
{
	const char *next = injection__next_nvtx(library);

	if (next && setenv(INJECTION_NVTX_NEXT_VARIABLE, next, true))
		return -1;
	return setenv("CUDA_INJECTION64_PATH", library, true) ||
			       setenv(INJECTION_NVTX_VARIABLE, library, true) ||
			       setenv(WAIT_VARIABLE, "1", true)
		       ? -1
		       : 0;
}

/* Returns only if it can't be executed. */
static int execute(const char *library, const char *const *argv)
{
	int err;

	err = injection__check(library, true);
	if (err)
		return EXIT_FAILURE;
	if (set_environment(library)) {
		pr_err("no memory for the command's environment");
		return EXIT_FAILURE;
	}
	err = -rights__withhold();
	if (!err)
		err = -environment__restore();
	if (!err) {
		execvp(argv[0], (char *const *)argv);
		err = errno;
	}
	pr_err("can't run %s: %s", argv[0], strerror(err));
	return err == ENOENT ? WORKLOAD_STATUS_NOT_FOUND : WORKLOAD_STATUS_NOT_EXECUTABLE;
}

int cmd_wait(int argc, const char **argv)
{
	char library[PATH_MAX];
	bool is_printing = false;
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'e':
			is_printing = true;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		default:
			return USAGE_STATUS;
		}
	}
	if (is_printing && optind < argc)
		return usage__error(&usage, "--env runs no command: %s", argv[optind]);
	if (!is_printing && optind == argc)
		return usage__error(&usage, "no command that is to wait");
	if (find_library(library))
		return EXIT_FAILURE;
	return is_printing ? print_environment(library) : execute(library, argv + optind);
}
