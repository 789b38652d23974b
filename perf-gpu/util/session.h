/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what the parts of a recording know each other (cupti_inject/gpu_log.h) */
#ifndef PERF_GPU_UTIL_SESSION_H
#define PERF_GPU_UTIL_SESSION_H

#include <stdint.h>

/* Random, so that another recording's isn't taken for it; never 0. 0 or a negative errno, printed. */
int session__make(uint64_t *ret);

#endif
