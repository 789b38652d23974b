/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorded calls are: those that put work on the GPU are launches, others wait or
 * allocate. Samples have the function's id alone; what it does stands in the logs. One
 * thread.
 */
#ifndef PERF_GPU_RECORD_CALL_COUNTS_H
#define PERF_GPU_RECORD_CALL_COUNTS_H

#include <stdint.h>

#define CALL_COUNTS_DOMAINS 4
#define CALL_COUNTS_CBIDS   2048

/* All 0 is empty. */
struct call_counts {
	/* By domain and id of GPU_LOG_API_ID(), which processes make up if they like */
	uint64_t nr_calls[CALL_COUNTS_DOMAINS][CALL_COUNTS_CBIDS];
	uint64_t nr_others; /* of functions that are neither */
};

/* GPU_LOG_KIND_BIT()s by function, of whichever log tells first; 0: not known */
struct call_kinds {
	uint32_t kinds[CALL_COUNTS_DOMAINS][CALL_COUNTS_CBIDS];
};

/* Sums of calls, in the order in which they are told */
enum call_class {
	CALL_LAUNCH,
	CALL_WAIT,
	CALL_MEMORY,
	CALL_UNKNOWN,
	CALL_NR_CLASSES,
};

struct call_sums {
	uint64_t nr[CALL_NR_CLASSES];
};

/* A call more. @api: GPU_LOG_API_ID(); 0 of a probe on a launching function */
void call_counts__add(struct call_counts *counts, uint32_t api);

void call_kinds__set(struct call_kinds *all, uint32_t api, uint32_t kinds);

/**
 * call_counts__sum - what the calls were
 * @events: GPU_LOG_EVENT_BIT()s that were asked for: if they are about launches alone, so
 *          are calls of functions that no log tells of
 */
struct call_sums call_counts__sum(const struct call_counts *counts,
				  const struct call_kinds *kinds, uint32_t events);

#endif
