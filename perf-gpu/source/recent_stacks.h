/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that were made of callchains a short while ago: a program launches from the same
 * few places over and over, and to tell which frames of a callchain are shown takes a look
 * at each. Each has an id, by which sinks recognize it without a look at its frames.
 *
 * There is room for some thousands; where callchains of the same hash come, the oldest has
 * to go. One thread.
 */
#ifndef PERF_GPU_SOURCE_RECENT_STACKS_H
#define PERF_GPU_SOURCE_RECENT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/stack.h"
#include "symbol/machine.h"

struct recent_stacks;

/* What a stack depends on beside the machine; all of it is compared. */
struct recent_key {
	uint64_t epoch; /* machine__nr_map_changes() */
	uint64_t chain; /* callchains__number(); 0: not known, and so no key's equal */
	int32_t log; /* negative: not known; else the one that the API's number is of */
	uint32_t api;
	uint32_t pid;
	bool is_hit, has_user_state;
};

/* None yet. 0 or -ENOMEM; released by recent_stacks__delete(), which takes NULL, too. */
int recent_stacks__new(struct recent_stacks **ret);
void recent_stacks__delete(struct recent_stacks *recent);

/**
 * recent_stacks__find - a key's stack
 *
 * Return: the stack that is kept, whose first frame may be written to, and nothing else;
 * valid until the next add. NULL if it isn't known.
 */
struct stack *recent_stacks__find(struct recent_stacks *recent,
				  const struct recent_key *key);

/**
 * recent_stacks__add - keep what find() is to know from now on
 * @key, @stack: copied; the stack's id is given here
 *
 * Return: as find(); NULL without memory, and then it isn't known.
 */
struct stack *recent_stacks__add(struct recent_stacks *recent,
				 const struct recent_key *key, const struct stack *stack);

#endif
