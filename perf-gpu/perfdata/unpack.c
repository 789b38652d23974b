// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *   pipe mode                          file with compressed records
 *   +------------------------------+   +------------------------------+
 *   | u64 magic, u64 16            |   | perfdata_file_header         |
 *   +------------------------------+   +------------------------------+
 *   | records, those of perf's own |   | ids, attrs                   |
 *   |   among them:                |   +------------------------------+ data.offset
 *   |   HEADER_ATTR                |   | records, among them:         |
 *   |   HEADER_FEATURE             |   |   COMPRESSED                 |
 *   |   HEADER_TRACING_DATA, which |   |   COMPRESSED2                |
 *   |     is longer than it says   |   +------------------------------+
 *   |   HEADER_BUILD_ID            |   | features                     |
 *   |   COMPRESSED, COMPRESSED2    |   +------------------------------+
 *   +------------------------------+
 *
 *   is written as                      is written as
 *   header, records, features,         all of it at its place, but the features, which
 *   ids, attrs                         are behind more records
 *
 * Odd sizes are common: records of perf's own need not be a multiple of 8, nor did
 * COMPRESSED before Linux 6.16.
 */
#include "perfdata/unpack.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/buffer.h"
#include "perfdata/cursor.h"
#include "perfdata/decompressor.h"
#include "perfdata/format.h"
#include "util/log.h"
#include "util/nameless_file.h"

#define ALIGN_8(bytes) (((bytes) + 7) & ~(uint64_t)7)

/* An event of pipe mode; points into its record */
struct packed_event {
	const void *attr;
	uint32_t attr_bytes, nr_ids;
	const void *ids; /* of any alignment */
};

struct unpack {
	const char *path;
	const unsigned char *file;
	size_t file_bytes;
	bool is_pipe, is_cut;
	FILE *out;
	uint64_t data_offset, data_bytes; /* in out; so far */

	struct decompressor *decompressor; /* NULL: nothing compressed was met yet */

	/* of pipe mode; sections point into the file, and size is 0 where there is none */
	struct packed_event *events;
	size_t nr_events, nr_events_allocated;
	struct {
		const void *data;
		size_t bytes;
	} features[PERFDATA_NR_FEATURES];
	struct perfdata_buffer build_ids;
};

/* A record as it is in the file, and what follows it without being one */
struct packed_record {
	struct perf_event_header header;
	const unsigned char *at;
	const unsigned char *payload;
	uint64_t payload_bytes;
};

static int unpack__broken(const struct unpack *unpack, const void *at, const char *what)
{
	pr_err("%s is broken at byte %zu: %s; record it again", unpack->path,
	       (size_t)((const unsigned char *)at - unpack->file), what);
	return -EINVAL;
}

static int unpack__no_memory(const struct unpack *unpack)
{
	pr_err("no memory to read %s", unpack->path);
	return -ENOMEM;
}

static int unpack__write(struct unpack *unpack, const void *data, size_t bytes)
{
	int err;

	if (!bytes || fwrite(data, 1, bytes, unpack->out) == bytes)
		return 0;
	err = errno ? -errno : -EIO;
	pr_err("cannot unpack %s into %s: %s (TMPDIR names another folder)", unpack->path,
	       nameless_file__folder(), strerror(-err));
	return err;
}

static int unpack__write_zeros(struct unpack *unpack, size_t bytes)
{
	static const unsigned char zeros[8];

	return unpack__write(unpack, zeros, bytes);
}

static int unpack__write_record(struct unpack *unpack, const void *record, size_t bytes)
{
	unpack->data_bytes += bytes;
	return unpack__write(unpack, record, bytes);
}

/* --- what is decompressed --------------------------------------------------------------- */

static int unpack__take_record(void *ctx, const struct perf_event_header *record)
{
	struct unpack *unpack = ctx;

	if (unpack->is_pipe && record->type >= PERFDATA_RECORD_USER_START)
		return 0;
	return unpack__write_record(unpack, record, record->size);
}

static int unpack__decompress(struct unpack *unpack, const struct packed_record *record)
{
	struct perfdata_cursor cursor =
		perfdata_cursor__new(record->at + sizeof(record->header),
				     record->header.size - sizeof(record->header));
	uint64_t bytes = cursor.left_bytes;
	const void *data;

	if (record->header.type == PERFDATA_RECORD_COMPRESSED2)
		bytes = perfdata_cursor__u64(&cursor);
	data = perfdata_cursor__take(&cursor, bytes, 1);
	if (perfdata_cursor__failed(&cursor))
		return unpack__broken(unpack, record->at,
				      "a compressed record is longer than it is");
	if (!unpack->decompressor) {
		int err = decompressor__new(unpack->path, unpack->file_bytes,
					    unpack__take_record, unpack,
					    &unpack->decompressor);

		if (err)
			return err;
	}
	return decompressor__feed(unpack->decompressor, data, bytes);
}

/* --- the records of the file ------------------------------------------------------------ */

/* 1: a record, 0: the end, also if it is within a record; or -EINVAL, printed. */
static int unpack__next(struct unpack *unpack, struct perfdata_cursor *left,
			struct packed_record *ret)
{
	struct packed_record record = {.at = left->at};
	struct perfdata_cursor head;

	if (!left->left_bytes)
		return 0;
	if (left->left_bytes < sizeof(record.header)) {
		unpack->is_cut = true;
		return 0;
	}
	memcpy(&record.header, left->at, sizeof(record.header));
	if (record.header.size < sizeof(record.header))
		return unpack__broken(unpack, left->at, "a record's size is none");
	if (!perfdata_cursor__take(left, record.header.size, 1)) {
		unpack->is_cut = true;
		return 0;
	}
	head = perfdata_cursor__new(record.at + sizeof(record.header),
				    record.header.size - sizeof(record.header));
	if (record.header.type == PERFDATA_RECORD_AUXTRACE)
		record.payload_bytes = perfdata_cursor__u64(&head);
	else if (unpack->is_pipe &&
		 record.header.type == PERFDATA_RECORD_HEADER_TRACING_DATA)
		record.payload_bytes = ALIGN_8((uint64_t)perfdata_cursor__u32(&head));
	if (perfdata_cursor__failed(&head))
		return unpack__broken(unpack, record.at,
				      "a record is too short for what it is");
	record.payload = perfdata_cursor__take(left, record.payload_bytes, 1);
	if (!record.payload) {
		unpack->is_cut = true;
		return 0;
	}
	*ret = record;
	return 1;
}

/* No records at all would look like a perf that was killed. */
static int unpack__end_records(struct unpack *unpack)
{
	static const struct perf_event_header round = {
		.type = PERFDATA_RECORD_FINISHED_ROUND, .size = sizeof(round)};

	return unpack->data_bytes ? 0
				  : unpack__write_record(unpack, &round, sizeof(round));
}

/* --- files ------------------------------------------------------------------------------ */

static int unpack__file_records(struct unpack *unpack, struct perfdata_cursor left)
{
	struct packed_record record;
	int ret;

	while ((ret = unpack__next(unpack, &left, &record)) > 0) {
		if (record.header.type == PERFDATA_RECORD_COMPRESSED ||
		    record.header.type == PERFDATA_RECORD_COMPRESSED2)
			ret = unpack__decompress(unpack, &record);
		else
			ret = unpack__write_record(unpack, record.at,
						   record.header.size +
							   record.payload_bytes);
		if (ret)
			return ret;
	}
	return ret;
}

/* What is before the records must not need to be moved with what is behind them. */
static int unpack__check_events(const struct unpack *unpack,
				const struct perfdata_file_header *header)
{
	const uint64_t end = header->data.offset;
	struct perfdata_section ids;

	if (header->attr_size < sizeof(ids) || header->attrs.offset > end ||
	    header->attrs.size > end - header->attrs.offset)
		return unpack__broken(unpack, unpack->file,
				      "its events are out of place");
	for (uint64_t at = header->attr_size; at <= header->attrs.size;
	     at += header->attr_size) {
		memcpy(&ids, unpack->file + header->attrs.offset + at - sizeof(ids),
		       sizeof(ids));
		if (ids.offset > end || ids.size > end - ids.offset)
			return unpack__broken(unpack, unpack->file,
					      "the ids of an event are out of place");
		if (header->attr_size > header->attrs.size)
			break;
	}
	return 0;
}

/* The features, behind their table; they all were behind @old_end. */
static int unpack__move_features(struct unpack *unpack,
				 const struct perfdata_file_header *header,
				 uint64_t old_end)
{
	const uint64_t distance = unpack->data_offset + unpack->data_bytes - old_end;
	struct perfdata_cursor cursor = perfdata_cursor__new(
		unpack->file + old_end, unpack->file_bytes - old_end);
	struct perfdata_section section;
	int err = 0;

	for (size_t i = 0; i < PERFDATA_NR_FEATURES && !err; i++) {
		if (!(header->features[i / 64] & 1ull << i % 64))
			continue;
		section.offset = perfdata_cursor__u64(&cursor);
		section.size = perfdata_cursor__u64(&cursor);
		/* The reader finds out that it isn't there. */
		if (perfdata_cursor__failed(&cursor))
			return 0;
		if (section.offset >= old_end)
			section.offset += distance;
		err = unpack__write(unpack, &section, sizeof(section));
	}
	return err ? err : unpack__write(unpack, cursor.at, cursor.left_bytes);
}

static int unpack__file(struct unpack *unpack)
{
	struct perfdata_file_header header;
	uint64_t end;
	int err;

	memcpy(&header, unpack->file, sizeof(header));
	if (header.data.offset < sizeof(header) ||
	    header.data.offset > unpack->file_bytes)
		return unpack__broken(unpack, unpack->file,
				      "its records are out of place");
	/* A perf that was killed has not said how many bytes there are. */
	end = unpack->file_bytes;
	if (header.data.size && header.data.size <= end - header.data.offset)
		end = header.data.offset + header.data.size;
	else
		unpack->is_cut = true;
	unpack->data_offset = header.data.offset;
	err = unpack__check_events(unpack, &header);
	if (!err)
		err = unpack__write(unpack, unpack->file, header.data.offset);
	if (!err)
		err = unpack__file_records(
			unpack, perfdata_cursor__new(unpack->file + header.data.offset,
						     end - header.data.offset));
	if (!err)
		err = unpack__end_records(unpack);
	if (err)
		return err;
	header.data.size = unpack->is_cut ? 0 : unpack->data_bytes;
	if (!unpack->is_cut)
		err = unpack__move_features(unpack, &header, end);
	if (!err && fseeko(unpack->out, 0, SEEK_SET))
		err = -errno;
	return err ? err : unpack__write(unpack, &header, sizeof(header));
}

/* --- pipe mode -------------------------------------------------------------------------- */

static int unpack__add_event(struct unpack *unpack, const struct packed_record *record)
{
	struct perfdata_cursor cursor =
		perfdata_cursor__new(record->at + sizeof(record->header),
				     record->header.size - sizeof(record->header));
	struct packed_event event = {.attr = cursor.at};

	/* perf_event_attr begins with its type and size. */
	perfdata_cursor__u32(&cursor);
	event.attr_bytes = perfdata_cursor__u32(&cursor);
	cursor = perfdata_cursor__new(record->at + sizeof(record->header),
				      record->header.size - sizeof(record->header));
	perfdata_cursor__take(&cursor, event.attr_bytes, 1);
	if (perfdata_cursor__failed(&cursor) || event.attr_bytes < PERF_ATTR_SIZE_VER0)
		return unpack__broken(unpack, record->at,
				      "an event's attributes have a size that none has");
	event.ids = cursor.at;
	event.nr_ids = (uint32_t)(cursor.left_bytes / sizeof(uint64_t));
	if (unpack->nr_events == unpack->nr_events_allocated) {
		size_t nr = unpack->nr_events ? 2 * unpack->nr_events : 8;
		struct packed_event *events =
			reallocarray(unpack->events, nr, sizeof(*events));

		if (!events)
			return unpack__no_memory(unpack);
		unpack->events = events;
		unpack->nr_events_allocated = nr;
	}
	unpack->events[unpack->nr_events++] = event;
	return 0;
}

/* u64 which, then its data. One behind the last, without any, says that these are all. */
static void unpack__set_feature(struct unpack *unpack, const struct packed_record *record)
{
	struct perfdata_cursor cursor =
		perfdata_cursor__new(record->at + sizeof(record->header),
				     record->header.size - sizeof(record->header));
	uint64_t feature = perfdata_cursor__u64(&cursor);

	/* What is unpacked isn't compressed any more. */
	if (perfdata_cursor__failed(&cursor) || feature >= PERFDATA_NR_FEATURES ||
	    feature == HEADER_COMPRESSED)
		return;
	unpack->features[feature].data = cursor.at;
	unpack->features[feature].bytes = cursor.left_bytes;
}

static int unpack__pipe_record(struct unpack *unpack, const struct packed_record *record)
{
	switch (record->header.type) {
	case PERFDATA_RECORD_HEADER_ATTR:
		return unpack__add_event(unpack, record);
	case PERFDATA_RECORD_HEADER_FEATURE:
		unpack__set_feature(unpack, record);
		return 0;
	case PERFDATA_RECORD_HEADER_TRACING_DATA:
		unpack->features[HEADER_TRACING_DATA].data = record->payload;
		unpack->features[HEADER_TRACING_DATA].bytes = record->payload_bytes;
		return 0;
	case PERFDATA_RECORD_HEADER_BUILD_ID:
		perfdata_buffer__add(&unpack->build_ids, record->at, record->header.size);
		return 0;
	case PERFDATA_RECORD_COMPRESSED:
	case PERFDATA_RECORD_COMPRESSED2:
		return unpack__decompress(unpack, record);
	}
	if (record->header.type >= PERFDATA_RECORD_USER_START)
		return 0;
	if (record->header.size % sizeof(uint64_t))
		return unpack__broken(unpack, record->at, "a record's size is none");
	return unpack__write_record(unpack, record->at, record->header.size);
}

static int unpack__write_features(struct unpack *unpack,
				  struct perfdata_file_header *header)
{
	struct perfdata_section section = {0};
	uint64_t nr = 0, bytes = 0;
	int err = 0;

	for (size_t i = 0; i < PERFDATA_NR_FEATURES; i++) {
		if (!unpack->features[i].bytes)
			continue;
		header->features[i / 64] |= 1ull << i % 64;
		nr++;
	}
	section.offset = unpack->data_offset + unpack->data_bytes + nr * sizeof(section);
	for (size_t i = 0; i < PERFDATA_NR_FEATURES && !err; i++) {
		section.size = unpack->features[i].bytes;
		if (!section.size)
			continue;
		err = unpack__write(unpack, &section, sizeof(section));
		section.offset += section.size;
	}
	for (size_t i = 0; i < PERFDATA_NR_FEATURES && !err; i++) {
		bytes += unpack->features[i].bytes;
		err = unpack__write(unpack, unpack->features[i].data,
				    unpack->features[i].bytes);
	}
	return err ? err : unpack__write_zeros(unpack, ALIGN_8(bytes) - bytes);
}

/* All ids, then all attrs, of one size */
static int unpack__write_events(struct unpack *unpack,
				struct perfdata_file_header *header)
{
	struct perfdata_section ids = {.offset = (uint64_t)ftello(unpack->out)};
	int err = 0;

	header->attr_size = sizeof(struct perf_event_attr) + sizeof(ids);
	header->attrs.offset = ids.offset;
	header->attrs.size = unpack->nr_events * header->attr_size;
	for (size_t i = 0; i < unpack->nr_events && !err; i++) {
		ids.size = unpack->events[i].nr_ids * sizeof(uint64_t);
		header->attrs.offset += ids.size;
		err = unpack__write(unpack, unpack->events[i].ids, ids.size);
	}
	for (size_t i = 0; i < unpack->nr_events && !err; i++) {
		const struct packed_event *event = &unpack->events[i];
		struct perf_event_attr attr = {0};

		memcpy(&attr, event->attr,
		       event->attr_bytes < sizeof(attr) ? event->attr_bytes
							: sizeof(attr));
		ids.size = event->nr_ids * sizeof(uint64_t);
		err = unpack__write(unpack, &attr, sizeof(attr));
		if (!err)
			err = unpack__write(unpack, &ids, sizeof(ids));
		ids.offset += ids.size;
	}
	return err;
}

static int unpack__pipe(struct unpack *unpack)
{
	struct perfdata_file_header header = {.magic = PERFDATA_MAGIC,
					      .size = sizeof(header)};
	struct perfdata_cursor left =
		perfdata_cursor__new(unpack->file, unpack->file_bytes);
	struct packed_record record;
	int err;

	perfdata_cursor__take(&left, PERFDATA_PIPE_HEADER_BYTES, 1);
	unpack->data_offset = sizeof(header);
	err = unpack__write(unpack, &header, sizeof(header));
	while (!err && (err = unpack__next(unpack, &left, &record)) > 0)
		err = unpack__pipe_record(unpack, &record);
	if (!err)
		err = unpack__end_records(unpack);
	if (err)
		return err;
	if (!unpack->nr_events) {
		pr_err("%s has no events in it: perf was ended before it began to record",
		       unpack->path);
		return -EINVAL;
	}
	if (unpack->build_ids.no_memory)
		return unpack__no_memory(unpack);
	if (unpack->build_ids.nr_bytes) {
		unpack->features[HEADER_BUILD_ID].data = unpack->build_ids.data;
		unpack->features[HEADER_BUILD_ID].bytes = unpack->build_ids.nr_bytes;
	}
	header.data.offset = unpack->data_offset;
	header.data.size = unpack->data_bytes;
	err = unpack__write_features(unpack, &header);
	if (!err)
		err = unpack__write_events(unpack, &header);
	if (!err && fseeko(unpack->out, 0, SEEK_SET))
		err = -errno;
	return err ? err : unpack__write(unpack, &header, sizeof(header));
}

/* --- all of it -------------------------------------------------------------------------- */

bool perfdata_unpack__is_needed(const void *file, size_t bytes)
{
	struct perfdata_file_header header;

	if (bytes < PERFDATA_PIPE_HEADER_BYTES)
		return false;
	memcpy(&header, file, bytes < sizeof(header) ? bytes : sizeof(header));
	if (header.magic != PERFDATA_MAGIC)
		return false;
	return header.size == PERFDATA_PIPE_HEADER_BYTES ||
	       (bytes >= sizeof(header) && header.size == sizeof(header) &&
		header.features[HEADER_COMPRESSED / 64] & 1ull << HEADER_COMPRESSED % 64);
}

static int unpack__open(struct unpack *unpack)
{
	int fd = nameless_file__open(), err = fd;

	if (fd >= 0) {
		unpack->out = fdopen(fd, "w+");
		if (unpack->out)
			return 0;
		err = -errno;
		close(fd);
	}
	pr_err("cannot unpack %s into %s: %s (TMPDIR names another folder)", unpack->path,
	       nameless_file__folder(), strerror(-err));
	return err;
}

/* The file alone, flushed */
static int unpack__take_fd(struct unpack *unpack, int *ret_fd)
{
	int fd, err;

	fd = fflush(unpack->out) ? -1 : dup(fileno(unpack->out));
	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	err = -errno;
	pr_err("cannot unpack %s into %s: %s (TMPDIR names another folder)", unpack->path,
	       nameless_file__folder(), strerror(-err));
	return err;
}

static void unpack__delete(struct unpack *unpack)
{
	if (!unpack)
		return;
	if (unpack->out)
		fclose(unpack->out);
	decompressor__delete(unpack->decompressor);
	perfdata_buffer__release(&unpack->build_ids);
	free(unpack->events);
	free(unpack);
}

int perfdata_unpack(const char *path, const void *file, size_t bytes, int *ret_fd,
		    bool *ret_is_cut)
{
	struct unpack *unpack = calloc(1, sizeof(*unpack));
	int err;

	if (!unpack) {
		pr_err("no memory to read %s", path);
		return -ENOMEM;
	}
	unpack->path = path;
	unpack->file = file;
	unpack->file_bytes = bytes;
	unpack->is_pipe = bytes < sizeof(struct perfdata_file_header) ||
			  ((const struct perfdata_file_header *)file)->size ==
				  PERFDATA_PIPE_HEADER_BYTES;
	err = unpack__open(unpack);
	if (!err)
		err = unpack->is_pipe ? unpack__pipe(unpack) : unpack__file(unpack);
	if (!err)
		err = unpack__take_fd(unpack, ret_fd);
	if (!err)
		*ret_is_cut = unpack->is_cut ||
			      decompressor__is_within_record(unpack->decompressor);
	unpack__delete(unpack);
	return err;
}
