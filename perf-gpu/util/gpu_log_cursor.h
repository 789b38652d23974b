/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way to read the bytes of a GPU log (cupti_inject/gpu_log.h), when it is
 * collected and when a recording is read: a record is seen only if all of it is
 * within its block, and a text only if it ends within its record.
 */
#ifndef PERF_GPU_UTIL_GPU_LOG_CURSOR_H
#define PERF_GPU_UTIL_GPU_LOG_CURSOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "gpu_log.h"

/* What a block's crc32 must be. @block is followed by its payload, all of it. */
static inline uint32_t gpu_log_block__crc32(const struct gpu_log_block *block)
{
	const size_t skip = offsetof(struct gpu_log_block, payload_bytes);

	return (uint32_t)crc32_z(0, (const unsigned char *)block + skip,
				 sizeof(*block) - skip + block->payload_bytes);
}

struct gpu_log_cursor {
	const unsigned char *at; /* 8-byte aligned */
	size_t left_bytes;
};

static inline struct gpu_log_cursor gpu_log_cursor__new(const void *payload,
							size_t nr_bytes)
{
	return (struct gpu_log_cursor){.at = payload, .left_bytes = nr_bytes};
}

/* Return: 1 for a record, 0 at the end, -EINVAL if what is left is none. */
static inline int gpu_log_cursor__next(struct gpu_log_cursor *cursor,
				       const struct gpu_log_record **ret)
{
	const struct gpu_log_record *record = (const void *)cursor->at;

	if (!cursor->left_bytes)
		return 0;
	if (cursor->left_bytes < sizeof(*record) || record->size < sizeof(*record) ||
	    record->size % 8 || record->size > cursor->left_bytes)
		return -EINVAL;
	cursor->at += record->size;
	cursor->left_bytes -= record->size;
	*ret = record;
	return 1;
}

/* The text at the end of a record, with its NUL; NULL if the record ends before. */
static inline const char *gpu_log_record__text(const struct gpu_log_record *record,
					       const char *text, uint32_t nr_bytes)
{
	size_t room_bytes = record->size - (size_t)(text - (const char *)record);

	return nr_bytes < room_bytes && !text[nr_bytes] ? text : NULL;
}

#endif
