// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/runs.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

int runs__add(struct runs *runs, uint64_t key, uint64_t place)
{
	if (runs->nr && !runs->is_closed && key >= runs->last_key) {
		runs->items[runs->nr - 1].last = place;
		runs->last_key = key;
		return 0;
	}
	if (array__grow(&runs->items, runs->nr, &runs->nr_allocated,
			sizeof(*runs->items)))
		return -ENOMEM;
	runs->items[runs->nr++] = (struct run){.key = key, .first = place, .last = place};
	runs->last_key = key;
	runs->is_closed = false;
	return 0;
}

void runs__release(struct runs *runs)
{
	free(runs->items);
	*runs = (struct runs){0};
}

static bool is_before(const struct run *a, const struct run *b)
{
	return a->key != b->key ? a->key < b->key : a->first < b->first;
}

static int compare_runs(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

int runs_walk__begin(struct runs_walk *walk, struct runs *runs, runs_next_fn *next,
		     void *data)
{
	bool is_sorted = true;

	for (size_t i = 1; i < runs->nr && is_sorted; i++)
		is_sorted = is_before(&runs->items[i - 1], &runs->items[i]);
	if (!is_sorted)
		qsort(runs->items, runs->nr, sizeof(*runs->items), compare_runs);
	*walk = (struct runs_walk){
		.run = runs->items,
		.end = runs->items + runs->nr,
		.next = next,
		.data = data,
		/* Room for all, of which as much is touched as is needed */
		.heap = malloc((runs->nr + 1) * sizeof(*walk->heap)),
	};
	return walk->heap ? 0 : -ENOMEM;
}

/* Put the first where it belongs, after its key has grown. */
static void sift_down(struct runs_walk *walk)
{
	struct run *heap = walk->heap, moved = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < walk->nr) {
		if (child + 1 < walk->nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void add(struct runs_walk *walk, const struct run *run)
{
	struct run *heap = walk->heap;
	size_t at = walk->nr++;

	for (; at && is_before(run, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = *run;
}

/* From the first's element, which was handed out, to the one behind it */
static void advance(struct runs_walk *walk)
{
	struct run *first = &walk->heap[0];
	uint64_t place = first->first;

	walk->is_taken = false;
	if (place < first->last)
		first->key = walk->next(walk->data, &first->first);
	if (first->first == place)
		*first = walk->heap[--walk->nr];
	if (walk->nr > 1)
		sift_down(walk);
}

bool runs_walk__next(struct runs_walk *walk, uint64_t *ret_key, uint64_t *ret_place)
{
	if (walk->is_taken)
		advance(walk);
	while (walk->run < walk->end &&
	       (!walk->nr || is_before(walk->run, &walk->heap[0])))
		add(walk, walk->run++);
	if (!walk->nr)
		return false;
	walk->is_taken = true;
	*ret_key = walk->heap[0].key;
	*ret_place = walk->heap[0].first;
	return true;
}

void runs_walk__end(struct runs_walk *walk)
{
	free(walk->heap);
	*walk = (struct runs_walk){0};
}
