/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of open files, which have descriptors of their own: nobody else's are used up. */
#ifndef PERF_GPU_UTIL_STREAM_H
#define PERF_GPU_UTIL_STREAM_H

#include <dirent.h>
#include <stdio.h>

/**
 * stream__open - read or write an open file
 * @fd:   stays the caller's; of the same open file, so that locks and the offset are, too
 * @mode: fopen(3)'s
 *
 * Return: a stream for fclose(3), or NULL with errno.
 */
FILE *stream__open(int fd, const char *mode);

/* What is in a folder, from its start. For closedir(3), or NULL with errno */
DIR *stream__open_folder(int dir_fd);

#endif
