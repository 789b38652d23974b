/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening libraries by absolute paths alone. The dynamic linker looks into the current
 * folder where LD_LIBRARY_PATH has an empty or relative element, as in
 * "/usr/local/cuda/lib64:$LD_LIBRARY_PATH" where that was not set: what lies there is not to
 * become code of the process because it is recorded. Any thread.
 */
#ifndef PERF_GPU_INJECT_LIBRARY_H
#define PERF_GPU_INJECT_LIBRARY_H

#include <stdbool.h>

/* dlopen(3) with RTLD_NOW and RTLD_LOCAL. NULL if that fails, or the path is relative. */
void *library__open(const char *path);

typedef bool library_try_fn(void *ctx, const char *path);

/**
 * library__search - try the files that the dynamic linker would find for a name
 * @name: "libcupti.so.13": in the absolute folders of LD_LIBRARY_PATH, in ld.so.cache, and
 *        where libraries are by default
 * @try_it: called with a path that is absolute, with @ctx; true ends the search
 *
 * Return: whether it was ended.
 */
bool library__search(const char *name, library_try_fn *try_it, void *ctx);

#endif
