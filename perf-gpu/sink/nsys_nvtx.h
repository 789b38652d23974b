/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVTX_EVENTS of perf-gpu export --sqlite. One thread. */
#ifndef PERF_GPU_SINK_NSYS_NVTX_H
#define PERF_GPU_SINK_NSYS_NVTX_H

#include <stdint.h>

#include "sidecar/sidecar.h"
#include "sink/nsys_database.h"

struct nsys_nvtx_input {
	const struct sidecar *sidecar;
	const uint32_t *pids; /* by log: as the recorder saw it */
	struct nsys_database *database;
	int (*find_string)(void *data, const char *text, int64_t *ret_id);
	void *data; /* the above's */
};

/**
 * nsys_nvtx__add - write all ranges and marks
 *
 * What nothing ends has no end; an end without a begin is left out.
 *
 * Return: 0 or a negative errno, printed.
 */
int nsys_nvtx__add(const struct nsys_nvtx_input *input);

#endif
