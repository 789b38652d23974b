/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What perf record -z has compressed: one zstd stream, cut into records. Without libzstd
 * each says so. One thread.
 */
#ifndef PERF_GPU_PERFDATA_ZSTD_STREAM_H
#define PERF_GPU_PERFDATA_ZSTD_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct zstd_stream;

/**
 * zstd_stream__new - begin
 * @path:         for messages; kept by reference
 * @packed_bytes: of the file. A small one gets less memory: 32 MB, not 128, for what
 *                perf record -z 21 and 22 alone would use.
 * @ret:          released by zstd_stream__delete(); written on success only
 *
 * Return: 0, or printed, -ENOMEM, -ENOTSUP without libzstd.
 */
int zstd_stream__new(const char *path, uint64_t packed_bytes, struct zstd_stream **ret);
void zstd_stream__delete(struct zstd_stream *stream); /* NULL is fine */

/* Gets what was compressed, piece by piece; not 0 ends it. */
typedef int zstd_take_fn(void *ctx, const void *data, size_t bytes);

/**
 * zstd_stream__feed - decompress the next bytes of the stream
 *
 * Return: 0; what @take returned; printed, -EINVAL for what zstd hasn't made, -ENOTSUP
 * for what takes too much memory.
 */
int zstd_stream__feed(struct zstd_stream *stream, const void *data, size_t bytes,
		      zstd_take_fn *take, void *ctx);

#endif
