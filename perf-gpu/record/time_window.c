// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nearly all entries come in order, and cost a place in a ring. An entry of the heap
 * is younger than all of the ring that have its time: those came before, since after
 * it the ring took in later ones only.
 */
#include "record/time_window.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

#define FIRST_ENTRIES 64

static int ring__grow(struct time_window *window)
{
	size_t capacity =
		window->ring_capacity ? 2 * window->ring_capacity : FIRST_ENTRIES;
	struct time_entry *ring = reallocarray(NULL, capacity, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < window->nr_ring; i++)
		ring[i] = window->ring[(window->first + i) & (window->ring_capacity - 1)];
	free(window->ring);
	window->ring = ring;
	window->ring_capacity = capacity;
	window->first = 0;
	return 0;
}

static struct time_entry *ring__at(const struct time_window *window, size_t i)
{
	return &window->ring[(window->first + i) & (window->ring_capacity - 1)];
}

static bool is_before(const struct time_entry *a, const struct time_entry *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns
					: a->sequence < b->sequence;
}

static int heap__push(struct time_window *window, const struct time_entry *entry)
{
	size_t at = window->nr_heap;
	int err = array__grow(&window->heap, at, &window->heap_capacity, sizeof(*entry));

	if (err)
		return err;
	window->nr_heap++;
	for (; at && is_before(entry, &window->heap[(at - 1) / 2]); at = (at - 1) / 2)
		window->heap[at] = window->heap[(at - 1) / 2];
	window->heap[at] = *entry;
	return 0;
}

static void heap__pop(struct time_window *window, struct time_entry *ret)
{
	struct time_entry *heap = window->heap, last;
	size_t at = 0, child;

	*ret = heap[0];
	last = heap[--window->nr_heap];
	while ((child = 2 * at + 1) < window->nr_heap) {
		if (child + 1 < window->nr_heap &&
		    is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
}

int time_window__push(struct time_window *window, const struct time_entry *entry)
{
	struct time_entry copy = *entry;
	int err;

	copy.sequence = window->sequence++;
	if (window->nr_ring &&
	    entry->time_ns < ring__at(window, window->nr_ring - 1)->time_ns)
		return heap__push(window, &copy);
	if (window->nr_ring == window->ring_capacity) {
		err = ring__grow(window);
		if (err)
			return err;
	}
	*ring__at(window, window->nr_ring++) = copy;
	return 0;
}

bool time_window__pop(struct time_window *window, struct time_entry *ret)
{
	if (window->nr_heap && (!window->nr_ring ||
				window->heap[0].time_ns < ring__at(window, 0)->time_ns)) {
		heap__pop(window, ret);
		return true;
	}
	if (!window->nr_ring)
		return false;
	*ret = *ring__at(window, 0);
	window->first++;
	window->nr_ring--;
	return true;
}

void time_window__release(struct time_window *window)
{
	free(window->ring);
	free(window->heap);
	*window = (struct time_window){};
}
