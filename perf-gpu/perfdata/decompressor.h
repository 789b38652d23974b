/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records that COMPRESSED records hold. One thread. */
#ifndef PERF_GPU_PERFDATA_DECOMPRESSOR_H
#define PERF_GPU_PERFDATA_DECOMPRESSOR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decompressor;

/* Gets each record, whole, 8-byte aligned; not 0 ends it. */
typedef int decompressed_fn(void *ctx, const struct perf_event_header *record);

/**
 * decompressor__new - begin
 * @path:       for messages; kept by reference
 * @file_bytes: of the file that it all comes from, by which what comes out is bounded
 * @ret:        released by decompressor__delete(); written on success only
 *
 * Return: 0, or printed, -ENOMEM, -ENOTSUP without libzstd.
 */
int decompressor__new(const char *path, uint64_t file_bytes, decompressed_fn *take,
		      void *ctx, struct decompressor **ret);
void decompressor__delete(struct decompressor *decompressor); /* NULL is fine */

/**
 * decompressor__feed - what the next COMPRESSED record holds
 *
 * Return: 0; what @take returned; printed, -EINVAL for what perf hasn't compressed, -ENOTSUP
 * for what bursts, or takes too much memory.
 */
int decompressor__feed(struct decompressor *decompressor, const void *data, size_t bytes);

/* Is the last record there in part? NULL is fine. */
bool decompressor__is_within_record(const struct decompressor *decompressor);

#endif
