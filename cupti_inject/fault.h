/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUPTI's records of unified memory: they have to be configured, can't be switched on
 * within cuInit(), and aren't switched off again.
 *
 * CUPTI 13.0 has a thread for them, which it waits for when they are disabled; now and
 * then that thread doesn't hear of it, and the call never returns (seen on an H200 when
 * recording was paused every few ms: stuck after some tens of times). So they stay on in
 * a process that has recorded them once, and what is of a pause is left out here.
 */
#ifndef PERF_GPU_INJECT_FAULT_H
#define PERF_GPU_INJECT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_table.h"

/**
 * fault__want - record them, as soon as fault__look() can
 * @time_ns: now
 *
 * Where CUPTI has them on already, they are taken from here on.
 */
void fault__want(uint64_t time_ns);

/* Is there something that fault__look() has to do yet? From any thread. */
bool fault__is_awaited(void);

/* What a refusal of CUPTI's means */
enum fault_try {
	FAULT_TRY_EARLY, /* nothing: there will be another try */
	FAULT_TRY, /* the same, if it says that something isn't ready yet */
	FAULT_TRY_LAST, /* that they are not to be had */
};

/**
 * fault__look - have CUPTI record them, if that is wanted and not done yet
 *
 * From any thread.
 *
 * Return: CUPTI's result if it refuses them, which are not wanted any more then.
 */
CUptiResult fault__look(const struct cupti_table *cupti, enum fault_try try);

/**
 * fault__pause - take none of those that begin from now on
 * @time_ns: now
 */
void fault__pause(uint64_t time_ns);

/* CUPTI has forgotten that they are on: its subscriber has gone, and takes them along. */
void fault__forget(void);

/* Is one that began then to be written? Times of the last 1,000 pauses are known. */
bool fault__is_taken(uint64_t start_ns);

#endif
