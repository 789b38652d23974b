/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes plain samples of those with a copied stack (--call-graph dwarf).
 * One thread.
 */
#ifndef PERF_GPU_SOURCE_UNWINDER_H
#define PERF_GPU_SOURCE_UNWINDER_H

#include "perfdata/reader.h"
#include "source/launches.h"
#include "symbol/machine.h"

struct unwinder;

/**
 * unwinder__new - for the samples of one event
 * @reader, @event: of the recording
 * @machine: address spaces as of the sample at hand
 * @ret:     released by unwinder__delete(); all that is given must outlive it. NULL if
 *           the event's samples have no copied stacks. Written on success only.
 *
 * Return: 0; -ENOMEM or -ENOTSUP, printed, if this architecture's stacks can't be
 * walked here.
 */
int unwinder__new(const struct perfdata_reader *reader,
		  const struct perfdata_event_desc *event, const struct machine *machine,
		  struct unwinder **ret);
void unwinder__delete(struct unwinder *unwinder); /* NULL is fine */

/**
 * unwinder__walk - replace a sample's copied stack by the callchain that is in it
 * @sample: its ips and nr_ips are valid until the next call; afterwards it has no
 *          user_state. If there are no registers in that, it has no callchain either.
 *          One without stays as it is: of a merged recording, it was walked before.
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int unwinder__walk(struct unwinder *unwinder, struct launch_sample *sample);

#endif
