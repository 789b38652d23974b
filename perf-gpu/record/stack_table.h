/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a launch log, by their ids: those that a launch may still refer to
 * (GPU_LOG_STACK_REACH), so that memory doesn't grow with the log. One thread.
 */
#ifndef PERF_GPU_RECORD_STACK_TABLE_H
#define PERF_GPU_RECORD_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "launch_event.h"

/*
 * Ids count from 1, but some stacks can be missing. If more are, up to an id, it isn't
 * the library's.
 */
#define STACK_TABLE_MAX_MISSING (1u << 20)

/* Stacks that were written one after the other; all 0 is empty. */
struct stack_generation {
	struct launch_frames **by_id; /* [0] is the one of first_id */
	size_t nr_ids, nr_allocated;
	size_t nr_stacks;
	uint32_t first_id;
	uint64_t nr_bytes; /* of their records */
	struct stack_chunk *chunks; /* the memory of the stacks */
};

/*
 * The old one is forgotten when the young one is as large as the reach of launches.
 * All 0 is empty.
 */
struct stack_table {
	struct stack_generation young, old;
};

/**
 * stack_table__add - make a place for a stack
 * @id:        larger than all before
 * @nr_frames: at most LAUNCH_MAX_FRAMES
 * @ret:       to be filled in, all but nr_frames; lives up to the next call; written
 *             on success only
 *
 * Return: 0, -EINVAL for an id that can't be, -ENOMEM.
 */
int stack_table__add(struct stack_table *table, uint32_t id, uint32_t nr_frames,
		     struct launch_frames **ret);

/* NULL if there is none; lives up to the next stack_table__add(). */
struct launch_frames *stack_table__find(const struct stack_table *table, uint32_t id);

void stack_table__release(struct stack_table *table);

#endif
