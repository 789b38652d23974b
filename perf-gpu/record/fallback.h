/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes on the API for processes that can't tell of launches themselves: those that say so,
 * since another profiler has CUPTI there, and those that our library doesn't get into, since
 * their environment has another one in its place, or none. Beside the marker of all others,
 * and set when there is such a process. One thread.
 */
#ifndef PERF_GPU_RECORD_FALLBACK_H
#define PERF_GPU_RECORD_FALLBACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/output.h"
#include "record/probe.h"

struct fallback;

struct fallback_config {
	struct probe_facts facts; /* of the marker's probe */
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that are wanted of the GPU */
	struct output *output; /* that hits go to; kept by reference */
	size_t nr_pages; /* of each CPU's ring; 0: fitting */
};

/**
 * fallback__new - nothing is probed yet
 * @config: copied
 * @ret:    released by fallback__close(); written on success only
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int fallback__new(const struct fallback_config *config, struct fallback **ret);

/**
 * fallback__add - probe a process, until it ends or executes another program
 * @pid:        as the recorder sees it
 * @global_pid: as the kernel's initial namespace does
 *
 * Return: 0, or a negative errno, printed once.
 */
int fallback__add(struct fallback *fallback, pid_t pid, uint32_t global_pid);

/**
 * fallback__look - does a process that the carrier's side-band tells of lack our library?
 * @event:   any record; that libcuda is mapped tells
 * @library: that should be in the process
 *
 * If so it is probed, from then on; or fallback__tell() has why not.
 */
void fallback__look(struct fallback *fallback, const struct perf_event_header *event,
		    const char *library);

/* Whether calls are recorded from now on, also of processes that come later; at first, yes */
void fallback__turn(struct fallback *fallback, bool on);

/* Tell the user of processes without our library, and of those that aren't recorded. */
void fallback__tell(const struct fallback *fallback);

/* Hand over what there is. Return: 0, or a negative errno of writing it, printed. */
int fallback__drain(struct fallback *fallback);

void fallback__detach(struct fallback *fallback);

/* Launches that found no room; and records of mappings, of any process */
uint64_t fallback__nr_lost_ring(const struct fallback *fallback);
uint64_t fallback__nr_lost_sideband(const struct fallback *fallback);

void fallback__close(struct fallback *fallback); /* NULL is fine */

#endif
