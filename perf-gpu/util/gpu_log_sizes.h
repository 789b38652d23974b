/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the records of a GPU log (cupti_inject/gpu_log.h) are at least: who looks at
 * what a record has asks this first.
 */
#ifndef PERF_GPU_UTIL_GPU_LOG_SIZES_H
#define PERF_GPU_UTIL_GPU_LOG_SIZES_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu_log.h"

/*
 * With what every version of the format has. Of a type that this version doesn't know, the
 * head alone.
 */
size_t gpu_log_least_bytes(unsigned int type);

/* Has the record all that its type has? Texts behind it have ends of their own. */
static inline bool gpu_log_record__is_whole(const struct gpu_log_record *record)
{
	return record->size >= gpu_log_least_bytes(record->type);
}

#endif
