/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples can be labelled with, and --label. Stateless; any thread. */
#ifndef PERF_GPU_SOURCE_LABEL_LIST_H
#define PERF_GPU_SOURCE_LABEL_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum label {
	LABEL_DEVICE, /* [device 0]: the GPU, by its number in the whole recording */
	LABEL_STREAM, /* [stream 7] */
	LABEL_CONTEXT, /* [context 1] */
	LABEL_GRAPH, /* [graph 12]: a CUDA graph */
	LABEL_NVTX, /* [nvtx domain:name], one for each range that is open */
	LABEL_RANK, /* [rank 3]: of the process, in its job */
	NR_LABELS,
};

/* Those that frames are to be made of, from the root of stacks to their leaves */
struct label_list {
	enum label items[NR_LABELS];
	size_t nr;
	bool is_at_root; /* else just above the leaf */
};

/**
 * label_list__parse - the argument of --label
 * @text: names with commas between: device, stream, context, graph, nvtx, rank
 * @ret:  its items and their number; written on success only
 *
 * Return: 0, or -EINVAL with the reason printed.
 */
int label_list__parse(const char *text, struct label_list *ret);

/* Is it one of the list's? */
bool label_list__has(const struct label_list *list, enum label label);

#endif
