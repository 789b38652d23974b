/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts in order what is nearly so: entries are taken in as they come, and given out
 * by time; those of one time as they came. How many are held between the two is the
 * caller's to say: one that comes later than so many others is given out late. One
 * thread.
 */
#ifndef PERF_GPU_RECORD_TIME_WINDOW_H
#define PERF_GPU_RECORD_TIME_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_entry {
	uint64_t time_ns;
	uint64_t sequence; /* the window's own */
	/* the caller's */
	uint64_t correlation_id;
	void *what;
	uint32_t kind;
	uint32_t cpu;
	uint32_t stack;
	uint32_t pad;
};

/* All 0 is empty. */
struct time_window {
	/* A ring, of a power of two, of those that came in order ... */
	struct time_entry *ring;
	size_t ring_capacity, first, nr_ring;
	/* ... and a heap of those that came later than a younger one */
	struct time_entry *heap;
	size_t heap_capacity, nr_heap;
	uint64_t sequence;
};

static inline size_t time_window__nr(const struct time_window *window)
{
	return window->nr_ring + window->nr_heap;
}

/* Take one in; its sequence is set here. Return: 0 or -ENOMEM. */
int time_window__push(struct time_window *window, const struct time_entry *entry);

/* Give out the earliest. Return: whether there was one. */
bool time_window__pop(struct time_window *window, struct time_entry *ret);

void time_window__release(struct time_window *window);

#endif
