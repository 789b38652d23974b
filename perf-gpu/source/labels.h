/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What samples are labelled with: frames in their stacks (--label), and the values that
 * script prints in a line with them (-F +device,...).
 *
 *	--label rank,nvtx               --label rank,nvtx --label-at root
 *	[GPU_Kernel]k                   [GPU_Kernel]k
 *	[nvtx inner]                    cudaLaunchKernel
 *	[nvtx outer]                    f
 *	[rank 3]                        main
 *	cudaLaunchKernel                [nvtx inner]
 *	f                               [nvtx outer]
 *	main                            [rank 3]
 *
 * A label that a sample has nothing for has no frame: [graph 12] is there of kernels of
 * graphs alone. Of a stack that gets too long for perf the outermost frames of the
 * program go, and [truncated] takes their place.
 *
 * NVTX ranges are those that were open when the launch was made, of its thread and its
 * process.
 *
 * One thread.
 */
#ifndef PERF_GPU_SOURCE_LABELS_H
#define PERF_GPU_SOURCE_LABELS_H

#include <stdint.h>

#include "join/devices.h"
#include "join/occurrences.h"
#include "sidecar/sidecar.h"
#include "sink/sink.h"
#include "source/label_list.h"
#include "source/stack.h"

/* Of more NVTX ranges than these, the innermost are shown. */
#define LABELS_MAX_NVTX 64

struct labels;

/* Whose labels */
struct labels_query {
	const struct occurrence *occurrence;
	uint32_t pid, tid; /* of the launch, as the recorder saw them; 0: there is none */
	uint64_t time_ns; /* of the launch */
};

/**
 * labels__new - of a recording
 * @sidecar: must outlive them
 * @devices: likewise
 * @list:    what frames are made of; kept by reference
 * @ret:     released by labels__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int labels__new(const struct sidecar *sidecar, const struct devices *devices,
		const struct label_list *list, struct labels **ret);
void labels__delete(struct labels *labels); /* NULL is fine */

/**
 * labels__find - the values of a sample
 * @query: its time not before that of the query before, if it has a launch
 * @ret:   valid until the next call
 *
 * Return: 0 or -ENOMEM.
 */
int labels__find(struct labels *labels, const struct labels_query *query,
		 const struct gpu_labels **ret);

/**
 * labels__add_frames - put the labels that were found last into a stack
 * @stack: left alone; its frames[0] is the leaf
 * @ret:   @stack, if there is nothing to add, or one that is valid until the next call
 *
 * Return: 0 or -ENOMEM. The frames' names live as long as @labels.
 */
int labels__add_frames(struct labels *labels, const struct stack *stack,
		       const struct stack **ret);

/* Samples whose thread's NVTX ranges aren't known, it being in another pid namespace */
uint64_t labels__nr_unknown_threads(const struct labels *labels);

#endif
