/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What records of a log have in common that can belong to a call: GPU_LOG_KERNEL, ACTIVITY,
 * MEMORY and API_CALL. Others, and those that are too short (nothing in a log is trusted),
 * have no key and no time. Pure.
 */
#ifndef PERF_GPU_RECORD_GPU_RECORD_H
#define PERF_GPU_RECORD_GPU_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"

/* Is it one that can belong to a call, and long enough? */
bool gpu_record__has_key(const struct gpu_log_record *record);

/* Its call's correlation id; 0: it belongs to none */
uint64_t gpu_record__key(const struct gpu_log_record *record);

/* CLOCK_MONOTONIC nanoseconds, the same for what takes no time; 0: not known */
uint64_t gpu_record__start_ns(const struct gpu_log_record *record);
uint64_t gpu_record__end_ns(const struct gpu_log_record *record);

#endif
