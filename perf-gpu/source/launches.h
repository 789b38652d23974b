/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which samples of a perf.data are launches, and of what:
 *
 *   marker     the sample says the key of the join: perf-gpu record
 *   probe hit  it says nothing, and is joined by thread and time with the sidecar's
 *              API calls: perf-gpu record --probe api, or perf's own probes
 *              (probe_events.h)
 *
 * One thread.
 */
#ifndef PERF_GPU_SOURCE_LAUNCHES_H
#define PERF_GPU_SOURCE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/join.h"
#include "launch_event.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "sidecar/sidecar.h"

struct launches;

/* A launch's sample */
struct launch {
	struct perfdata_sample sample;
	struct launch_event event; /* log_id 0: a hit of no call that is known */
	bool is_hit; /* of a probe on the API function's entry */
};

/**
 * launches__new - find the events that are launches
 * @reader: must outlive it
 * @path:   of what is read, for messages
 * @symfs:  where the recorded machine's files are; NULL: in /
 * @ret:    released by launches__delete(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int launches__new(struct perfdata_reader *reader, const char *path, const char *symfs,
		  struct launches **ret);
void launches__delete(struct launches *launches); /* NULL is fine */

/**
 * launches__set_sidecar - what hits are joined with; must outlive it
 * @path: of the sidecar, for messages; kept by reference
 *
 * Return: 0; -EINVAL, printed, if it is of another recording; -ENOMEM.
 */
int launches__set_sidecar(struct launches *launches, const struct sidecar *sidecar,
			  const char *path);

/* One for each of the reader's events: is it of launches? */
const bool *launches__events(const struct launches *launches);
/* The first of those that are */
const struct perfdata_event_desc *launches__event(const struct launches *launches);

/**
 * launches__note - take note of a launch's sample, the first time that it is read
 * @event: its index, of one that is of launches
 * @join:  is told of a marker's launch at once
 * @ret_time_ns: the sample's
 *
 * Return: 0 or a negative errno if it is broken.
 */
int launches__note(struct launches *launches, const struct perf_event_header *record,
		   size_t event, struct join *join, uint64_t *ret_time_ns);

/**
 * launches__settle - tell the join of the calls that were hit, once all hits are noted
 *
 * Return: 0, or -EINVAL, printed, if hits can't be of the sidecar's calls.
 */
int launches__settle(const struct launches *launches, struct join *join);

/* The same sample again, and what is known of it by now. 0 or a negative errno. */
int launches__read(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   struct launch *ret);

#endif
