/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUPTI's names of API functions. Its own list, cuptiGetCallbackName() of every id, has
 * those of later versions too. Stateless; any thread.
 */
#ifndef PERF_GPU_INJECT_API_NAME_H
#define PERF_GPU_INJECT_API_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callback ids that are asked for: a later CUPTI has more than our header. */
#define API_MAX_CBIDS 2048

/**
 * api_name__kinds - what a function gives records of
 * @name: CUPTI's
 *
 * Return: GPU_LOG_KIND_BIT()s: the kinds whose records are of this function's calls, and
 * so have their stacks. Of a function that puts work on the GPU, CALL too.
 */
uint32_t api_name__kinds(const char *name);

/**
 * api_name__is_wanted - are a function's calls to be recorded with their stacks?
 * @events: GPU_LOG_EVENT_BIT()s that were asked for
 * @kinds:  GPU_LOG_KIND_BIT()s that they are made of
 *
 * Of what puts work on the GPU, all calls are for gpu-launch, those of launches for
 * gpu-queue; else those whose records are of these kinds.
 */
bool api_name__is_wanted(const char *name, uint32_t events, uint32_t kinds);

/*
 * As programs know it: cudaLaunchKernel_v7000 and __cudaLaunchKernel_v13000 are
 * cudaLaunchKernel; cuMemAlloc_v2 is itself.
 */
void api_name__public(const char *name, char *ret, size_t size);

#endif
