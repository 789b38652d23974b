/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --threads=stream: what ran in a stream of a GPU is shown as a thread of the process,
 * with a name ("GPU0 stream 7") and a number that no thread has, at the time when it
 * began there. So tools with a timeline draw a lane for each stream.
 *
 * It begins later than the launch that it comes from, whose stack it has: it is held back
 * until everything before it has been fed.
 *
 * One thread.
 */
#ifndef PERF_GPU_SOURCE_LANES_H
#define PERF_GPU_SOURCE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

/*
 * The first lane's number. Linux has none above 2^22; merge moves those of its parts out
 * of each other's way, and gets so far with hundreds of them at the earliest.
 */
#define LANES_FIRST_TID 2000000000u

struct lanes;

/* What lanes are made for; both must outlive them. */
struct lanes_target {
	struct sink *sink;
	struct machine *machine; /* is told the lanes' names */
	const struct perf_event_attr *attr; /* of the records that the sink is given */
};

/**
 * lanes__new - none yet
 * @ret: released by lanes__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int lanes__new(const struct lanes_target *target, struct lanes **ret);
void lanes__delete(struct lanes *lanes); /* NULL is fine */

/* Does a sample belong to a stream: has it run on a GPU? */
bool lanes__take(const struct gpu_sample *sample);

/**
 * lanes__hold - keep a sample until its time has come
 * @sample:   its labels are there; what frames' names and user_state point to must live
 *            as long as the lanes; all else is copied
 * @start_ns: when it began; counts from the sample's own time on, if it is before
 *
 * Return: 0 or -ENOMEM.
 */
int lanes__hold(struct lanes *lanes, const struct gpu_sample *sample, uint64_t start_ns);

/**
 * lanes__feed - give the sink what began before a time
 * @time_ns: UINT64_MAX for everything
 *
 * Return: 0, -ENOMEM, or what the sink returned; printed.
 */
int lanes__feed(struct lanes *lanes, uint64_t time_ns);

#endif
