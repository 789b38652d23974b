// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All COMPRESSED records of a file are one zstd stream of records, which may begin in one
 * and end in another (tools/perf/util/session.c).
 *
 * Bounds, since 100 bytes can be decompressed to megabytes: no more records than the file
 * has bytes (each has a time of its own, which takes more), and not more than MAX_RATIO
 * times the file. The largest that was seen is a loop recorded with --call-graph
 * dwarf,65000 -z 22: 3,146 times.
 */
#include "perfdata/decompressor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/format.h"
#include "perfdata/zstd_stream.h"
#include "util/log.h"

#define MAX_RATIO 4096
/* What any file may hold */
#define MIN_MAX_BYTES	(256ull << 20)
#define MIN_MAX_RECORDS 65536

struct decompressor {
	const char *path;
	uint64_t file_bytes;
	decompressed_fn *take;
	void *ctx;
	struct zstd_stream *zstd;
	/* of a record, until the rest comes */
	uint64_t part[(UINT16_MAX + 1) / sizeof(uint64_t)];
	size_t part_bytes;
	uint64_t nr_records, nr_bytes; /* that came out */
};

int decompressor__new(const char *path, uint64_t file_bytes, decompressed_fn *take,
		      void *ctx, struct decompressor **ret)
{
	struct decompressor *new = calloc(1, sizeof(*new));
	int err;

	if (!new) {
		pr_err("no memory to read %s", path);
		return -ENOMEM;
	}
	new->path = path;
	new->file_bytes = file_bytes;
	new->take = take;
	new->ctx = ctx;
	err = zstd_stream__new(path, file_bytes, &new->zstd);
	if (err) {
		free(new);
		return err;
	}
	*ret = new;
	return 0;
}

void decompressor__delete(struct decompressor *decompressor)
{
	if (!decompressor)
		return;
	zstd_stream__delete(decompressor->zstd);
	free(decompressor);
}

bool decompressor__is_within_record(const struct decompressor *decompressor)
{
	return decompressor && decompressor->part_bytes;
}

static int decompressor__broken(const struct decompressor *decompressor, const char *what)
{
	pr_err("%s is broken: %s; record it again", decompressor->path, what);
	return -EINVAL;
}

/* Records that are longer than they say, or hold others, aren't compressed by perf. */
static bool may_be_compressed(const struct perf_event_header *header)
{
	return header->size >= sizeof(*header) && header->size % sizeof(uint64_t) == 0 &&
	       header->type != PERFDATA_RECORD_COMPRESSED &&
	       header->type != PERFDATA_RECORD_COMPRESSED2 &&
	       header->type != PERFDATA_RECORD_AUXTRACE &&
	       header->type != PERFDATA_RECORD_HEADER_TRACING_DATA;
}

/* Add up to @wanted bytes to the part; the cursor moves. */
static void decompressor__fill(struct decompressor *decompressor, size_t wanted,
			       const unsigned char **at, size_t *bytes)
{
	size_t nr = wanted - decompressor->part_bytes;

	if (nr > *bytes)
		nr = *bytes;
	memcpy((unsigned char *)decompressor->part + decompressor->part_bytes, *at, nr);
	decompressor->part_bytes += nr;
	*at += nr;
	*bytes -= nr;
}

static int decompressor__take_bytes(void *ctx, const void *data, size_t bytes)
{
	struct decompressor *decompressor = ctx;
	const struct perf_event_header *record = (const void *)decompressor->part;
	const unsigned char *at = data;
	int err;

	decompressor->nr_bytes += bytes;
	if (decompressor->nr_bytes >
	    MIN_MAX_BYTES + decompressor->file_bytes * MAX_RATIO) {
		pr_err("%s is compressed more than %d times, which is not read: record "
		       "without -z",
		       decompressor->path, MAX_RATIO);
		return -ENOTSUP;
	}
	while (bytes) {
		if (decompressor->part_bytes < sizeof(*record)) {
			decompressor__fill(decompressor, sizeof(*record), &at, &bytes);
			if (decompressor->part_bytes < sizeof(*record))
				return 0;
			if (!may_be_compressed(record))
				return decompressor__broken(decompressor,
							    "what is compressed in it "
							    "are no records of perf's");
		}
		decompressor__fill(decompressor, record->size, &at, &bytes);
		if (decompressor->part_bytes < record->size)
			return 0;
		decompressor->part_bytes = 0;
		if (++decompressor->nr_records >
		    MIN_MAX_RECORDS + decompressor->file_bytes)
			return decompressor__broken(
				decompressor,
				"more records are compressed in it than it has bytes");
		err = decompressor->take(decompressor->ctx, record);
		if (err)
			return err;
	}
	return 0;
}

int decompressor__feed(struct decompressor *decompressor, const void *data, size_t bytes)
{
	return zstd_stream__feed(decompressor->zstd, data, bytes,
				 decompressor__take_bytes, decompressor);
}
