/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two stacks of a graph's kernel in one: that by which its node was made, below
 * that by which the graph was launched.
 *
 *   [GPU_Kernel]k  cudaLaunchKernel  f  main  [CUDA graph]  cudaGraphLaunch  g  main
 *   leaf           └─── made ──────────────┘                └─── launch ──────────┘
 */
#ifndef PERF_GPU_SOURCE_GRAPH_STACK_H
#define PERF_GPU_SOURCE_GRAPH_STACK_H

#include <stddef.h>

#include "source/stack.h"

/* perf shows no more entries of a callchain (PERF_MAX_STACK_DEPTH). */
#define GRAPH_STACK_MAX_FRAMES 127

/**
 * graph_stack__join - put one stack below the other
 * @launch:  of the graph's launch
 * @made:    frames by which the node was made, leaf first, without the kernel's
 * @nr_made: 0: not known, which a frame then says
 * @ret:     filled in whole; frames[0] is left for the kernel
 *
 * If it came to more than GRAPH_STACK_MAX_FRAMES, outermost frames of @made are left
 * out: those that @launch has too, and if that is not enough, more of them, which a
 * frame then says.
 */
void graph_stack__join(const struct stack *launch, const struct gpu_frame *made,
		       size_t nr_made, struct stack *ret);

/* The same without the launch's frames. */
void graph_stack__made(const struct gpu_frame *made, size_t nr_made, struct stack *ret);

#endif
