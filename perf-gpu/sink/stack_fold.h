/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples, added up by stack: a tree of frames from the root to the leaves, where each
 * path is there once.
 *
 *   node 0 python3 ── 1 main ── 2 train ── 3 cudaLaunchKernel ── 4 [GPU_Kernel]sgemm
 *                                     │                   └──── 5 [GPU_Kernel]add
 *                                     └─ 6 cudaMemcpy ───────── 7 [GPU_Memcpy]HtoD
 *
 * Samples end in leaves, which are of one event each: sums never mix two. A node comes
 * behind its parent, so a loop from the last to the first adds children to parents.
 *
 * Memory grows with distinct stacks, not with samples. A stack that was there a short
 * while ago is recognized as a whole, without a look at each frame.
 *
 * One thread.
 */
#ifndef PERF_GPU_SINK_STACK_FOLD_H
#define PERF_GPU_SINK_STACK_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "sink/frame_names.h"
#include "sink/sink.h"

#define STACK_FOLD_NO_NODE  UINT32_MAX
#define STACK_FOLD_NO_EVENT UINT32_MAX

struct stack_node {
	const struct frame_name *name;
	uint32_t parent; /* STACK_FOLD_NO_NODE: it is a root */
	uint32_t depth; /* 0: a root */
	uint32_t event; /* of a leaf: enum gpu_log_event; else STACK_FOLD_NO_EVENT */
	uint64_t nr, period; /* of the samples that end here: how many, and their sum */
};

struct stack_fold;

/**
 * stack_fold__new - without a stack
 * @names: where names come from; must outlive it
 * @ret:   released by stack_fold__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, as all below that return an int.
 */
int stack_fold__new(struct frame_names *names, struct stack_fold **ret);
void stack_fold__delete(struct stack_fold *fold); /* NULL is fine */

/**
 * stack_fold__add - add a sample
 * @root:     put over its stack: the process, for example; NULL: nothing
 * @ret_node: the leaf that it ends in; may be NULL
 */
int stack_fold__add(struct stack_fold *fold, const struct gpu_sample *sample,
		    const struct frame_name *root, uint32_t *ret_node);

/**
 * stack_fold__stack - the node that a sample's stack without its leaf ends in
 * @ret_node: STACK_FOLD_NO_NODE, if it has none but the leaf, and no root
 *
 * Nothing is added up.
 */
int stack_fold__stack(struct stack_fold *fold, const struct gpu_sample *sample,
		      const struct frame_name *root, uint32_t *ret_node);

/**
 * stack_fold__child - go down from a node, or make what isn't there
 * @event: as struct stack_node has it
 * @node:  in: the parent, or STACK_FOLD_NO_NODE; out: its child, on success only
 *
 * With the next one, for trees that aren't made of samples.
 */
int stack_fold__child(struct stack_fold *fold, const struct frame_name *name,
		      uint32_t event, uint32_t *node);

/* Count @nr samples, which come to @period, as ended in a node. */
void stack_fold__count(struct stack_fold *fold, uint32_t node, uint64_t nr,
		       uint64_t period);

/* As given to stack_fold__new() */
const struct frame_names *stack_fold__names(const struct stack_fold *fold);

/* How many nodes there are, and the one with a number below that (until the next add). */
size_t stack_fold__nr(const struct stack_fold *fold);
const struct stack_node *stack_fold__node(const struct stack_fold *fold, uint32_t node);

#endif
