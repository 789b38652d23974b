/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a recording with a program that reads perf.data. */
#ifndef PERF_GPU_OPEN_OPEN_H
#define PERF_GPU_OPEN_OPEN_H

#include <limits.h>

#include "source/options.h"

/* The options of all commands that open recordings */
extern const struct usage_option open__options[];

struct open_options {
	struct source_options source;
	char *chosen; /* "NAME: ARGUMENT\n" of each option that changes what is shown */
	const char **args; /* of the program: what was behind --; ends with NULL */
};

/**
 * open_options__parse - the command line of such a command
 * @ret: released by open_options__release(), whatever is returned
 *
 * Return: the exit status of a wrong command line or of --help, or -1: go on.
 */
int open_options__parse(const struct usage *usage, int argc, const char **argv,
			struct open_options *ret);
void open_options__release(struct open_options *options);

/**
 * open__find_program - where a program is on PATH
 * @name:     without a folder
 * @advice:   what to do if it isn't there
 * @ret_path: written on success only
 *
 * Return: 0, or -ENOENT, printed.
 */
int open__find_program(const char *name, const char *advice, char ret_path[PATH_MAX]);

/**
 * open__run - inject if that is needed, and become the program
 * @program: its path
 * @symbols: its option that takes a folder with symbols, which is given first if the
 *           recording is an archive
 * @first:   its arguments in front of the file, which may be an option's; ends with NULL
 *
 * Return: only if it fails, a negative errno, printed.
 */
int open__run(const struct open_options *options, const char *program,
	      const char *symbols, const char *const *first);

#endif
