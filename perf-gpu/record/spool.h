/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder in which the recorded processes write their logs, each one file:
 * beside the output, so that there is as much room as for the sidecar, and for
 * their user only. What else they put there, links, FIFOs and folders, is neither followed
 * nor waited on, and removed. One thread.
 */
#ifndef PERF_GPU_RECORD_SPOOL_H
#define PERF_GPU_RECORD_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/log.h"

/* A file of it, whatever its name is by now */
struct spool_file {
	dev_t dev;
	ino_t ino;
};

struct spool {
	char path[PATH_MAX]; /* absolute; "": there is none */
	/*
	 * Everything goes through this one: who owns a folder above could put a link
	 * in the place of ours.
	 */
	int dir_fd;
	uid_t uid; /* whose it is, with all that is in it */
	struct spool_file *made; /* by spool__make_log() */
	size_t nr_made;
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

/**
 * spool__open - one that another recorder has made
 * @ret: written on success only; its dir_fd is to be closed, or it to be given to
 *       spool__remove()
 *
 * Return: 0 or a negative errno, not printed.
 */
int spool__open(const char *path, struct spool *ret);

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
 * @limit: of the warnings
 *
 * Return: a file descriptor, or a negative errno: a warning has been printed, within the
 * limit, and the log is to be left out.
 */
int spool__open_log(const struct spool *spool, const char *name, struct log_limit *limit);

/*
 * The same, for who gives back the space of what he has read: open for writing too, where
 * that may be.
 */
int spool__open_grown_log(const struct spool *spool, const char *name,
			  struct log_limit *limit);

/* An empty file for who writes the log: its id and @suffix. Without room there is none. */
void spool__answer(const struct spool *spool, uint64_t log_id, const char *suffix);

/* What the logs have, of all kinds; UINT64_MAX at most, where processes make it so. */
uint64_t spool__bytes(const struct spool *spool);

/*
 * Has the process ended whose log is open as @fd? As far as locks tell, and the log's end or
 * the pid; who is in doubt is there.
 */
bool spool__has_ended(int fd, bool has_end, uint32_t pid);

/* Is there a process that has its log open? As far as the file system has locks. */
bool spool__is_in_use(const struct spool *spool);

/**
 * spool__make_log - make a log for a process that can't do so, or open it once more
 * @suffix: SPOOL_*_SUFFIX
 *
 * A log that a process has made is opened, too, if it is the user's.
 *
 * Return: a file descriptor, open for writing; or a negative errno, not printed: -EPERM if
 * something else has its name, -ENOSPC if too many were made.
 */
int spool__make_log(struct spool *spool, uint32_t pid, uint64_t log_id,
		    const char *suffix);

/* Without a log? False if that can't be seen, for want of memory. */
bool spool__is_empty(const struct spool *spool);

/* Leave it as it is: somebody else will remove it. */
void spool__keep(struct spool *spool);

/* Remove it with all that is in it. Processes that still write go on, unread. */
void spool__remove(struct spool *spool);

#endif
