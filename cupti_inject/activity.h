/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the GPU did: CUPTI's activity records, into the process's log.
 *
 * CUPTI takes empty buffers from us and gives full ones back, on threads of its
 * own or on one that asks for a flush; a thread of ours asks for one every
 * second, so that a kill loses at most a second of completed work.
 */
#ifndef PERF_GPU_INJECT_ACTIVITY_H
#define PERF_GPU_INJECT_ACTIVITY_H

#include "cupti_table.h"
#include "log.h"

/**
 * activity__prepare - set clock, thread ids and buffers
 *
 * Call before anything is enabled in CUPTI: the clock doesn't change for what
 * is enabled already. Both pointers are kept.
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

/* Start the thread that flushes. 0 or a negative errno. */
int activity__start_flushing(void);

/*
 * At the end of the process: stop the thread, and take out everything, also what
 * hasn't ended. A kernel that is still running is lost, and counted.
 */
void activity__end(void);

#endif
