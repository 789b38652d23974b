/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events a perf.data has that is made of another, and what they look like. */
#ifndef PERF_GPU_SINK_PERFDATA_EVENTS_H
#define PERF_GPU_SINK_PERFDATA_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "perfdata/writer.h"
#include "sink/sink.h"

struct perfdata_events {
	struct perf_event_attr attr; /* of each of our own events */
	uint64_t ids[GPU_LOG_NR_EVENTS]; /* their IDENTIFIERs; 0: not declared */
	uint64_t first_id; /* the first one's: what isn't of an event has it, too */
	bool has_tracepoints; /* among the others */
};

/**
 * perfdata_events__add - declare our own events, then those that are kept
 * @input:      what the file is made of
 * @has_weight: samples of our own events have one
 * @keep_other: keep its events that are neither launches nor side-band
 * @path:       of the file, for messages
 * @ret:        written on success only
 *
 * Return: 0 or a negative errno, printed: -ENOTSUP for an event that can't be
 * beside ours, -ENOMEM.
 */
int perfdata_events__add(struct perfdata_writer *writer, const struct sink_input *input,
			 bool has_weight, bool keep_other, const char *path,
			 struct perfdata_events *ret);

#endif
