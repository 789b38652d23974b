/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUPTI's names of API functions. Its own list, cuptiGetCallbackName() of every id, has
 * those of later versions too. Stateless; any thread.
 */
#ifndef PERF_GPU_INJECT_API_NAME_H
#define PERF_GPU_INJECT_API_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Callback ids that are asked for: a later CUPTI has more than our header. */
#define API_MAX_CBIDS 2048

/* Does it put work of the program's own on the GPU? */
bool api_name__is_launch(const char *name);

/*
 * As programs know it: cudaLaunchKernel_v7000 and __cudaLaunchKernel_v13000 are
 * cudaLaunchKernel; cuMemAlloc_v2 is itself.
 */
void api_name__public(const char *name, char *ret, size_t size);

#endif
