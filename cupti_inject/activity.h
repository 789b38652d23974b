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

/* What activity__enable() could not do: GPU_LOG_KIND_BIT()s */
struct activity_refusal {
	uint32_t kinds; /* that CUPTI refuses to record */
	CUptiResult result; /* for the first of them */
	uint32_t unknown_kinds; /* that this CUPTI is too old for */
};

/**
 * activity__enable - start recording what the GPU does
 * @kinds:       GPU_LOG_KIND_BIT()s; those that are no activity of CUPTI's are passed over
 * @ret_refusal: no kinds if all are recorded
 *
 * FAULT is never refused here: see activity__enable_late().
 *
 * Return: GPU_LOG_KIND_BIT()s of those that are recorded from here on.
 */
uint32_t activity__enable(uint32_t kinds, struct activity_refusal *ret_refusal);

/**
 * activity__enable_late - start what couldn't be started within cuInit()
 * @is_last:     there is no other try: that the driver isn't initialized is a refusal, too
 * @ret_refusal: no kinds if all are recorded, or will be by another try
 *
 * From any thread.
 */
void activity__enable_late(bool is_last, struct activity_refusal *ret_refusal);

/* The same, where a refusal means nothing yet. From within CUPTI's callbacks, too. */
void activity__enable_early(void);

/* Stop what was started. Faults may go on in CUPTI, but are not written. */
void activity__disable(void);

/* Write what has ended by now. In one thread at a time. */
void activity__flush(void);

/**
 * activity__drain - take out everything, once it is disabled
 * @limit_ms: how long to wait for what still runs. What runs on after that is lost, and counted.
 */
void activity__drain(unsigned int limit_ms);

#endif
