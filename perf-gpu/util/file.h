/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of files in more than one place. Any thread. */
#ifndef PERF_GPU_UTIL_FILE_H
#define PERF_GPU_UTIL_FILE_H

#include <stdbool.h>

/* Do both paths lead to one file that is there? */
bool file__is_same(const char *a, const char *b);

/**
 * file__lock - be the only one who has a file locked
 * @fd: open for writing
 *
 * The lock is of the open file, so that only its last close(2) drops it, and none of the same
 * file elsewhere in the process; and by byte range, which NFS has between hosts.
 *
 * Return: 0, -EAGAIN if another has it, or a negative errno; not printed.
 */
int file__lock(int fd);

#endif
