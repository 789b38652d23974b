/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the parts of perf-gpu are, relative to the running program: it works
 * from the build tree, when installed, and when the installed tree was moved.
 */
#ifndef PERF_GPU_UTIL_PATHS_H
#define PERF_GPU_UTIL_PATHS_H

#include <limits.h>

/**
 * paths__find_libdir - the folder of libperf-gpu-inject.so and libunwind.so.8
 * @ret_path: absolute; written on success only
 *
 * Looked for in lib/perf-gpu/ beside the program (the build tree), then in
 * ../lib/perf-gpu/ (installed).
 *
 * Return: 0, or a negative errno, printed with what to do.
 */
int paths__find_libdir(char ret_path[PATH_MAX]);

/**
 * paths__find_man_page - the file of one of our manual pages of section 1
 * @name:     "perf-gpu-record"
 * @ret_path: absolute; written on success only
 *
 * Return: 0, or -ENOENT, not printed: man may still know the page.
 */
int paths__find_man_page(const char *name, char ret_path[PATH_MAX]);

#endif
