// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a perf.data front to back (perfdata/format.h), but for the file header:
 * its place is left empty until commit, so that even the temporary file is none
 * that perf would read before it is whole.
 *
 * What is before the records (ids, attrs) is written with the first record, which
 * is why no event can be added later. Records go through a buffer, everything
 * else past it.
 *
 * The first failed write is printed and kept in err; from then on nothing is
 * written and every call returns it.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/buffer.h"
#include "perfdata/format.h"
#include "util/failure.h"
#include "util/log.h"
#include "util/temporary.h"
#include "util/write_behind.h"

/* One write(2) per so many bytes costs nothing against what is in them. */
#define BUFFER_BYTES (256 * 1024)

/* perf refuses attrs that are longer than its own; 6.1 knows so much. */
#define ATTR_BYTES PERF_ATTR_SIZE_VER7

_Static_assert(sizeof(struct perf_event_attr) >= ATTR_BYTES, "linux/perf_event.h is old");

struct writer_event {
	struct perf_event_attr attr;
	uint64_t *ids;
	uint32_t nr_ids;
	char *name;
};

struct perfdata_writer {
	char *path, *temp_path;
	int fd;
	int err; /* of the first write that failed */
	bool has_temp; /* temp_path is to be removed */

	struct writer_event *events;
	size_t nr_events;
	/* an element without data: not set */
	struct perfdata_buffer features[PERFDATA_NR_FEATURES];
	bool has_feature[PERFDATA_NR_FEATURES];

	struct perfdata_file_header header;
	uint64_t file_bytes; /* written so far */
	uint64_t data_bytes; /* of records, written or in the buffer */
	unsigned char *buffer; /* of @behind, if there is one */
	size_t buffer_bytes;
	struct write_behind *behind; /* NULL: this thread writes */
};

/* A rename onto /dev/null would replace it. */
static int check_target(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		pr_err("cannot write %s: it is not a regular file, name another with -o",
		       path);
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	}
	return 0;
}

int perfdata_writer__open(const char *path, struct perfdata_writer **ret)
{
	struct perfdata_writer *writer;
	int err;

	err = check_target(path);
	if (err)
		return err;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		goto no_memory;
	writer->fd = -1;
	writer->path = strdup(path);
	writer->buffer = malloc(BUFFER_BYTES);
	if (!writer->path || !writer->buffer)
		goto no_memory;
	if (asprintf(&writer->temp_path, "%s.XXXXXX", path) < 0) {
		writer->temp_path = NULL;
		goto no_memory;
	}

	writer->fd = temporary__make(writer->temp_path);
	if (writer->fd < 0) {
		err = writer->fd;
		pr_err("cannot create a file beside %s: %s, choose another place with -o",
		       path, strerror(-err));
		goto out;
	}
	writer->has_temp = true;
	*ret = writer;
	return 0;

no_memory:
	err = -ENOMEM;
	pr_err("cannot write %s: no memory", path);
out:
	perfdata_writer__close(writer);
	return err;
}

void perfdata_writer__close(struct perfdata_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < PERFDATA_NR_FEATURES; i++)
		perfdata_buffer__release(&writer->features[i]);
	for (size_t i = 0; i < writer->nr_events; i++) {
		free(writer->events[i].ids);
		free(writer->events[i].name);
	}
	free(writer->events);
	if (writer->behind)
		writer->buffer = NULL;
	write_behind__delete(writer->behind);
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->has_temp)
		temporary__remove(writer->temp_path);
	free(writer->buffer);
	free(writer->temp_path);
	free(writer->path);
	free(writer);
}

int perfdata_writer__add_event(struct perfdata_writer *writer,
			       const struct perf_event_attr *attr, const uint64_t *ids,
			       uint32_t nr_ids, const char *name)
{
	struct writer_event event = {.attr = *attr, .nr_ids = nr_ids};
	struct writer_event *events;

	if (writer->file_bytes)
		return -EBUSY;
	events = reallocarray(writer->events, writer->nr_events + 1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	writer->events = events;
	event.attr.size = ATTR_BYTES;
	event.name = strdup(name);
	event.ids = calloc(nr_ids ? nr_ids : 1, sizeof(*ids));
	if (!event.name || !event.ids) {
		free(event.name);
		free(event.ids);
		return -ENOMEM;
	}
	if (nr_ids)
		memcpy(event.ids, ids, nr_ids * sizeof(*ids));
	events[writer->nr_events++] = event;
	return 0;
}

void perfdata_writer__drop_last_event(struct perfdata_writer *writer)
{
	struct writer_event *last;

	if (!writer->nr_events)
		return;
	last = &writer->events[--writer->nr_events];
	free(last->ids);
	free(last->name);
	/* If they are written, its attr and ids are an unused place before the records. */
	if (writer->file_bytes)
		writer->header.attrs.size -= writer->header.attr_size;
}

int perfdata_writer__set_feature(struct perfdata_writer *writer, unsigned int feature,
				 const void *data, size_t bytes)
{
	struct perfdata_buffer buffer = {0};

	if (feature == 0 || feature >= PERFDATA_NR_FEATURES)
		return -EINVAL;
	perfdata_buffer__add(&buffer, data, bytes);
	if (buffer.no_memory) {
		perfdata_buffer__release(&buffer);
		return -ENOMEM;
	}
	perfdata_buffer__release(&writer->features[feature]);
	writer->features[feature] = buffer;
	writer->has_feature[feature] = true;
	return 0;
}

int perfdata_writer__set_feature_string(struct perfdata_writer *writer,
					unsigned int feature, const char *text)
{
	struct perfdata_buffer buffer = {0};
	int err = -ENOMEM;

	perfdata_buffer__add_string(&buffer, text);
	if (!buffer.no_memory)
		err = perfdata_writer__set_feature(writer, feature, buffer.data,
						   buffer.nr_bytes);
	perfdata_buffer__release(&buffer);
	return err;
}

static int writer__fail(struct perfdata_writer *writer, int err)
{
	pr_err("cannot write %s: %s%s", writer->path, strerror(-err), failure__room(err));
	writer->err = err;
	return err;
}

/* Write past the buffer, at the end of the file. */
static int writer__append(struct perfdata_writer *writer, const void *data, size_t bytes)
{
	const unsigned char *from = data;

	while (bytes && !writer->err) {
		ssize_t written = write(writer->fd, from, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return writer__fail(writer, written < 0 ? -errno : -EIO);
		from += written;
		bytes -= (size_t)written;
		writer->file_bytes += (uint64_t)written;
	}
	return writer->err;
}

/* The buffer is empty then, and perhaps another one. */
static int writer__flush(struct perfdata_writer *writer)
{
	size_t bytes = writer->buffer_bytes;
	int err;

	writer->buffer_bytes = 0;
	if (!writer->behind)
		return writer__append(writer, writer->buffer, bytes);
	err = write_behind__put(writer->behind, bytes);
	if (err)
		return writer__fail(writer, err);
	writer->buffer = write_behind__buffer(writer->behind);
	writer->file_bytes += bytes;
	return 0;
}

/* All records are in the file. */
static int writer__drain(struct perfdata_writer *writer)
{
	int err = writer__flush(writer);

	if (err || !writer->behind)
		return err;
	err = write_behind__drain(writer->behind);
	return err ? writer__fail(writer, err) : 0;
}

void perfdata_writer__write_behind(struct perfdata_writer *writer)
{
	if (write_behind__new(writer->fd, BUFFER_BYTES, &writer->behind))
		return;
	free(writer->buffer);
	writer->buffer = write_behind__buffer(writer->behind);
}

/* The empty place of the header, the ids and the attrs: what precedes records. */
static int writer__start(struct perfdata_writer *writer)
{
	struct perfdata_file_header *header = &writer->header;
	struct perfdata_section ids = {.offset = sizeof(*header)};

	*header = (struct perfdata_file_header){0};
	writer__append(writer, header, sizeof(*header));
	for (size_t i = 0; i < writer->nr_events; i++)
		writer__append(writer, writer->events[i].ids,
			       writer->events[i].nr_ids * sizeof(uint64_t));

	header->attrs.offset = writer->file_bytes;
	for (size_t i = 0; i < writer->nr_events; i++) {
		ids.size = writer->events[i].nr_ids * sizeof(uint64_t);
		writer__append(writer, &writer->events[i].attr, ATTR_BYTES);
		writer__append(writer, &ids, sizeof(ids));
		ids.offset += ids.size;
	}
	header->magic = PERFDATA_MAGIC;
	header->size = sizeof(*header);
	header->attr_size = ATTR_BYTES + sizeof(ids);
	header->attrs.size = writer->file_bytes - header->attrs.offset;
	header->data.offset = writer->file_bytes;
	return writer->err;
}

int perfdata_writer__reserve(struct perfdata_writer *writer, size_t bytes, void **ret)
{
	int err = writer->err;

	if (!err && !writer->file_bytes)
		err = writer__start(writer);
	if (!err && writer->buffer_bytes + bytes > BUFFER_BYTES)
		err = writer__flush(writer);
	if (!err)
		*ret = writer->buffer + writer->buffer_bytes;
	return err;
}

void perfdata_writer__append(struct perfdata_writer *writer)
{
	const struct perf_event_header *event =
		(const void *)(writer->buffer + writer->buffer_bytes);

	writer->buffer_bytes += event->size;
	writer->data_bytes += event->size;
}

int perfdata_writer__write(struct perfdata_writer *writer,
			   const struct perf_event_header *event)
{
	void *room;
	int err;

	if (!writer->err &&
	    (event->size < sizeof(*event) || event->size % sizeof(uint64_t))) {
		pr_err("cannot write %s: a record of type %u has %u bytes", writer->path,
		       event->type, event->size);
		return writer->err = -EINVAL;
	}
	err = perfdata_writer__reserve(writer, event->size, &room);
	if (err)
		return err;
	memcpy(room, event, event->size);
	perfdata_writer__append(writer);
	return 0;
}

void perfdata_writer__flush(struct perfdata_writer *writer)
{
	size_t done = 0;

	if (writer->behind && write_behind__drain(writer->behind))
		return;
	while (!writer->err && done < writer->buffer_bytes) {
		ssize_t written = write(writer->fd, writer->buffer + done,
					writer->buffer_bytes - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			break;
		done += (size_t)written;
		writer->file_bytes += (uint64_t)written;
	}
	writer->buffer_bytes -= done;
	memmove(writer->buffer, writer->buffer + done, writer->buffer_bytes);
}

void perfdata_writer__keep(struct perfdata_writer *writer)
{
	perfdata_writer__flush(writer);
	if (writer->has_temp)
		temporary__keep(writer->temp_path);
	writer->has_temp = false;
}

const char *perfdata_writer__temporary(const struct perfdata_writer *writer)
{
	return writer->temp_path;
}

uint64_t perfdata_writer__data_offset(const struct perfdata_writer *writer)
{
	uint64_t offset = sizeof(writer->header);

	for (size_t i = 0; i < writer->nr_events; i++)
		offset += writer->events[i].nr_ids * sizeof(uint64_t) + ATTR_BYTES +
			  sizeof(struct perfdata_section);
	return offset;
}

uint64_t perfdata_writer__bytes(const struct perfdata_writer *writer)
{
	return writer->data_bytes;
}

static int writer__describe_events(struct perfdata_writer *writer)
{
	struct perfdata_buffer *desc = &writer->features[HEADER_EVENT_DESC];

	perfdata_buffer__release(desc);
	perfdata_buffer__add_u32(desc, (uint32_t)writer->nr_events);
	perfdata_buffer__add_u32(desc, ATTR_BYTES);
	for (size_t i = 0; i < writer->nr_events; i++) {
		const struct writer_event *event = &writer->events[i];

		perfdata_buffer__add(desc, &event->attr, ATTR_BYTES);
		perfdata_buffer__add_u32(desc, event->nr_ids);
		perfdata_buffer__add_string(desc, event->name);
		perfdata_buffer__add(desc, event->ids, event->nr_ids * sizeof(uint64_t));
	}
	writer->has_feature[HEADER_EVENT_DESC] = true;
	return desc->no_memory ? writer__fail(writer, -ENOMEM) : 0;
}

static int writer__write_features(struct perfdata_writer *writer)
{
	struct perfdata_section section = {.offset = writer->file_bytes};

	for (size_t i = 0; i < PERFDATA_NR_FEATURES; i++)
		if (writer->has_feature[i])
			section.offset += sizeof(section);
	for (size_t i = 0; i < PERFDATA_NR_FEATURES; i++) {
		if (!writer->has_feature[i])
			continue;
		writer->header.features[i / 64] |= 1ull << i % 64;
		section.size = writer->features[i].nr_bytes;
		writer__append(writer, &section, sizeof(section));
		section.offset += section.size;
	}
	for (size_t i = 0; i < PERFDATA_NR_FEATURES; i++)
		if (writer->has_feature[i])
			writer__append(writer, writer->features[i].data,
				       writer->features[i].nr_bytes);
	return writer->err;
}

/* The last step: from here on it is a perf.data. */
static int writer__write_header(struct perfdata_writer *writer)
{
	const char *header = (const char *)&writer->header;
	size_t nr = 0;

	writer->header.data.size = writer->data_bytes;
	while (nr < sizeof(writer->header)) {
		ssize_t written = pwrite(writer->fd, header + nr,
					 sizeof(writer->header) - nr, (off_t)nr);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return writer__fail(writer, written < 0 ? -errno : -EIO);
		nr += (size_t)written;
	}
	return 0;
}

/* NFS and quotas may tell only now that there was no room. */
static int writer__close_file(struct perfdata_writer *writer)
{
	int ret = close(writer->fd);

	writer->fd = -1;
	if (ret < 0 && errno != EINTR)
		return writer__fail(writer, -errno);
	return 0;
}

int perfdata_writer__rename(struct perfdata_writer *writer, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(writer->path);
	writer->path = copy;
	return 0;
}

int perfdata_writer__complete(struct perfdata_writer *writer)
{
	/* perf takes a data section of 0 bytes for one that was cut off. */
	static const struct perf_event_header nothing = {
		.type = PERFDATA_RECORD_FINISHED_ROUND, .size = sizeof(nothing)};

	if (writer->err || writer->fd < 0)
		return writer->err;
	if (!writer->data_bytes)
		perfdata_writer__write(writer, &nothing);
	if (writer__drain(writer) || writer__describe_events(writer) ||
	    writer__write_features(writer) || writer__write_header(writer))
		return writer->err;
	return writer__close_file(writer);
}

int perfdata_writer__commit(struct perfdata_writer *writer)
{
	int err = perfdata_writer__complete(writer);

	if (err)
		return err;
	err = temporary__rename(writer->temp_path, writer->path);
	if (err)
		return writer__fail(writer, err);
	writer->has_temp = false;
	return 0;
}
