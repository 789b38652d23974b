/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that has no name in any folder, and is gone when it is closed. */
#ifndef PERF_GPU_UTIL_NAMELESS_FILE_H
#define PERF_GPU_UTIL_NAMELESS_FILE_H

#include <stddef.h>

/* $TMPDIR, or /var/tmp, which is for what is large */
const char *nameless_file__folder(void);

/**
 * nameless_file__open - make an empty one in nameless_file__folder()
 *
 * Return: a file descriptor, to be closed, or a negative errno, not printed.
 */
int nameless_file__open(void);

/**
 * nameless_file__append - write behind what was written
 *
 * Zeros are left out as holes, a page at a time: call nameless_file__finish() behind the last.
 *
 * Return: 0 or a negative errno, not printed.
 */
int nameless_file__append(int fd, const void *data, size_t bytes);

/* Give it its size: a hole may be last. 0 or a negative errno, not printed. */
int nameless_file__finish(int fd);

#endif
