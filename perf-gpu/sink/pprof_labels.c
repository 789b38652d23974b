// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/pprof_labels.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/array.h"

static bool is_same(const struct pprof_labels *a, const struct pprof_labels *b)
{
	return a->device == b->device && a->stream == b->stream && a->rank == b->rank &&
	       a->pid == b->pid && a->tid == b->tid && a->process == b->process &&
	       a->nvtx == b->nvtx;
}

static uint64_t hash_of(const struct pprof_labels *labels)
{
	uint64_t hash = hash__mix((uint64_t)labels->device, (uint64_t)labels->stream);

	hash = hash__mix(hash, (uint64_t)labels->rank);
	hash = hash__mix(hash, (uint64_t)labels->pid << 32 | labels->tid);
	return hash__mix(hash, (uintptr_t)labels->process ^ (uintptr_t)labels->nvtx);
}

static int find(struct pprof_label_sets *sets, const struct pprof_labels *labels,
		uint32_t *ret)
{
	uint64_t hash = hash_of(labels);
	struct hash_cursor cursor = hash_index__find(&sets->index, hash);

	while (hash_index__next(&sets->index, &cursor, ret))
		if (is_same(&sets->items[*ret], labels))
			return 0;
	if (array__grow(&sets->items, sets->nr, &sets->nr_allocated,
			sizeof(*sets->items)) ||
	    hash_index__add(&sets->index, hash, (uint32_t)sets->nr))
		return -ENOMEM;
	*ret = (uint32_t)sets->nr;
	sets->items[sets->nr++] = *labels;
	return 0;
}

int pprof_label_sets__of(struct pprof_label_sets *sets, struct frame_names *names,
			 const struct gpu_sample *sample, uint32_t *ret)
{
	struct pprof_labels labels = {
		.device = sample->labels->device,
		.stream = sample->labels->stream,
		.rank = sample->labels->rank,
		.pid = sample->pid,
		.tid = sample->tid,
	};

	if (frame_names__comm(names, sample, &labels.process))
		return -ENOMEM;
	if (sample->labels->nvtx && frame_names__get(names, sample->labels->nvtx, NULL,
						     FRAME_CLASS_LABEL, &labels.nvtx))
		return -ENOMEM;
	return find(sets, &labels, ret);
}

void pprof_label_sets__release(struct pprof_label_sets *sets)
{
	free(sets->items);
	hash_index__release(&sets->index);
	*sets = (struct pprof_label_sets){};
}
