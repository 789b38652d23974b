/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block in memory that records gather in until they are written (block_file.h). It may be
 * in memory that the recorder has, too (log_memory.h), who reads it when the process is gone,
 * wherever in the code that was: what is in it by then is said by stores that come last.
 */
#ifndef PERF_GPU_INJECT_BLOCK_H
#define PERF_GPU_INJECT_BLOCK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/* A payload that the reader must take whole, and a tenth of a second of kernels */
#define BLOCK_PAYLOAD_BYTES (256u << 10)

struct block {
	uint64_t
		sequence; /* of its file's blocks, from 1, in the order they are filled */
	uint32_t whole_bytes; /* of the payload: of records that are filled in */
	uint32_t pad;
	struct gpu_log_block header; /* payload_bytes: how much is used */
	unsigned char payload[BLOCK_PAYLOAD_BYTES];
};

_Static_assert(offsetof(struct block, payload) == 48, "shared with the recorder");

/* Make it an empty block of a log. */
void block__init(struct block *block, uint64_t session, uint64_t log_id);

/**
 * block__reserve - room for a record
 * @size: of the record, header included; rounded up to a multiple of 8
 *
 * Return: the record with its header filled in and the rest 0; NULL if the block
 * hasn't the room.
 */
void *block__reserve(struct block *block, enum gpu_log_type type, size_t size);

/* All records that there was room for are filled in. */
static inline void block__settle(struct block *block)
{
	__atomic_store_n(&block->whole_bytes, block->header.payload_bytes,
			 __ATOMIC_RELEASE);
}

/* Without its records; what it is, and its sequence, stay. */
static inline void block__empty(struct block *block)
{
	__atomic_store_n(&block->whole_bytes, 0, __ATOMIC_RELEASE);
	block->header.payload_bytes = 0;
}

/* The record after another one, or the first after NULL; NULL: there is none. */
const struct gpu_log_record *block__next(const struct block *block,
					 const struct gpu_log_record *record);

#endif
