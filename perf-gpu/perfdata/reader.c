// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a perf.data, mapped (perfdata/format.h has the layout). What isn't laid out so,
 * was made so before (perfdata/mapping.h).
 *
 * Invariants, once a reader is open:
 *   - the data section and every event's ids are in the file and 8-byte
 *     aligned; features that aren't whole are not there
 *   - the ids of all events together take no more bytes than the file has, so
 *     that no file makes us allocate more than a few times its size
 *   - with several events, all have their id in the same place of a record
 *
 * perf leaves data.size 0 until it ends, and a copy may lack its end: such a
 * file is_cut. Its records go on to the end of the file, and it has no features.
 */
#include "perfdata/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/cursor.h"
#include "perfdata/format.h"
#include "perfdata/mapping.h"
#include "perfdata/sample.h"
#include "util/log.h"

/* The kernel takes no attr that is longer than a page. */
#define MAX_ATTR_BYTES 4096

struct event_id {
	uint64_t id;
	uint32_t event; /* index */
};

struct perfdata_reader {
	char *path; /* for messages */
	struct perfdata_mapping mapping;
	const unsigned char *file; /* what is mapped */
	size_t file_bytes;
	struct perfdata_file_header header;
	struct perfdata_section data; /* clipped to the file */
	bool is_cut, has_told_cut;

	struct perfdata_event_desc *events;
	size_t nr_events;
	struct event_id *ids; /* sorted by id */
	size_t nr_ids;
	int id_word, id_word_from_end; /* see sample.h; of all events */

	struct perfdata_section features[PERFDATA_NR_FEATURES];
	bool has_feature[PERFDATA_NR_FEATURES];
};

static int reader__broken(const struct perfdata_reader *reader, uint64_t offset,
			  const char *what)
{
	pr_err("%s is broken at byte %llu: %s; record it again", reader->path,
	       (unsigned long long)offset, what);
	return -EINVAL;
}

static bool reader__holds(const struct perfdata_reader *reader,
			  const struct perfdata_section *section)
{
	return section->offset <= reader->file_bytes &&
	       section->size <= reader->file_bytes - section->offset;
}

/* Whether it is a kind of perf.data that we read. */
static int reader__check_kind(const struct perfdata_reader *reader)
{
	struct perfdata_cursor cursor =
		perfdata_cursor__new(reader->file, reader->file_bytes);
	uint64_t magic = perfdata_cursor__u64(&cursor);

	switch (magic) {
	case PERFDATA_MAGIC:
		break;
	case PERFDATA_MAGIC_SWAPPED:
		pr_err("%s was recorded on a machine of the other byte order: read it on "
		       "one like that",
		       reader->path);
		return -ENOTSUP;
	case PERFDATA_MAGIC_V1:
		pr_err("%s is in perf's format of before 2010, which cannot be read",
		       reader->path);
		return -ENOTSUP;
	default:
		pr_err("%s is not a perf.data file", reader->path);
		return -EINVAL;
	}
	return 0;
}

static int reader__read_header(struct perfdata_reader *reader)
{
	struct perfdata_file_header *header = &reader->header;
	int err = reader__check_kind(reader);

	if (err)
		return err;
	if (reader->file_bytes < sizeof(*header))
		return reader__broken(reader, reader->file_bytes,
				      "it ends in its header");
	memcpy(header, reader->file, sizeof(*header));
	/* Older perfs' headers end before the features. */
	if (header->size == offsetof(struct perfdata_file_header, features))
		memset(header->features, 0, sizeof(header->features));
	else if (header->size != sizeof(*header))
		return reader__broken(reader, offsetof(struct perfdata_file_header, size),
				      "its header has a size that none has");
	reader->data = header->data;
	if (reader->data.offset % sizeof(uint64_t) ||
	    reader->data.offset > reader->file_bytes)
		return reader__broken(reader, offsetof(struct perfdata_file_header, data),
				      "its records are out of place");
	if (!reader->data.size || !reader__holds(reader, &reader->data)) {
		reader->data.size = reader->file_bytes - reader->data.offset;
		reader->is_cut = true;
	}
	return 0;
}

/* @at is where the event's attr and the section of its ids are. */
static int reader__read_event(struct perfdata_reader *reader, size_t i, uint64_t at)
{
	struct perfdata_event_desc *event = &reader->events[i];
	struct perfdata_section ids;
	size_t file_attr_bytes = reader->header.attr_size - sizeof(ids);
	size_t attr_bytes = file_attr_bytes;

	if (attr_bytes > sizeof(event->attr))
		attr_bytes = sizeof(event->attr);
	memcpy(&event->attr, reader->file + at, attr_bytes);
	memcpy(&ids, reader->file + at + file_attr_bytes, sizeof(ids));
	if (!reader__holds(reader, &ids) || ids.offset % sizeof(uint64_t) ||
	    ids.size % sizeof(uint64_t) || ids.size / sizeof(uint64_t) > UINT32_MAX ||
	    ids.size / sizeof(uint64_t) >
		    reader->file_bytes / sizeof(uint64_t) - reader->nr_ids)
		return reader__broken(reader, at + file_attr_bytes,
				      "the ids of an event are out of place");
	event->ids = (const void *)(reader->file + ids.offset);
	event->nr_ids = (uint32_t)(ids.size / sizeof(uint64_t));
	event->name = "";
	reader->nr_ids += event->nr_ids;
	return 0;
}

static int reader__read_events(struct perfdata_reader *reader)
{
	const struct perfdata_section *attrs = &reader->header.attrs;
	uint64_t entry_bytes = reader->header.attr_size;
	int err;

	if (entry_bytes < PERF_ATTR_SIZE_VER0 + sizeof(*attrs) ||
	    entry_bytes > MAX_ATTR_BYTES || entry_bytes % sizeof(uint64_t))
		return reader__broken(reader,
				      offsetof(struct perfdata_file_header, attr_size),
				      "its events' attributes have a size that none has");
	if (!reader__holds(reader, attrs) || attrs->size < entry_bytes ||
	    attrs->size % entry_bytes)
		return reader__broken(reader,
				      offsetof(struct perfdata_file_header, attrs),
				      "its events are out of place");
	reader->events = calloc(attrs->size / entry_bytes, sizeof(*reader->events));
	if (!reader->events)
		return -ENOMEM;
	reader->nr_events = attrs->size / entry_bytes;
	for (size_t i = 0; i < reader->nr_events; i++) {
		err = reader__read_event(reader, i, attrs->offset + i * entry_bytes);
		if (err)
			return err;
	}
	return 0;
}

/* perf itself refuses what isn't so ("non matching sample_type"). */
static int reader__check_id_place(struct perfdata_reader *reader)
{
	const struct perf_event_attr *first = &reader->events[0].attr;

	reader->id_word = perfdata_sample__id_word(first);
	reader->id_word_from_end = perfdata_sample__id_word_from_end(first);
	if (reader->nr_events == 1)
		return 0;
	for (size_t i = 0; i < reader->nr_events; i++) {
		const struct perf_event_attr *attr = &reader->events[i].attr;

		if (perfdata_sample__id_word(attr) < 0 ||
		    perfdata_sample__id_word(attr) != reader->id_word ||
		    perfdata_sample__id_word_from_end(attr) != reader->id_word_from_end ||
		    attr->sample_id_all != first->sample_id_all)
			return reader__broken(reader, reader->header.attrs.offset,
					      "the records of its events can't be told "
					      "from each other");
	}
	return 0;
}

static int event_id__compare(const void *a, const void *b)
{
	const struct event_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int reader__index_ids(struct perfdata_reader *reader)
{
	size_t nr = 0;

	reader->ids = calloc(reader->nr_ids ? reader->nr_ids : 1, sizeof(*reader->ids));
	if (!reader->ids)
		return -ENOMEM;
	for (size_t i = 0; i < reader->nr_events; i++)
		for (uint32_t k = 0; k < reader->events[i].nr_ids; k++)
			reader->ids[nr++] = (struct event_id){
				.id = reader->events[i].ids[k], .event = (uint32_t)i};
	qsort(reader->ids, nr, sizeof(*reader->ids), event_id__compare);
	return 0;
}

static void reader__read_features(struct perfdata_reader *reader)
{
	uint64_t table = reader->data.offset + reader->data.size;
	struct perfdata_cursor cursor =
		perfdata_cursor__new(reader->file + table, reader->file_bytes - table);

	if (reader->is_cut)
		return;
	for (size_t i = 0; i < PERFDATA_NR_FEATURES; i++) {
		struct perfdata_section *section = &reader->features[i];

		if (!(reader->header.features[i / 64] & 1ull << i % 64))
			continue;
		section->offset = perfdata_cursor__u64(&cursor);
		section->size = perfdata_cursor__u64(&cursor);
		if (perfdata_cursor__failed(&cursor) || !reader__holds(reader, section)) {
			pr_warning("%s lacks its end: what it says about the machine is "
				   "left out",
				   reader->path);
			return;
		}
		reader->has_feature[i] = true;
	}
}

/* EVENT_DESC has the events in the order of the attrs. */
static void reader__read_names(struct perfdata_reader *reader)
{
	struct perfdata_cursor cursor;
	uint32_t nr, attr_bytes;
	const void *desc;
	size_t desc_bytes;

	if (!perfdata_reader__feature(reader, HEADER_EVENT_DESC, &desc, &desc_bytes))
		return;
	cursor = perfdata_cursor__new(desc, desc_bytes);
	nr = perfdata_cursor__u32(&cursor);
	attr_bytes = perfdata_cursor__u32(&cursor);
	for (uint32_t i = 0; i < nr && i < reader->nr_events; i++) {
		const char *name;
		uint32_t nr_ids;

		perfdata_cursor__take(&cursor, attr_bytes, 1);
		nr_ids = perfdata_cursor__u32(&cursor);
		name = perfdata_cursor__string(&cursor);
		perfdata_cursor__take(&cursor, nr_ids, sizeof(uint64_t));
		if (perfdata_cursor__failed(&cursor))
			return;
		reader->events[i].name = name;
	}
}

int perfdata_reader__open(const char *path, struct perfdata_reader **ret)
{
	int fd = perfdata_mapping__open_file(path), err;

	if (fd < 0)
		return fd;
	err = perfdata_reader__open_fd(fd, path, ret);
	close(fd);
	return err;
}

int perfdata_reader__open_fd(int fd, const char *path, struct perfdata_reader **ret)
{
	struct perfdata_reader *reader = calloc(1, sizeof(*reader));
	int err = -ENOMEM;

	if (!reader)
		goto out;
	reader->path = strdup(path);
	if (!reader->path)
		goto out;
	err = perfdata_mapping__new(fd, path, &reader->mapping);
	if (err)
		goto out_printed;
	reader->file = reader->mapping.data;
	reader->file_bytes = reader->mapping.bytes;
	err = reader__read_header(reader);
	if (!err)
		err = reader__read_events(reader);
	if (!err)
		err = reader__check_id_place(reader);
	if (!err)
		err = reader__index_ids(reader);
	if (err)
		goto out;
	reader__read_features(reader);
	reader__read_names(reader);
	/* Of a stream that was cut, all that was before is there, also features. */
	reader->is_cut |= reader->mapping.is_cut;
	*ret = reader;
	return 0;
out:
	if (err == -ENOMEM)
		pr_err("cannot read %s: no memory", path);
out_printed:
	perfdata_reader__close(reader);
	return err;
}

void perfdata_reader__close(struct perfdata_reader *reader)
{
	if (!reader)
		return;
	perfdata_mapping__release(&reader->mapping);
	free(reader->ids);
	free(reader->events);
	free(reader->path);
	free(reader);
}

const void *perfdata_reader__file(const struct perfdata_reader *reader, size_t *ret_bytes)
{
	*ret_bytes = reader->file_bytes;
	return reader->file;
}

size_t perfdata_reader__nr_events(const struct perfdata_reader *reader)
{
	return reader->nr_events;
}

const struct perfdata_event_desc *
perfdata_reader__event(const struct perfdata_reader *reader, size_t i)
{
	return &reader->events[i];
}

/* The id in a record, or -ENOENT where it has none. */
static int reader__get_id(const struct perfdata_reader *reader,
			  const struct perf_event_header *record, uint64_t *ret)
{
	size_t nr_words = record->size / sizeof(uint64_t);
	const unsigned char *at = (const unsigned char *)record;
	size_t word; /* of the record */

	if (record->type == PERF_RECORD_SAMPLE)
		word = 1 + (size_t)reader->id_word;
	else
		word = nr_words - (size_t)reader->id_word_from_end;
	/* A record too short for it has wrapped around to a large number. */
	if (word < 1 || word >= nr_words)
		return -ENOENT;
	memcpy(ret, at + word * sizeof(uint64_t), sizeof(*ret));
	return 0;
}

/* Like bsearch(3), which would call a function for each step, for each record. */
static int reader__find_id(const struct perfdata_reader *reader, uint64_t id)
{
	size_t low = 0, high = reader->nr_ids;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reader->ids[middle].id == id)
			return (int)reader->ids[middle].event;
		if (reader->ids[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

int perfdata_reader__find_event(const struct perfdata_reader *reader,
				const struct perf_event_header *record)
{
	uint64_t id = 0;

	if (reader->nr_events == 1)
		return 0;
	if (record->type >= PERFDATA_RECORD_USER_START)
		return -ENOENT;
	if (record->type != PERF_RECORD_SAMPLE) {
		if (!reader->events[0].attr.sample_id_all)
			return 0;
		/* What perf made up itself at its start has zeros for an id. */
		if (reader__get_id(reader, record, &id) == 0 && !id)
			return 0;
	}
	if (reader__get_id(reader, record, &id))
		return -ENOENT;
	return reader__find_id(reader, id);
}

static int reader__tell_cut(struct perfdata_reader *reader)
{
	if (!reader->has_told_cut)
		pr_warning("%s was cut off, perhaps because perf was killed: what is "
			   "there of it is read",
			   reader->path);
	reader->has_told_cut = true;
	return -ENODATA;
}

int perfdata_reader__next(struct perfdata_reader *reader, uint64_t *cursor,
			  const struct perf_event_header **ret)
{
	uint64_t offset = reader->data.offset + *cursor; /* in the file */
	struct perfdata_cursor left = {0};
	struct perfdata_auxtrace record = {0};

	if (*cursor >= reader->data.size)
		return reader->is_cut ? reader__tell_cut(reader) : 0;
	left = perfdata_cursor__new(reader->file + offset, reader->data.size - *cursor);
	if (left.left_bytes < sizeof(record.header))
		goto too_short;
	memcpy(&record.header, left.at, sizeof(record.header));
	/* Records behind one are at odd addresses. */
	if (record.header.type == PERFDATA_RECORD_COMPRESSED ||
	    record.header.type == PERFDATA_RECORD_COMPRESSED2)
		return reader__broken(reader, offset,
				      "a record is compressed in a file that says that "
				      "none is");
	if (record.header.size < sizeof(record.header) ||
	    record.header.size % sizeof(uint64_t))
		return reader__broken(reader, offset, "a record's size is none");
	if (record.header.type == PERFDATA_RECORD_AUXTRACE) {
		if (record.header.size < sizeof(record))
			return reader__broken(reader, offset,
					      "an AUXTRACE record is too short");
		if (left.left_bytes < sizeof(record))
			goto too_short;
		memcpy(&record, left.at, sizeof(record));
		if (record.payload_bytes % sizeof(uint64_t))
			return reader__broken(reader, offset,
					      "an AUXTRACE record's payload isn't whole");
	}
	perfdata_cursor__take(&left, record.header.size, 1);
	perfdata_cursor__take(&left, record.payload_bytes, 1);
	if (perfdata_cursor__failed(&left))
		goto too_short;
	*ret = (const void *)(reader->file + offset);
	*cursor = reader->data.size - left.left_bytes;
	perfdata_mapping__touch(&reader->mapping, record.header.size);
	return 1;

too_short:
	if (reader->is_cut)
		return reader__tell_cut(reader);
	return reader__broken(reader, offset, "a record goes on behind the last one");
}

uint64_t perfdata_reader__data_bytes(const struct perfdata_reader *reader)
{
	return reader->data.size;
}

const struct perf_event_header *perfdata_reader__at(const struct perfdata_reader *reader,
						    uint64_t offset)
{
	return (const void *)(reader->file + reader->data.offset + offset);
}

void perfdata_reader__touch(struct perfdata_reader *reader, uint64_t bytes)
{
	perfdata_mapping__touch(&reader->mapping, bytes);
}

bool perfdata_reader__feature(const struct perfdata_reader *reader, unsigned int feature,
			      const void **ret, size_t *ret_bytes)
{
	if (feature >= PERFDATA_NR_FEATURES || !reader->has_feature[feature])
		return false;
	*ret = reader->file + reader->features[feature].offset;
	*ret_bytes = reader->features[feature].size;
	return true;
}

const char *perfdata_reader__feature_string(const struct perfdata_reader *reader,
					    unsigned int feature)
{
	struct perfdata_cursor cursor;
	const void *data;
	size_t data_bytes;

	if (!perfdata_reader__feature(reader, feature, &data, &data_bytes))
		return NULL;
	cursor = perfdata_cursor__new(data, data_bytes);
	return perfdata_cursor__string(&cursor);
}
