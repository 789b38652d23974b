/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of API functions by their key (log, correlation id). Of calls within each
 * other, as the runtime's and the driver's are, the outermost counts: it is the one
 * that the program made.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_CALLS_H
#define PERF_GPU_JOIN_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "sidecar/sidecar.h"

struct calls {
	const struct sidecar_api_call **items; /* in order of their keys, each key once */
	size_t nr;
};

/**
 * calls__init - put a sidecar's calls in order
 * @sidecar: must outlive them
 * @ret:     released by calls__release(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int calls__init(const struct sidecar *sidecar, struct calls *ret);
void calls__release(struct calls *calls);

/* The call of that key; NULL if there is none. */
const struct sidecar_api_call *calls__find(const struct calls *calls, uint32_t log,
					   uint64_t correlation_id);

#endif
