/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single values out of /proc and /sys. */
#ifndef PERF_GPU_UTIL_PROC_H
#define PERF_GPU_UTIL_PROC_H

#include <stddef.h>
#include <sys/types.h>

/**
 * proc__read_line - the first line of a file, without its newline
 * @ret: at least @size bytes, cut to that; written on success only
 *
 * Return: 0 or a negative errno: -ENODATA for an empty file.
 */
int proc__read_line(const char *path, char *ret, size_t size);

/**
 * proc__read_value - what follows "KEY:", or "KEY<blanks>:", in a file of such lines
 * @key: without the colon
 * @ret: without blanks before it; at least @size bytes, cut to that; written on
 *       success only
 *
 * Return: 0 or a negative errno: -ENODATA if no line has the key.
 */
int proc__read_value(const char *path, const char *key, char *ret, size_t size);

/**
 * proc__read_environment - a variable that a process was executed with
 * @ret: at least @size bytes, cut to that; written on success only
 *
 * What the program does to its environment isn't seen. Return: 0 or a negative errno:
 * -ENODATA if it isn't set, or the process is a zombie; -EACCES if it may not be looked at.
 */
int proc__read_environment(pid_t pid, const char *name, char *ret, size_t size);

#endif
