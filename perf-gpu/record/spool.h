/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder in which the recorded processes write their logs, each one file:
 * beside the output, so that there is as much room as for the sidecar, and for
 * the recorder's user only. One thread.
 */
#ifndef PERF_GPU_RECORD_SPOOL_H
#define PERF_GPU_RECORD_SPOOL_H

#include <limits.h>
#include <sys/types.h>

struct spool {
	char path[PATH_MAX]; /* absolute */
};

/* Of a log's file name; anything else in the folder is none of ours. */
#define SPOOL_LOG_SUFFIX ".gpulog"

/**
 * spool__create - make the folder
 * @sidecar_path: what it is named after; relative is to the working directory
 * @ret: written on success only; to be given to spool__remove()
 *
 * Return: 0 or a negative errno, printed.
 */
int spool__create(const char *sidecar_path, struct spool *ret);

/* Remove it with all that is in it. Processes that still write go on, unread. */
void spool__remove(struct spool *spool);

#endif
