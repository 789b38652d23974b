// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A perf.data of any bytes: the reader walks it, the codec parses every record,
 * and what a parsed sample says must survive being written and parsed again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"

static volatile uint64_t sum;

/* Reads every byte, so that a sanitizer sees those that aren't there. */
static void touch(const void *data, size_t nr_bytes)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < nr_bytes; i++)
		sum += bytes[i];
}

static void check_same(const struct perfdata_sample *a, const struct perfdata_sample *b)
{
	REQUIRE(a->id == b->id && a->ip == b->ip && a->pid == b->pid);
	REQUIRE(a->tid == b->tid && a->time_ns == b->time_ns && a->addr == b->addr);
	REQUIRE(a->stream_id == b->stream_id && a->cpu == b->cpu);
	REQUIRE(a->period == b->period && a->misc == b->misc);
	REQUIRE(a->nr_ips == b->nr_ips && a->raw_bytes == b->raw_bytes);
	REQUIRE(a->user_state_bytes == b->user_state_bytes);
	REQUIRE(!a->nr_ips || !memcmp(a->ips, b->ips, a->nr_ips * sizeof(*a->ips)));
	REQUIRE(!a->raw_bytes || !memcmp(a->raw, b->raw, a->raw_bytes));
	REQUIRE(!a->user_state_bytes ||
		!memcmp(a->user_state, b->user_state, a->user_state_bytes));
}

static void check_sample(const struct perf_event_attr *attr,
			 const struct perf_event_header *record)
{
	static uint64_t buf[65536 / sizeof(uint64_t)];
	struct perfdata_sample sample, again;
	int ret;

	if (perfdata_sample__parse(attr, record, &sample))
		return;
	touch(sample.ips, sample.nr_ips * sizeof(*sample.ips));
	touch(sample.raw, sample.raw_bytes);
	touch(sample.user_state, sample.user_state_bytes);

	ret = perfdata_sample__write(attr, &sample, buf, sizeof(buf));
	if (ret == -ENOTSUP || ret == -EINVAL) /* may be read, but not written */
		return;
	REQUIRE(ret >= (int)sizeof(*record) && ret <= record->size);
	REQUIRE(!perfdata_sample__parse(attr, (const void *)buf, &again));
	check_same(&sample, &again);
}

static void check_record(const struct perfdata_reader *reader,
			 const struct perf_event_header *record)
{
	const struct perf_event_attr *attr;
	struct perfdata_sample id;
	unsigned char buf[48];
	int event = perfdata_reader__find_event(reader, record);

	touch(record, record->size);
	if (event < 0)
		return;
	REQUIRE((size_t)event < perfdata_reader__nr_events(reader));
	attr = &perfdata_reader__event(reader, (size_t)event)->attr;
	if (record->type == PERF_RECORD_SAMPLE) {
		check_sample(attr, record);
		return;
	}
	if (!perfdata_sample__parse_id(attr, record, &id))
		REQUIRE(perfdata_sample__write_id(attr, &id, buf) <= sizeof(buf));
}

static void check_head(const struct perfdata_reader *reader)
{
	const void *feature;
	const char *text;
	size_t bytes;

	for (size_t i = 0; i < perfdata_reader__nr_events(reader); i++) {
		const struct perfdata_event_desc *event =
			perfdata_reader__event(reader, i);

		touch(event->ids, event->nr_ids * sizeof(*event->ids));
		touch(event->name, strlen(event->name));
	}
	for (unsigned int i = 0; i <= PERFDATA_NR_FEATURES; i++) {
		if (perfdata_reader__feature(reader, i, &feature, &bytes))
			touch(feature, bytes);
		text = perfdata_reader__feature_string(reader, i);
		if (text)
			touch(text, strlen(text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perf_event_header *record;
	struct perfdata_reader *reader;
	uint64_t cursor = 0, before = 0;
	size_t file_bytes;
	struct fuzz_path path;
	int fd = fuzz_file__open(data, size, &path), ret;

	ret = perfdata_reader__open(path.text, &reader);
	close(fd);
	if (ret)
		return 0;

	/* Unpacked, it is another one. */
	perfdata_reader__file(reader, &file_bytes);
	check_head(reader);
	while ((ret = perfdata_reader__next(reader, &cursor, &record)) == 1) {
		REQUIRE(cursor > before && cursor <= file_bytes);
		REQUIRE(perfdata_reader__at(reader, before) == record);
		check_record(reader, record);
		before = cursor;
	}
	REQUIRE(ret == 0 || ret == -EINVAL || ret == -ENODATA || ret == -ENOTSUP);
	perfdata_reader__close(reader);
	return 0;
}
