/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that are recorded and shown: their names, and -e. Stateless; any thread. */
#ifndef PERF_GPU_UTIL_GPU_EVENTS_H
#define PERF_GPU_UTIL_GPU_EVENTS_H

#include <stdint.h>

#include "gpu_log.h"

struct gpu_event {
	const char *name; /* of -e, and of the event in perf.data */
	const char *leaf; /* what a sample's leaf frame begins with */
	const char *unit; /* of its period: "ns" or "bytes" */
	const char *help; /* for perf-gpu list */
};

/* By enum gpu_log_event */
extern const struct gpu_event gpu_events[GPU_LOG_NR_EVENTS];

/**
 * gpu_events__parse - the value of -e
 * @text: names with commas between: gpu-kernel,gpu-idle; +NAME and -NAME change what was
 *        asked for before, as in -F; "all" is every event
 * @ret:  the default before; GPU_LOG_EVENT_BIT()s, at least one; written on success only
 *
 * Return: 0 or -EINVAL, printed with the names that there are.
 */
int gpu_events__parse(const char *text, uint32_t *ret);

#endif
