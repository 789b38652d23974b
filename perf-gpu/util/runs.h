/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Elements that stand almost in the order of a key, handed out in that order, without a
 * table of them all: what is kept are the runs in which they are in order.
 *
 *   keys   1 4 5 9 | 2 3 6 | 7 8 10 11 ...
 *          └─ run ─┘ └run┘   └─ run ──
 *
 *	runs__add(&runs, key, place)      for each, place by place
 *	runs_walk__begin(&walk, &runs, next, data)
 *	while (runs_walk__next(&walk, &key, &place))
 *		...                       by key; equal keys by place
 *
 * The runs that the walk is in at once are merged by a heap. In a recording, whose rings are
 * read one after the other, these are as many as there were CPUs; elements in no order at
 * all take 12 bytes each. One thread.
 */
#ifndef PERF_GPU_UTIL_RUNS_H
#define PERF_GPU_UTIL_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run {
	uint64_t key; /* of the element at first */
	uint64_t first, last; /* places */
};

/* All 0: without an element. */
struct runs {
	struct run *items;
	size_t nr, nr_allocated;
	uint64_t last_key;
	bool is_closed; /* the next element begins a run in any case */
};

/* Add the element at a place, which is behind all others'. Return: 0 or -ENOMEM. */
int runs__add(struct runs *runs, uint64_t key, uint64_t place);

/* The element that is added next can't be reached from the one before. */
static inline void runs__close(struct runs *runs)
{
	runs->is_closed = true;
}

void runs__release(struct runs *runs);

/**
 * runs_next_fn - from an element to the next that was added
 * @data:  of runs_walk__begin()
 * @place: in: of an element that isn't the last of its run; out: of the one behind it
 *
 * Return: the key of that one. If @place is left as it is, the run ends there: what is
 * read has changed meanwhile.
 */
typedef uint64_t runs_next_fn(void *data, uint64_t *place);

struct runs_walk {
	const struct run *run, *end; /* those that haven't begun */
	struct run
		*heap; /* those that have, from where they are; the least is the first */
	size_t nr;
	bool is_taken; /* the first's element was handed out */
	runs_next_fn *next;
	void *data;
};

/**
 * runs_walk__begin - before the first element
 * @runs: put in order; must outlive the walk, and get no element more
 * @next: is called for elements in this order, and for none twice
 *
 * Return: 0 or -ENOMEM.
 */
int runs_walk__begin(struct runs_walk *walk, struct runs *runs, runs_next_fn *next,
		     void *data);

/* The next element; false: there is none more. */
bool runs_walk__next(struct runs_walk *walk, uint64_t *ret_key, uint64_t *ret_place);

void runs_walk__end(struct runs_walk *walk); /* of all 0 is fine */

#endif
