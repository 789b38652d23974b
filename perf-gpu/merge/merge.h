/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of several hosts or ranks become one that all commands read. */
#ifndef PERF_GPU_MERGE_MERGE_H
#define PERF_GPU_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct merge_options {
	const char *const *paths; /* of perf.data of each recording */
	size_t nr_paths; /* at least 1 */
	const char *output; /* path of perf.data; the sidecar is beside it */
	bool has_hosts; /* processes' names get their host, if there are several */
	const char *const *cmdline; /* NULL-terminated, for the output's header */
};

/**
 * merge__run - read recordings, and write them as one
 *
 * A recording that is in the output's place becomes NAME.old, as with record.
 *
 * Return: 0 or a negative errno, printed: the output is then as it was.
 */
int merge__run(const struct merge_options *options);

#endif
