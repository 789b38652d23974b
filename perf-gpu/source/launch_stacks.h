/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of the launch at hand, and what of it an occurrence is shown under. One
 * thread.
 */
#ifndef PERF_GPU_SOURCE_LAUNCH_STACKS_H
#define PERF_GPU_SOURCE_LAUNCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "join/join.h"
#include "perfdata/reader.h"
#include "sidecar/sidecar.h"
#include "source/launches.h"
#include "source/source.h"
#include "source/stack.h"
#include "symbol/machine.h"

struct launch_stacks;

/* What stacks are made of; all of it must outlive them. */
struct launch_stacks_input {
	const struct source_options *options;
	const struct perfdata_reader *reader;
	const struct perfdata_event_desc *launch_event;
	const struct sidecar *sidecar;
	const struct join *join;
	struct machine *machine;
};

/**
 * launch_stacks__new - no stack yet
 * @ret: released by launch_stacks__delete(); written on success only
 *
 * Return: 0, -ENOMEM (not printed), -ENOTSUP (printed) if copied stacks can't be walked.
 */
int launch_stacks__new(const struct launch_stacks_input *input,
		       struct launch_stacks **ret);
void launch_stacks__delete(struct launch_stacks *stacks); /* NULL is fine */

/* Are copied stacks walked here? Else they are left to who reads the output. */
bool launch_stacks__are_unwound(const struct launch_stacks *stacks);
/* Launches whose stack goes on, but wasn't walked */
uint64_t launch_stacks__nr_truncated(const struct launch_stacks *stacks);

/**
 * launch_stacks__take - make the stack of a launch the one at hand
 * @launch:    its copied stack becomes a callchain, if that is to be
 * @is_needed: else it is made only if nodes of graphs were made there
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int launch_stacks__take(struct launch_stacks *stacks, struct launch *launch,
			bool is_needed);

/* Make [unattributed] the one at hand: there is no launch. */
void launch_stacks__take_none(struct launch_stacks *stacks);

/**
 * launch_stacks__of - the stack of something that the launch at hand made the GPU do
 * @activity:  whose node's stack goes below, if it is of a graph; NULL: of none
 * @is_copied: who reads the output walks the stack: it can't go on in another
 *
 * Return: a stack, whose frames[0] is to be filled in, and nothing else; valid until
 * the next call of anything here.
 */
struct stack *launch_stacks__of(struct launch_stacks *stacks,
				const struct sidecar_activity *activity, bool is_copied);

#endif
