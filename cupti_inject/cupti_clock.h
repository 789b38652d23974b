/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The times in CUPTI's records, as CLOCK_MONOTONIC.
 *
 * From CUDA 11.6 on CUPTI asks us for the time, and nothing is to be done. Before, it has
 * a clock of its own (CLOCK_REALTIME): its distance is measured at every buffer, and holds
 * for the records in it. Durations are right; where on the time line something stands is
 * off by as much as the system's clock was set since the record was made.
 *
 * From any thread.
 */
#ifndef PERF_GPU_INJECT_CUPTI_CLOCK_H
#define PERF_GPU_INJECT_CUPTI_CLOCK_H

#include "cupti_table.h"

/* CLOCK_MONOTONIC */
uint64_t cupti_clock__now(void);

/* Before anything is enabled in CUPTI. Return: its result; @ret_what names the function. */
CUptiResult cupti_clock__begin(const struct cupti_table *cupti, const char **ret_what);

/* Measure the distance, if there is one. */
void cupti_clock__measure(void);

/* A record's time; 0 stays 0. */
uint64_t cupti_clock__convert(uint64_t time_ns);

#endif
