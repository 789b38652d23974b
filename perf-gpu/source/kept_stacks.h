/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that are shown later than they were taken: of what made the nodes of graphs.
 *
 * A library can be unloaded until then, and another be in its place: a frame whose
 * address means something else by now is given by the name that it had.
 *
 * Equal stacks are kept once: programs capture the same graphs over and over. One
 * thread.
 */
#ifndef PERF_GPU_SOURCE_KEPT_STACKS_H
#define PERF_GPU_SOURCE_KEPT_STACKS_H

#include <stdint.h>

#include "source/stack.h"
#include "symbol/machine.h"

struct kept_stacks {
	void *tree; /* tsearch(3); NULL: none yet */
};

struct kept_stack;

/**
 * kept_stacks__add - keep a stack, but for its first frame, the kernel's
 * @machine: address spaces as of now
 * @pid:     whose stack it is
 * @ret:     lives until kept_stacks__release(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int kept_stacks__add(struct kept_stacks *stacks, const struct stack *stack,
		     const struct machine *machine, uint32_t pid,
		     struct kept_stack **ret);

/**
 * kept_stack__frames - the frames, to be shown now
 * @machine: the one of kept_stacks__add(), some records later
 * @ret:     room for STACK_MAX_FRAMES; names live as long as the machine
 *
 * Return: how many there are.
 */
size_t kept_stack__frames(struct kept_stack *kept, const struct machine *machine,
			  struct gpu_frame *ret);

void kept_stacks__release(struct kept_stacks *stacks);

#endif
