/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which allocations were freed again. An allocation and what frees it belong together
 * by process and address: the free is the next thing that happens there. Memory that is
 * allocated where other memory lies was freed before, by a call that isn't known.
 *
 * Variables of modules are no leaks: there is no call that could free them.
 *
 * Pure: no I/O, no globals. One thread. O(n log n) for n records.
 */
#ifndef PERF_GPU_JOIN_LEAKS_H
#define PERF_GPU_JOIN_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sidecar/sidecar.h"

struct leaks {
	bool *is_leak; /* by index in sidecar.activities */
	uint64_t nr_leaks;
	uint64_t nr_unknown_frees; /* of memory that was allocated before recording */
};

/**
 * leaks__find - match allocations and frees
 * @ret: released by leaks__release(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int leaks__find(const struct sidecar *sidecar, struct leaks *ret);
void leaks__release(struct leaks *leaks);

#endif
