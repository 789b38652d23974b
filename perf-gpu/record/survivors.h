/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that outlive the command: known by the environment that they were executed with,
 * which names the spool. One thread.
 */
#ifndef PERF_GPU_RECORD_SURVIVORS_H
#define PERF_GPU_RECORD_SURVIVORS_H

#include <stdint.h>

#include "record/spool.h"

/* All 0 is none. */
struct survivors {
	uint64_t nr_processes;
	uint32_t pid; /* of one of them */
	char comm[16]; /* its name; "": it was gone */
};

/*
 * Those that run now, whether they use CUDA or not: all that have the spool in their
 * environment, as far as the recorder may read that. Reads /proc once.
 */
struct survivors survivors__find(const struct spool *spool);

/* Tell of them, once the recording is there; nothing if there are none. */
void survivors__print(const struct survivors *survivors);

#endif
