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
#include "sidecar/sidecar.h"
#include "symbol/symbol_files.h"

struct launches;

/* What is needed of a launch's sample; small, since there are millions. */
struct launch_sample {
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	/* As perfdata_sample has them; in what was read */
	const uint64_t *ips;
	uint64_t nr_ips;
	const void *user_state;
	size_t user_state_bytes;
};

struct launch {
	struct launch_sample sample;
	struct launch_event event; /* log_id 0: a hit of no call that is known */
	bool is_hit; /* of a probe on the API function's entry */
	bool is_earlier; /* it is of before the file: for its GPU records alone */
	uint64_t chain; /* callchains__number() of the sample's; 0: it doesn't matter */
};

/**
 * launches__new - find the events that are launches
 * @reader: must outlive it
 * @path:   of what is read, for messages
 * @place:  where the recorded machine's files are
 * @ret:    released by launches__delete(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int launches__new(struct perfdata_reader *reader, const char *path,
		  const struct symbol_place *place, struct launches **ret);
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
 * launches__time - when a launch was
 * @event: index of the sample's event, of one that is of launches
 *
 * Return: 0 or a negative errno if the sample is broken.
 */
int launches__time(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   uint64_t *ret_time_ns);

/**
 * launches__look - what a launch's sample says by itself
 * @event: as above
 * @ret:   without what only time can tell; written on success only
 *
 * Any thread. Return: 0 or a negative errno if it is broken.
 */
int launches__look(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   struct launch *ret);

/**
 * launches__note - take note of a launch, the first time that it is read
 * @launch: of launches__look()
 * @join:   is told of a marker's launch at once
 *
 * Return: 0 or -ENOMEM.
 */
int launches__note(struct launches *launches, const struct launch *launch,
		   struct join *join);

/**
 * launches__settle - tell the join of the calls that were hit, once all hits are noted
 *
 * Return: 0 or, printed, -ENOMEM, or -EINVAL if hits can't be of the sidecar's calls.
 */
int launches__settle(const struct launches *launches, struct join *join);

/* What is known of a launch by now: of a hit, which call it is of */
void launches__resolve(const struct launches *launches, struct launch *launch);

/* The same sample again, resolved. 0 or a negative errno. */
int launches__read(const struct launches *launches,
		   const struct perf_event_header *record, size_t event,
		   struct launch *ret);

#endif
