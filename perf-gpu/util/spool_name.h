/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the folder is named that a recorder has beside its perf.data while it is at it: that
 * file's name, SPOOL_NAME_INFIX and six characters. One that did not finish leaves it.
 */
#ifndef PERF_GPU_UTIL_SPOOL_NAME_H
#define PERF_GPU_UTIL_SPOOL_NAME_H

#include <limits.h>
#include <stdbool.h>

#define SPOOL_NAME_INFIX  ".gpu.spool."
#define SPOOL_NAME_SUFFIX SPOOL_NAME_INFIX "XXXXXX"

/**
 * spool_name__split - the folder that a perf.data is in, be that there or not
 * @ret_folder: room for PATH_MAX
 * @ret_name:   its name there, within @path
 */
void spool_name__split(const char *path, char ret_folder[PATH_MAX],
		       const char **ret_name);

/* Is it that of such a folder of the perf.data that is called @data_name? */
bool spool_name__is_of(const char *name, const char *data_name);

/* Is there such a folder, whosesoever it is? Nothing is printed. */
bool spool_name__is_beside(const char *path);

#endif
