/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPUs that recorded processes have, as their logs say it: by UUID, which also the
 * parts of a GPU (MIG) have, whatever number a process has for it. One thread.
 */
#ifndef PERF_GPU_RECORD_GPU_TABLE_H
#define PERF_GPU_RECORD_GPU_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/* More than a machine has; of more, those that come later are counted alone. */
#define GPU_TABLE_MAX 64

struct gpu_entry {
	uint8_t uuid[16];
	uint64_t nr_logs; /* of processes that have it */
	uint32_t first_number; /* that a process has for it */
	uint64_t nr_renumbered; /* of the logs: they have another number */
};

struct gpu_table {
	struct gpu_entry gpus[GPU_TABLE_MAX];
	size_t nr_gpus;
	uint64_t nr_left_out; /* records of others */
};

/* Take what a log says of a device. One without a UUID is none of these. */
void gpu_table__add(struct gpu_table *table, const struct gpu_log_device *device);

/* Tell the user, if processes number them differently; with -v, of each. */
void gpu_table__tell(const struct gpu_table *table);

#endif
