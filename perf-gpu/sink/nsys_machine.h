/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf-gpu export --sqlite tells of GPUs, processes and clocks. One thread. */
#ifndef PERF_GPU_SINK_NSYS_MACHINE_H
#define PERF_GPU_SINK_NSYS_MACHINE_H

#include <stdint.h>

#include "join/devices.h"
#include "sidecar/sidecar.h"
#include "sink/nsys_database.h"
#include "symbol/machine.h"

struct nsys_machine_input {
	const struct sidecar *sidecar;
	const struct machine *machine;
	const struct devices *devices;
	const uint32_t *pids; /* by log: as the recorder saw it */
	struct nsys_database *database;
	/* What is in the database is between these times of CLOCK_MONOTONIC. */
	uint64_t first_ns, last_ns;
};

/**
 * nsys_machine__add - write the rows of GPUs, processes and clocks
 *
 * Return: 0 or a negative errno, printed.
 */
int nsys_machine__add(const struct nsys_machine_input *input);

/* The number of a log's device in all tables; -1: it isn't known */
int64_t nsys_machine__device(const struct devices *devices, uint32_t log,
			     uint32_t device);

#endif
