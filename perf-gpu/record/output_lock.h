/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * That two recorders at once don't write the same files: a file beside the sidecar,
 * NAME.gpu.lock, is locked while one is at it. The lock ends with the recorder, however
 * that ends, and holds among the hosts that share a file system. One thread.
 */
#ifndef PERF_GPU_RECORD_OUTPUT_LOCK_H
#define PERF_GPU_RECORD_OUTPUT_LOCK_H

#include <limits.h>
#include <stdbool.h>

struct output_lock {
	char path[PATH_MAX];
	int fd; /* -1: there is no file */
	bool is_held; /* false where there are no locks */
};

/**
 * output_lock__take - have the output for this recorder
 * @sidecar_path: what it is named after
 * @output:       what the user has named; for the message
 * @advice:       for the message: what to do if another recorder has it
 * @ret:          to be given to output_lock__release(); written on success only
 *
 * Where the file can't be made, or the file system has no locks, there is none.
 *
 * Return: 0 or a negative errno, printed: -EBUSY if another recorder has it.
 */
int output_lock__take(const char *sidecar_path, const char *output, const char *advice,
		      struct output_lock *ret);

/* Nothing if it isn't locked. */
void output_lock__release(struct output_lock *lock);

#endif
