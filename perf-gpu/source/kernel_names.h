/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels' names as they are shown, each made once. One thread. */
#ifndef PERF_GPU_SOURCE_KERNEL_NAMES_H
#define PERF_GPU_SOURCE_KERNEL_NAMES_H

#include "symbol/demangle.h"

struct kernel_names {
	void *tree; /* tsearch(3); NULL: none yet */
};

/**
 * kernel_names__get - "[GPU_Kernel]" and the demangled name
 * @mangled: as the sidecar has it, "" if not known; kept by reference
 * @style:   the same at every call
 *
 * Return: a text that lives until kernel_names__release(); NULL without memory.
 */
const char *kernel_names__get(struct kernel_names *names, const char *mangled,
			      enum demangle_style style);

void kernel_names__release(struct kernel_names *names);

#endif
