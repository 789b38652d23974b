/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a block (cupti_inject/gpu_log.h), into the sidecar's tables. */
#ifndef PERF_GPU_SIDECAR_RECORDS_H
#define PERF_GPU_SIDECAR_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"
#include "sidecar/sidecar.h"

/* What must be known of a log to read on in it. */
struct log_reader {
	uint64_t log_id; /* first: key */
	uint32_t log; /* index in sidecar.logs */
	bool has_process; /* had its GPU_LOG_PROCESS */
	bool is_broken;
	const char **strings; /* by id - 1 */
	uint32_t nr_strings;
	uint32_t *shapes; /* indexes in sidecar.shapes by id - 1 */
	uint32_t nr_shapes;
	uint32_t nr_pythons; /* the newest id of a code */
};

void log_reader__delete(struct log_reader *log); /* NULL is fine */

/**
 * log_reader__take_block - read all records of a block
 * @sidecar: gets what they say
 * @log:     of whose log the block is; NULL: the recorder's own
 * @block:   whole, followed by its payload
 *
 * Return: 0, -ENOMEM, or -EINVAL if a record breaks the format; what precedes it
 * has been read. Prints nothing.
 */
int log_reader__take_block(struct log_reader *log, struct sidecar *sidecar,
			   const struct gpu_log_block *block);

#endif
