// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu version: the version, and what the build found. */
#include "builtin.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/usage.h"

static const struct usage_option options[] = {
	{'b', "build-options", NULL,
	 "also print compilers and libraries of the build, with their versions"},
	{0},
};

static const struct usage usage = {
	.command = "version",
	.synopsis = "[<options>]",
	.summary = "Print the version",
	.options = options,
};

static void print_feature(const char *name, bool is_on, const char *version)
{
	printf("%22s: [ %s ]  # %s\n", name, is_on ? "on " : "OFF", version);
}

static void print_build_options(void)
{
#define BUILD_FEATURE(name, version) print_feature(name, true, version);
#define BUILD_FEATURE_OFF(name, why) print_feature(name, false, why);
#include "build_features.h" /* written by scripts/features.sh */
#undef BUILD_FEATURE
#undef BUILD_FEATURE_OFF
#ifdef PERF_GPU_SAN
	print_feature("sanitizers", true, PERF_GPU_SAN);
#else
	print_feature("sanitizers", false, "make SAN=address,undefined");
#endif
}

int cmd_version(int argc, const char **argv)
{
	bool with_build_options = false;
	int key;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'b':
			with_build_options = true;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		default:
			return USAGE_STATUS;
		}
	}
	if (optind < argc)
		return usage__unexpected(&usage, argv[optind]);
	printf("perf-gpu version %s\n", PERF_GPU_VERSION);
	if (with_build_options)
		print_build_options();
	return EXIT_SUCCESS;
}
