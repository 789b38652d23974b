/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the GPU did: CUPTI's activity records, into the process's log.
 *
 * CUPTI takes empty buffers from us and gives full ones back, on threads of its
 * own or on one that asks for a flush.
 */
#ifndef PERF_GPU_INJECT_ACTIVITY_H
#define PERF_GPU_INJECT_ACTIVITY_H

#include "cupti_table.h"
#include "log.h"

/**
 * activity__prepare - set clock, thread ids and buffers
 *
 * Call before anything is enabled in CUPTI: the clock doesn't change for what
 * is enabled already. Both pointers are kept. There may be another
 * after activity__drain().
 *
 * Return: CUPTI's result; @ret_what names the function that failed.
 */
CUptiResult activity__prepare(const struct cupti_table *cupti, struct log *log,
			      const char **ret_what);

/*
 * Start and stop the records of kernels. Return: CUPTI's result; after a failed
 * start nothing is recorded.
 */
CUptiResult activity__enable(void);
CUptiResult activity__disable(void);

/* Write what has ended by now. In one thread at a time. */
void activity__flush(void);

/**
 * activity__drain - take out everything, once it is disabled
 * @limit_ms: how long to wait for kernels that still run. One that runs on after that is
 *            lost, and counted.
 */
void activity__drain(unsigned int limit_ms);

#endif
