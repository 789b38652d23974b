/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder in which the recorded processes write their logs, each one file:
 * beside the output, so that there is as much room as for the sidecar, and for
 * their user only. One thread.
 */
#ifndef PERF_GPU_RECORD_SPOOL_H
#define PERF_GPU_RECORD_SPOOL_H

#include <limits.h>
#include <sys/types.h>

struct spool {
	char path[PATH_MAX]; /* absolute; "": there is none */
	/*
	 * Everything goes through this one: who owns a folder above could put a link
	 * in the place of ours.
	 */
	int dir_fd;
	uid_t uid; /* whose it is, with all that is in it */
};

/* Of a log's file name; anything else in the folder is none of ours. */
#define SPOOL_LOG_SUFFIX	".gpulog"
#define SPOOL_LAUNCH_LOG_SUFFIX ".gpulaunch"

/**
 * spool__create - make the folder
 * @sidecar_path: what it is named after; relative is to the working directory
 * @uid: of the processes that will write to it
 * @ret: written on success only; to be given to spool__remove()
 *
 * Return: 0 or a negative errno, printed.
 */
int spool__create(const char *sidecar_path, uid_t uid, struct spool *ret);

/* The names of the files with a suffix, sorted. */
struct spool_names {
	char **names;
	size_t nr_names;
};

/**
 * spool__list - find the logs of a kind
 * @suffix: SPOOL_*_SUFFIX
 * @ret:    released by spool_names__release(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int spool__list(const struct spool *spool, const char *suffix, struct spool_names *ret);
void spool_names__release(struct spool_names *names);

/**
 * spool__open_log - open a log for reading, if it is one that a process may have made
 *
 * Return: a file descriptor, or a negative errno: a warning has been printed, the
 * log is to be left out.
 */
int spool__open_log(const struct spool *spool, const char *name);

/* Remove it with all that is in it. Processes that still write go on, unread. */
void spool__remove(struct spool *spool);

#endif
