// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/zstd_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "util/log.h"

#ifdef HAVE_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

/* zstd's memory is twice its window, at most: up to level 20, and all levels */
#define WINDOW_LOG	 25
#define LARGE_WINDOW_LOG 27
/* From here on the larger window is little beside the file. */
#define LARGE_FILE_BYTES (16ull << 20)

struct zstd_stream {
	const char *path;
	ZSTD_DStream *zstd;
	size_t buffer_bytes;
	unsigned char buffer[]; /* what comes out */
};

int zstd_stream__new(const char *path, uint64_t packed_bytes, struct zstd_stream **ret)
{
	const size_t buffer_bytes = ZSTD_DStreamOutSize();
	struct zstd_stream *stream = malloc(sizeof(*stream) + buffer_bytes);
	int window_log = packed_bytes < LARGE_FILE_BYTES ? WINDOW_LOG : LARGE_WINDOW_LOG;

	if (!stream)
		goto no_memory;
	*stream = (struct zstd_stream){
		.path = path, .zstd = ZSTD_createDStream(), .buffer_bytes = buffer_bytes};
	if (!stream->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(
				     stream->zstd, ZSTD_d_windowLogMax, window_log)))
		goto no_memory;
	*ret = stream;
	return 0;
no_memory:
	pr_err("no memory to read %s", path);
	zstd_stream__delete(stream);
	return -ENOMEM;
}

void zstd_stream__delete(struct zstd_stream *stream)
{
	if (!stream)
		return;
	ZSTD_freeDStream(stream->zstd);
	free(stream);
}

static int tell_error(const struct zstd_stream *stream, size_t result)
{
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		pr_err("%s was compressed so that it takes more memory than its size is "
		       "worth: record with -z 20 or less",
		       stream->path);
		return -ENOTSUP;
	case ZSTD_error_memory_allocation:
		pr_err("no memory to read %s", stream->path);
		return -ENOMEM;
	default:
		pr_err("%s is broken: what is compressed in it can't be decompressed "
		       "(%s); record it again",
		       stream->path, ZSTD_getErrorName(result));
		return -EINVAL;
	}
}

int zstd_stream__feed(struct zstd_stream *stream, const void *data, size_t bytes,
		      zstd_take_fn *take, void *ctx)
{
	ZSTD_inBuffer in = {.src = data, .size = bytes};
	ZSTD_outBuffer out = {.dst = stream->buffer, .size = stream->buffer_bytes};
	int err = 0;

	/* A full buffer: there may be more to come of what it has read already. */
	while ((in.pos < in.size || out.pos == out.size) && !err) {
		size_t result;

		out.pos = 0;
		result = ZSTD_decompressStream(stream->zstd, &out, &in);
		if (ZSTD_isError(result))
			return tell_error(stream, result);
		if (out.pos)
			err = take(ctx, stream->buffer, out.pos);
	}
	return err;
}

#else

int zstd_stream__new(const char *path, uint64_t packed_bytes, struct zstd_stream **ret)
{
	(void)packed_bytes;
	(void)ret;
	pr_err("%s is compressed, and this perf-gpu was built without zstd: install "
	       "libzstd, and build again (perf-gpu version --build-options), or record "
	       "without -z",
	       path);
	return -ENOTSUP;
}

void zstd_stream__delete(struct zstd_stream *stream)
{
	(void)stream;
}

int zstd_stream__feed(struct zstd_stream *stream, const void *data, size_t bytes,
		      zstd_take_fn *take, void *ctx)
{
	(void)stream;
	(void)data;
	(void)bytes;
	(void)take;
	(void)ctx;
	return -ENOTSUP;
}

#endif
