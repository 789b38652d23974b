/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is in the way of a new one becomes NAME.old, as with perf; its
 * sidecar becomes NAME.old.gpu, where it is found with it. One thread.
 */
#ifndef PERF_GPU_UTIL_BACKUP_H
#define PERF_GPU_UTIL_BACKUP_H

#include <limits.h>
#include <stdbool.h>

struct backup {
	char path[2][PATH_MAX]; /* perf.data and its sidecar ... */
	char old_path[2][PATH_MAX]; /* ... and what they become */
	bool is_ours[2]; /* is to be replaced */
	bool is_moved[2];
};

/**
 * backup__init - name the files, and see that they can be replaced
 * @path: of perf.data
 * @has_perfdata: it is replaced; else the sidecar alone
 * @ret:  written on success only; path[1] is the sidecar's
 *
 * Return: 0 or a negative errno, printed: -EINVAL for something at @path that is
 * no regular file, -ENAMETOOLONG.
 */
int backup__init(const char *path, bool has_perfdata, struct backup *ret);

/* Move what there is. 0 or a negative errno, printed; then all is as it was. */
int backup__move(struct backup *backup);

/* Move it back: the new recording could not be put in its place. */
void backup__undo(struct backup *backup);

#endif
