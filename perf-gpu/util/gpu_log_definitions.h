/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a GPU log (cupti_inject/gpu_log.h) has once and means to its end. Each file of
 * record --switch-output begins with what was defined before; merging those files, it is to
 * be there once again.
 */
#ifndef PERF_GPU_UTIL_GPU_LOG_DEFINITIONS_H
#define PERF_GPU_UTIL_GPU_LOG_DEFINITIONS_H

#include <stdbool.h>

#include "gpu_log.h"

/*
 * Does a later part of the log need the record? So for what this version doesn't know; of
 * NVTX, for beginnings, as long as nothing has ended them. @record: of any size
 */
bool gpu_log_record__is_definition(const struct gpu_log_record *record);

#endif
