/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of what made the nodes of CUDA graphs, for what runs of them:
 * --graph-stacks.
 *
 * Samples are fed in time order, and a node is made before it runs: its stack is there
 * by then, if it was recorded at all. One thread.
 */
#ifndef PERF_GPU_SOURCE_NODE_STACKS_H
#define PERF_GPU_SOURCE_NODE_STACKS_H

#include <stdint.h>
#include <sys/types.h>

#include "sidecar/sidecar.h"
#include "source/stack.h"
#include "symbol/machine.h"

/* Which stack what ran of a graph is shown under. */
enum graph_stacks {
	GRAPH_STACKS_BOTH, /* where its node was made, below where it was launched */
	GRAPH_STACKS_LAUNCH,
	GRAPH_STACKS_CAPTURE, /* where its node was made */
};

struct node_stacks;

/**
 * node_stacks__new - no stacks yet
 * @sidecar: must outlive it
 * @mode:    what node_stacks__of() gives
 * @ret:     released by node_stacks__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int node_stacks__new(const struct sidecar *sidecar, enum graph_stacks mode,
		     struct node_stacks **ret);
void node_stacks__delete(struct node_stacks *stacks); /* NULL is fine */

/**
 * node_stacks__wants - is the stack of a sample needed?
 * @log: index in sidecar.logs
 * @api, @key: the sample's, as in struct launch_event
 *
 * Return: what node_stacks__add() takes, or a negative number if it isn't.
 */
ssize_t node_stacks__wants(const struct node_stacks *stacks, uint32_t log, uint32_t api,
			   uint64_t key);

/**
 * node_stacks__add - keep the stack of a sample, if the program is in it
 * @maker:   of node_stacks__wants()
 * @machine: address spaces as of the sample
 * @pid:     whose
 *
 * Return: 0 or -ENOMEM.
 */
int node_stacks__add(struct node_stacks *stacks, ssize_t maker, const struct stack *stack,
		     const struct machine *machine, uint32_t pid);

/**
 * node_stacks__of - the stack to show an activity under
 * @launch:  of its launch, whatever that was
 * @machine: address spaces as of the launch
 *
 * Return: @launch, or one that is valid until the next call.
 */
struct stack *node_stacks__of(struct node_stacks *stacks,
			      const struct sidecar_activity *activity,
			      struct stack *launch, const struct machine *machine);

#endif
