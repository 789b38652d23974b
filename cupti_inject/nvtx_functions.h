/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our implementations of NVTX's functions: each follows what the program says, and calls
 * the next tool's, whose answer is the program's. From any thread.
 */
#ifndef PERF_GPU_INJECT_NVTX_FUNCTIONS_H
#define PERF_GPU_INJECT_NVTX_FUNCTIONS_H

#include <stdatomic.h>

#include "nvtx_abi.h"

/* By their places in NVTX's tables; NULL: we have none. */
extern nvtx_function *const nvtx_functions_core[NVTX_ABI_CORE_SIZE];
extern nvtx_function *const nvtx_functions_core2[NVTX_ABI_CORE2_SIZE];

/*
 * The next tool's; NULL: it has none. Set before a function of ours is put into a
 * table; the same for all copies of NVTX, since ours can't tell which has called.
 */
extern _Atomic(nvtx_function *) nvtx_functions_next_core[NVTX_ABI_CORE_SIZE];
extern _Atomic(nvtx_function *) nvtx_functions_next_core2[NVTX_ABI_CORE2_SIZE];

/* Follow this process from here on: else calls are handed on, and that is all. Once. */
void nvtx_functions__follow(void);

#endif
