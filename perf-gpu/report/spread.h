/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How values are spread: their number, sum, mean, median, extremes and standard
 * deviation, all of them exact, without keeping each value.
 *
 * What is kept is how often each distinct value was there, sorted, as pairs of
 * variable-length numbers (distance to the value before, how often), and behind that a
 * hash table of values that came since the last time these were put in order:
 *
 *   bytes     | 736 ×12 | +32 ×7 | +1 ×190 | ...        pending   832 → 3, 769 → 1, ...
 *
 * Durations of a kernel repeat, so that is a few bytes for each that is new; ten million
 * that all differ take some 40 MB.
 *
 * One thread.
 */
#ifndef PERF_GPU_REPORT_SPREAD_H
#define PERF_GPU_REPORT_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value_count {
	uint64_t value, nr; /* nr 0: a free slot */
};

/* All 0: of no value. Fields from pending on are private. */
struct spread {
	uint64_t nr, sum; /* never wrap around: UINT64_MAX is "too many" */
	uint64_t min, max; /* 0 if there is no value */
	unsigned __int128 squares; /* sum of the values' squares; likewise */
	struct value_count *pending;
	size_t nr_slots, nr_pending; /* slots: a power of two, or 0 */
	uint8_t *bytes;
	size_t nr_bytes;
	size_t nr_distinct; /* in bytes */
};

/* A value that may lie in the middle of two others. */
struct half {
	uint64_t whole;
	bool is_half; /* and 1/2 more */
};

/* Add a value. 0 or -ENOMEM. */
int spread__add(struct spread *spread, uint64_t value);
void spread__release(struct spread *spread);

/**
 * spread__median - the value in the middle; of an even number, the mean of the two
 * @ret: 0 if there is no value; written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int spread__median(struct spread *spread, struct half *ret);

/* 0 if there is no value */
double spread__mean(const struct spread *spread);

/* Of a sample (by nr - 1), as nsys has it; 0 of less than two values */
double spread__deviation(const struct spread *spread);

#endif
