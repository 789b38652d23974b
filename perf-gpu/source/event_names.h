/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The leaf frames' names: "[GPU_Kernel]sgemm", each made once. One thread. */
#ifndef PERF_GPU_SOURCE_EVENT_NAMES_H
#define PERF_GPU_SOURCE_EVENT_NAMES_H

#include "join/occurrences.h"
#include "sidecar/sidecar.h"
#include "symbol/demangle.h"

struct event_names {
	void *tree; /* tsearch(3); NULL: none yet */
	/* By event and index in sidecar.shapes: what get() has returned before */
	const char **of_shapes[GPU_LOG_NR_EVENTS];
};

/**
 * event_names__get - the event's leaf, and what it is about
 * @sidecar, @style (of kernels' names): the same at every call
 *
 * Behind the leaf stands the kernel's name, demangled, for gpu-kernel and gpu-queue;
 * that of the API function for gpu-launch; nothing for gpu-idle; and for all others
 * what operation_name__write() says.
 *
 * Return: a text that lives until event_names__release(); NULL without memory.
 */
const char *event_names__get(struct event_names *names, const struct sidecar *sidecar,
			     const struct occurrence *occurrence,
			     enum demangle_style style);

void event_names__release(struct event_names *names);

#endif
