/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVTX ranges and marks in a timeline. One thread. */
#ifndef PERF_GPU_SINK_TIMELINE_NVTX_H
#define PERF_GPU_SINK_TIMELINE_NVTX_H

#include <stdint.h>

#include "sidecar/sidecar.h"
#include "sink/timeline.h"
#include "sink/timeline_tracks.h"

struct timeline_nvtx_input {
	const struct sidecar *sidecar;
	const uint32_t *pids; /* by log: as the recorder saw it */
	const struct timeline_writer_ops *ops;
	void *writer;
	struct timeline_tracks *tracks;
	int (*find_process)(void *data, uint32_t pid, uint32_t *ret_track);
	void *data; /* the above's */
};

/**
 * timeline_nvtx__add - write them all
 *
 * A pop that has no push is left out, and so is the end of a range whose start isn't there.
 * What nothing ends is open to the end.
 *
 * Return: 0 or a negative errno, printed.
 */
int timeline_nvtx__add(const struct timeline_nvtx_input *input);

#endif
