// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-gpu merge: recordings of several hosts or ranks → one. */
#include "builtin.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"
#include "util/log.h"
#include "util/usage.h"

enum { OPT_NO_HOSTS = USAGE_LONG_ONLY };

static const struct usage_option options[] = {
	{'o', "output", "file", "write to <file> (perf.data), and to <file>.gpu"},
	{OPT_NO_HOSTS, "no-hosts", NULL,
	 "leave processes' names as they are; else, with several hosts, they become "
	 "name@host"},
	{'q', "quiet", NULL, "print errors only"},
	{'v', "verbose", NULL, "say more"},
	{0},
};

static const struct usage usage = {
	.command = "merge",
	.synopsis = "[<options>] <file>...",
	.summary = "Make one recording of those of several hosts or ranks",
	.options = options,
};

/* "perf-gpu", "merge" and the recordings; NULL without memory. */
static const char **make_cmdline(const struct merge_options *merge)
{
	const char **cmdline = calloc(merge->nr_paths + 3, sizeof(*cmdline));

	if (!cmdline)
		return NULL;
	cmdline[0] = "perf-gpu";
	cmdline[1] = "merge";
	memcpy(cmdline + 2, merge->paths, merge->nr_paths * sizeof(*cmdline));
	return cmdline;
}

static bool has_path(const char *const *paths, size_t nr, const char *path, size_t length)
{
	for (size_t i = 0; i < nr; i++)
		if (strlen(paths[i]) == length && !memcmp(paths[i], path, length))
			return true;
	return false;
}

/*
 * "X.gpu" where X is named, too: a shell's pattern has found both. The paths that stay are
 * in the front then. Return: how many.
 */
static size_t leave_out_sidecars(const char **paths, size_t nr)
{
	static const char suffix[] = ".gpu";
	const size_t suffix_length = sizeof(suffix) - 1;
	const char **kept = paths;

	/* Whoever is named X stays, so X is found wherever it is. */
	for (size_t i = 0; i < nr; i++) {
		const char *path = paths[i];
		const size_t length = strlen(path);
		const bool is_sidecar = length > suffix_length &&
					!strcmp(path + length - suffix_length, suffix) &&
					(has_path(paths, (size_t)(kept - paths), path,
						  length - suffix_length) ||
					 has_path(paths + i + 1, nr - i - 1, path,
						  length - suffix_length));

		if (!is_sidecar)
			*kept++ = path;
	}
	return (size_t)(kept - paths);
}

int cmd_merge(int argc, const char **argv)
{
	struct merge_options merge = {
		.output = "perf.data",
		.has_hosts = true,
	};
	const char **cmdline;
	int key, err;

	while ((key = usage__next(&usage, argc, argv)) != USAGE_END) {
		switch (key) {
		case 'o':
			if (!strcmp(optarg, "-"))
				return usage__error(&usage,
						    "-o - is not supported: a recording "
						    "is two files, not a stream");
			merge.output = optarg;
			break;
		case OPT_NO_HOSTS:
			merge.has_hosts = false;
			break;
		case 'q':
			log_verbosity = -1;
			break;
		case 'v':
			log_verbosity = 1;
			break;
		case USAGE_HELP:
			return EXIT_SUCCESS;
		default:
			return USAGE_STATUS;
		}
	}
	if (optind == argc)
		return usage__error(&usage, "no recordings to merge");
	merge.nr_paths = leave_out_sidecars(argv + optind, (size_t)(argc - optind));
	merge.paths = argv + optind;
	cmdline = make_cmdline(&merge);
	if (!cmdline) {
		pr_err("no memory for the command line");
		return EXIT_FAILURE;
	}
	merge.cmdline = cmdline;
	err = merge__run(&merge);
	free(cmdline);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
