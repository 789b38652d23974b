/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in a file the kernel is to put a uprobe. One thread. */
#ifndef PERF_GPU_RECORD_MARKER_OFFSET_H
#define PERF_GPU_RECORD_MARKER_OFFSET_H

#include <stdint.h>

/**
 * marker_offset__find - the offset in a shared library of an exported function
 * @path:   of the library
 * @symbol: in its .dynsym
 * @ret:    offset in the file of the function's first byte; written on success
 *
 * Return: 0 or a negative errno: those of open(2), -EINVAL not an ELF file,
 * -ENOENT no such function. Prints nothing.
 */
int marker_offset__find(const char *path, const char *symbol, uint64_t *ret);

/**
 * marker_offset__find_own - the same of a function of the running program
 * @function: its address
 *
 * Return: 0, or -ENOENT if no file is mapped there from the program's segments.
 */
int marker_offset__find_own(const void *function, uint64_t *ret);

#endif
