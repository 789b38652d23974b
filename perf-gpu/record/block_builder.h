/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes blocks of a sidecar (cupti_inject/gpu_log.h) of single records, which the
 * recorder has kept, changed or left out some of. One thread.
 */
#ifndef PERF_GPU_RECORD_BLOCK_BUILDER_H
#define PERF_GPU_RECORD_BLOCK_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "record/collection.h"

#define BLOCK_BUILDER_BYTES (256u << 10)

struct block_builder {
	struct collection *to;
	uint64_t session;
	uint64_t nr_counted; /* records that are counted when they are lost */
	struct {
		struct gpu_log_block header; /* log_id 0: nothing is begun */
		unsigned char payload[BLOCK_BUILDER_BYTES];
	} block;
};

/* Append a record, of at most 64 KiB. 0 or a negative errno, printed. */
int block_builder__add(struct block_builder *builder, uint64_t log_id,
		       const struct gpu_log_record *record);

/* Write what there is, before anything else goes there. 0 or a negative errno, printed. */
int block_builder__flush(struct block_builder *builder);

#endif
