/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a block (cupti_inject/gpu_log.h), into the sidecar's tables. */
#ifndef PERF_GPU_SIDECAR_RECORDS_H
#define PERF_GPU_SIDECAR_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"
#include "sidecar/sidecar.h"

struct log_string {
	uint32_t id; /* first: key */
	const char *text; /* in the file */
};

/* What must be known of a log to read on in it. */
struct log_reader {
	uint64_t log_id; /* first: key */
	uint32_t log; /* index in sidecar.logs */
	bool has_process; /* had its GPU_LOG_PROCESS */
	bool is_broken;
	struct log_string *strings; /* by id */
	uint32_t nr_strings;
	uint32_t newest_python; /* the newest id of a code */
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
