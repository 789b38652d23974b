/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernel unified memory moved for: the one that ran on that GPU, of that process,
 * when the migration began. Of several it is the one that began last, and of those that
 * began at once the one that was launched last. If none ran, there is none: the CPU
 * touched the memory.
 *
 * Pure: no I/O, no globals. One thread. O(n log n) for n activities.
 */
#ifndef PERF_GPU_JOIN_FAULTS_H
#define PERF_GPU_JOIN_FAULTS_H

#include <stdbool.h>

#include "sidecar/sidecar.h"

struct faults {
	/* By index in sidecar.activities: the kernel of a migration; NULL: none */
	const struct sidecar_activity **kernels;
};

/* Is it a migration, whose bytes are bytes? Else they are a number of page faults. */
bool faults__is_migration(const struct sidecar_shape *shape);

/**
 * faults__find - find the kernels of all migrations
 * @ret: released by faults__release(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int faults__find(const struct sidecar *sidecar, struct faults *ret);
void faults__release(struct faults *faults);

#endif
