/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples, added up by what their line of folded text is, and these lines in order.
 *
 *   stack 0   train;main;step;cudaLaunchKernel      numbers of parts (sink/folded_names.h)
 *   stack 1   train;main;load
 *
 *   (0, [GPU_Kernel]sgemm) 31456 ns,  (0, [GPU_Kernel]add) 832 ns,  (1, ...) ...
 *
 * A stack is kept once, as a sequence of numbers, and found by all of them: a tree would
 * take ten times the memory where no two stacks are the same, and as many look-ups as there
 * are frames. That two lines begin alike is found when they are sorted, from the root on.
 *
 * One thread.
 */
#ifndef PERF_GPU_SINK_FOLDED_STACKS_H
#define PERF_GPU_SINK_FOLDED_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "sink/frame_names.h"
#include "sink/sink.h"

struct folded_stacks;

/**
 * folded_stacks__new - without a sample
 * @names: where names come from; must outlive it
 * @ret:   released by folded_stacks__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, as all below that return an int.
 */
int folded_stacks__new(struct frame_names *names, struct folded_stacks **ret);
void folded_stacks__delete(struct folded_stacks *stacks); /* NULL is fine */

/* @root: the frame over its stack, of class FRAME_CLASS_ROOT */
int folded_stacks__add(struct folded_stacks *stacks, const struct gpu_sample *sample,
		       const struct frame_name *root);

/**
 * folded_line_fn - a line
 * @text:   "train;main;step;cudaLaunchKernel;[GPU_Kernel]sgemm", without a NUL
 * @period: the sum of its samples'
 *
 * Return: 0 to go on, or what folded_stacks__print() is to return.
 */
typedef int folded_line_fn(void *data, const char *text, size_t bytes, uint64_t period);

/*
 * Give out each line once: those that begin with a name stand together, and are sorted by
 * the next, byte by byte. No sample is added from here on.
 */
int folded_stacks__print(struct folded_stacks *stacks, folded_line_fn *print, void *data);

#endif
