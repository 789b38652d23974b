/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples of pprof's format are told apart by, beside their stacks. One thread. */
#ifndef PERF_GPU_SINK_PPROF_LABELS_H
#define PERF_GPU_SINK_PPROF_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "sink/frame_names.h"
#include "util/hash_index.h"

/* The labels of a sample; a number below 0: it has no such label */
struct pprof_labels {
	int64_t device, stream, rank;
	uint32_t pid, tid;
	const struct frame_name *process; /* name */
	const struct frame_name *nvtx; /* NULL: none */
};

/* All that are different. All 0: none. */
struct pprof_label_sets {
	struct pprof_labels *items;
	size_t nr, nr_allocated;
	struct hash_index index;
};

/**
 * pprof_label_sets__of - the number of a sample's labels, which are added if they are new
 * @names: has the names in them
 *
 * Return: 0 or -ENOMEM.
 */
int pprof_label_sets__of(struct pprof_label_sets *sets, struct frame_names *names,
			 const struct gpu_sample *sample, uint32_t *ret);

void pprof_label_sets__release(struct pprof_label_sets *sets);

#endif
