/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the nodes of CUDA graphs come from that are kernels, copies or memsets: CUPTI tells of each that is made or
 * copied, within the API call that does it. What was captured has the stack of the
 * launch that it was captured from; only for a node that is added through the graph API
 * a stack is walked. Launching a graph costs nothing more.
 *
 * All functions may be called from any thread.
 */
#ifndef PERF_GPU_INJECT_GRAPH_H
#define PERF_GPU_INJECT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_table.h"
#include "log.h"

/* What an API function does; of those whose callbacks are switched on. */
enum api_kind {
	API_OTHER, /* switched off */
	API_LAUNCH, /* puts work on the GPU, or, captured, into a graph */
	API_STACK, /* puts none there, but its calls' stacks are recorded as well */
	API_GRAPH_ADD, /* a node to a graph */
	API_GRAPH_COPY, /* all nodes of a graph */
	API_GRAPH_INSTANTIATE, /* likewise, to be executed */
	API_GRAPH_UPDATE, /* an executable graph, by another graph */
	API_ID, /* nothing: we have called it for its correlation id */
};

/* The call that a thread is in: the outermost, of the functions above. */
struct api_call {
	uint32_t api; /* GPU_LOG_API_ID(); 0: it is in none */
	enum api_kind kind;
	uint64_t correlation_id; /* widened */
};

/* The nodes that were made in a call so far, of all types; for instantiations */
struct graph_copies {
	uint64_t *nodes;
	size_t nr, nr_allocated;
};

/* By CUPTI's name of a function; API_OTHER if it makes no nodes of those kinds. */
enum api_kind graph__kind_of(const char *name, uint32_t kinds);

/**
 * graph__enable - switch the callbacks of nodes on or off
 * @log:   kept; is told whether it will be told of nodes
 * @kinds: GPU_LOG_KIND_BIT()s: the nodes that the log is told of
 */
void graph__enable(const struct cupti_table *cupti, CUpti_SubscriberHandle subscriber,
		   struct log *log, uint32_t kinds, bool on);

/**
 * graph__on_resource - a callback of CUPTI's resource domain
 * @call, @copies: of the call that the calling thread is in
 */
void graph__on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData *data,
			const struct api_call *call, struct graph_copies *copies);

/**
 * graph__end_instantiation - the call has made all its nodes
 *
 * Kernels of child graphs are recorded as nodes of the graph around them, with numbers
 * that go on behind its own nodes, one child after the other (CUPTI 13.0); callbacks
 * tell of them as nodes of graphs of their own. The log gets what has both.
 */
void graph__end_instantiation(struct graph_copies *copies);

#endif
