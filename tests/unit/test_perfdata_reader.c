// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader: a recording of stock perf, files put together here of what perf
 * may do, and broken ones.
 *
 * tests/data/perf-cpu-clock.data is what perf 6.1 made of
 *	perf record --no-bpf-event -N -F 1999 -e cpu-clock -e task-clock:u -g seq -f %.3f 60000
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "perfdata/buffer.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"

#define RECORDING "tests/data/perf-cpu-clock.data"

/* Opens bytes as if they were a file. */
static int open_bytes(const void *data, size_t nr_bytes, struct perfdata_reader **ret)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	char path[64];
	int err;

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, data, nr_bytes), nr_bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = perfdata_reader__open(path, ret);
	close(fd);
	return err;
}

static int open_buffer(const struct perfdata_buffer *file, struct perfdata_reader **ret)
{
	CHECK(!file->no_memory);
	return open_bytes(file->data, file->nr_bytes, ret);
}

/* What opening it gives, for files that can't be opened. */
static int error_of(const void *data, size_t nr_bytes)
{
	struct perfdata_reader *reader = NULL;
	int err = open_bytes(data, nr_bytes, &reader);

	CHECK_EQ(!reader, err != 0);
	perfdata_reader__close(reader);
	return err;
}

/* How many records there are; *ret_end is what ended them. */
static size_t count_records(struct perfdata_reader *reader, int *ret_end)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0;
	size_t nr = 0;

	while ((*ret_end = perfdata_reader__next(reader, &cursor, &record)) == 1)
		nr++;
	return nr;
}

static struct perfdata_buffer load_recording(void)
{
	struct perfdata_buffer file = {0};
	FILE *stream = fopen(RECORDING, "r");
	char bytes[4096];
	size_t nr;

	CHECK(stream);
	while ((nr = fread(bytes, 1, sizeof(bytes), stream)) > 0)
		perfdata_buffer__add(&file, bytes, nr);
	fclose(stream);
	CHECK(!file.no_memory);
	return file;
}

/* What perf report -D and perf script say of it. */
TEST(a_recording_of_perf)
{
	const struct perf_event_header *record;
	const struct perfdata_event_desc *events[2];
	struct perfdata_sample sample, first = {0};
	struct perfdata_reader *reader;
	size_t nr_samples[2] = {0};
	uint64_t cursor = 0, period_ns[2] = {0};

	CHECK_EQ(perfdata_reader__open(RECORDING, &reader), 0);
	CHECK_EQ(perfdata_reader__nr_events(reader), 2);
	for (size_t i = 0; i < 2; i++) {
		events[i] = perfdata_reader__event(reader, i);
		CHECK_EQ(events[i]->nr_ids, 2);
		CHECK_EQ(events[i]->attr.type, PERF_TYPE_SOFTWARE);
		CHECK_EQ(events[i]->attr.sample_freq, 1999);
	}
	CHECK_STR(events[0]->name, "cpu-clock");
	CHECK_STR(events[1]->name, "task-clock:u");
	CHECK_STR(perfdata_reader__feature_string(reader, HEADER_HOSTNAME), "example");
	CHECK_STR(perfdata_reader__feature_string(reader, HEADER_ARCH), "x86_64");
	CHECK(!perfdata_reader__feature_string(reader, HEADER_TRACING_DATA));

	while (perfdata_reader__next(reader, &cursor, &record) == 1) {
		int event = perfdata_reader__find_event(reader, record);

		if (record->type >= PERFDATA_RECORD_USER_START) {
			CHECK_EQ(event, -ENOENT);
			continue;
		}
		CHECK(event >= 0);
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		CHECK_EQ(perfdata_sample__parse(&events[event]->attr, record, &sample),
			 0);
		CHECK(sample.id == events[event]->ids[0] ||
		      sample.id == events[event]->ids[1]);
		if (!nr_samples[0] && !nr_samples[1])
			first = sample;
		nr_samples[event]++;
		period_ns[event] += sample.period;
	}
	CHECK_EQ(cursor, 4864);
	CHECK_EQ(nr_samples[0], 24);
	CHECK_EQ(nr_samples[1], 23);
	CHECK_EQ(period_ns[0], 24 * 500250);
	CHECK_EQ(period_ns[1], 23 * 500250);
	CHECK_EQ(first.time_ns, 2959655032097);
	CHECK_EQ(first.pid, 3687);
	CHECK_EQ(first.tid, 3687);
	CHECK_EQ(first.ip, 0xffffffff815e2233);
	CHECK_EQ(first.nr_ips, 15);
	CHECK_EQ(first.ips[0], (uint64_t)PERF_CONTEXT_KERNEL);
	CHECK_EQ(first.ips[1], first.ip);
	perfdata_reader__close(reader);
}

/* However short it is: whole records, and a word about the end. */
TEST(a_recording_cut_at_every_byte)
{
	struct perfdata_buffer file = load_recording();
	struct perfdata_file_header header;
	size_t nr_before = 0, nr_opened = 0;
	int end;

	memcpy(&header, file.data, sizeof(header));
	CHECK(freopen("/dev/null", "w", stderr)); /* it is said every time */
	for (size_t size = 0; size < file.nr_bytes; size++) {
		struct perfdata_reader *reader;
		size_t nr;

		if (size < header.data.offset) {
			CHECK_EQ(error_of(file.data, size), -EINVAL);
			continue;
		}
		CHECK_EQ(open_bytes(file.data, size, &reader), 0);
		nr = count_records(reader, &end);
		CHECK(nr >= nr_before);
		CHECK_EQ(end,
			 size < header.data.offset + header.data.size ? -ENODATA : 0);
		perfdata_reader__close(reader);
		nr_before = nr;
		nr_opened++;
	}
	CHECK(nr_opened > 0);
	CHECK_EQ(nr_before, 65);
	perfdata_buffer__release(&file);
}

/* perf writes data.size and the features at its end. */
TEST(a_recording_whose_perf_was_killed)
{
	struct perfdata_buffer file = load_recording();
	struct perfdata_file_header *header = (void *)file.data;
	struct perfdata_reader *reader;
	int end;

	file.nr_bytes = header->data.offset + header->data.size;
	header->data.size = 0;
	CHECK_EQ(open_buffer(&file, &reader), 0);
	CHECK_EQ(count_records(reader, &end), 65);
	CHECK_EQ(end, -ENODATA);
	CHECK_STR(perfdata_reader__event(reader, 0)->name, "");
	CHECK(!perfdata_reader__feature_string(reader, HEADER_HOSTNAME));
	perfdata_reader__close(reader);
	perfdata_buffer__release(&file);
}

/* A file of one event, with room for @nr_attr_bytes, and its records. */
static struct perfdata_buffer make_file(size_t nr_attr_bytes, uint64_t sample_type,
					const void *records, size_t nr_record_bytes)
{
	struct perfdata_file_header header = {.magic = PERFDATA_MAGIC,
					      .size = sizeof(header),
					      .attr_size = nr_attr_bytes + 16,
					      .attrs = {.offset = sizeof(header) + 8,
							.size = nr_attr_bytes + 16}};
	struct perf_event_attr attr = {.size = (uint32_t)nr_attr_bytes,
				       .sample_type = sample_type,
				       .sample_id_all = 1,
				       .config2 = 2};
	struct perfdata_section ids = {.offset = sizeof(header), .size = 8};
	struct perfdata_buffer file = {0};
	size_t known = nr_attr_bytes < sizeof(attr) ? nr_attr_bytes : sizeof(attr);

	header.data.offset = header.attrs.offset + header.attrs.size;
	header.data.size = nr_record_bytes;
	perfdata_buffer__add(&file, &header, sizeof(header));
	perfdata_buffer__add_u64(&file, 77);
	perfdata_buffer__add(&file, &attr, known);
	perfdata_buffer__add_zeros(&file, nr_attr_bytes - known);
	perfdata_buffer__add(&file, &ids, sizeof(ids));
	perfdata_buffer__add(&file, records, nr_record_bytes);
	CHECK(!file.no_memory);
	return file;
}

static const struct perf_event_header round_end = {.type = PERFDATA_RECORD_FINISHED_ROUND,
						   .size = sizeof(round_end)};

TEST(attrs_of_older_and_newer_perfs)
{
	static const size_t sizes[] = {PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1,
				       PERF_ATTR_SIZE_VER5, PERF_ATTR_SIZE_VER7,
				       PERF_ATTR_SIZE_VER7 + 64};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perfdata_buffer file = make_file(sizes[i], PERF_SAMPLE_IP,
							&round_end, sizeof(round_end));
		const struct perfdata_event_desc *event;
		struct perfdata_reader *reader;
		int end;

		CHECK_EQ(open_buffer(&file, &reader), 0);
		event = perfdata_reader__event(reader, 0);
		CHECK_EQ(event->attr.sample_type, PERF_SAMPLE_IP);
		CHECK_EQ(event->attr.config2, sizes[i] >= PERF_ATTR_SIZE_VER1 ? 2 : 0);
		CHECK_EQ(event->nr_ids, 1);
		CHECK_EQ(event->ids[0], 77);
		CHECK_STR(event->name, "");
		CHECK_EQ(count_records(reader, &end), 1);
		CHECK_EQ(end, 0);
		perfdata_reader__close(reader);
		perfdata_buffer__release(&file);
	}
}

/* The error with one word of the header changed. */
static int error_with(size_t offset, uint64_t value)
{
	struct perfdata_buffer file = make_file(PERF_ATTR_SIZE_VER7, PERF_SAMPLE_IP,
						&round_end, sizeof(round_end));
	int err;

	memcpy(file.data + offset, &value, sizeof(value));
	err = error_of(file.data, file.nr_bytes);
	perfdata_buffer__release(&file);
	return err;
}

#define AT(member) offsetof(struct perfdata_file_header, member)

TEST(files_of_other_kinds)
{
	struct perfdata_reader *reader = NULL;
	uint64_t pipe[2] = {PERFDATA_MAGIC, PERFDATA_PIPE_HEADER_BYTES};

	CHECK_EQ(error_of("", 0), -EINVAL);
	CHECK_EQ(error_of("#!/bin/sh\n", 10), -EINVAL);
	CHECK_EQ(error_of(pipe, sizeof(pipe)), -EINVAL); /* without any event */
	CHECK_EQ(error_with(AT(magic), PERFDATA_MAGIC_SWAPPED), -ENOTSUP);
	CHECK_EQ(error_with(AT(magic), PERFDATA_MAGIC_V1), -ENOTSUP);
	CHECK_EQ(perfdata_reader__open("/nonexistent", &reader), -ENOENT);
	CHECK_EQ(perfdata_reader__open("/tmp", &reader), -ENOTSUP);
	CHECK_EQ(perfdata_reader__open("/dev/null", &reader), -ENOTSUP);
	CHECK(!reader);
	perfdata_reader__close(NULL);
}

TEST(a_fifo_is_refused_without_waiting_for_its_writer)
{
	char folder[] = P_tmpdir "/perf-gpu-unit.XXXXXX", path[64];
	struct perfdata_reader *reader = NULL;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(perfdata_reader__open(path, &reader), -ENOTSUP);
	unlink(path);
	CHECK_EQ(rmdir(folder), 0);
}

TEST(headers_that_lie)
{
	CHECK_EQ(error_with(AT(magic), PERFDATA_MAGIC), 0); /* nothing changed */
	CHECK_EQ(error_with(AT(size), 0), -EINVAL);
	CHECK_EQ(error_with(AT(size), UINT64_MAX), -EINVAL);
	CHECK_EQ(error_with(AT(attr_size), 0), -EINVAL);
	CHECK_EQ(error_with(AT(attr_size), 72), -EINVAL);
	CHECK_EQ(error_with(AT(attr_size), 145), -EINVAL);
	CHECK_EQ(error_with(AT(attr_size), 1ull << 32), -EINVAL);
	CHECK_EQ(error_with(AT(attrs.size), 0), -EINVAL);
	CHECK_EQ(error_with(AT(attrs.size), 143), -EINVAL);
	CHECK_EQ(error_with(AT(attrs.size), 144ull << 40), -EINVAL);
	CHECK_EQ(error_with(AT(attrs.offset), UINT64_MAX - 100), -EINVAL);
	CHECK_EQ(error_with(AT(data.offset), UINT64_MAX - 7), -EINVAL);
	CHECK_EQ(error_with(AT(data.offset), 257), -EINVAL);
}

/* The section of the event's ids, behind its attr */
#define IDS (sizeof(struct perfdata_file_header) + 8 + PERF_ATTR_SIZE_VER7)

TEST(ids_that_lie)
{
	CHECK_EQ(error_with(IDS, UINT64_MAX - 7), -EINVAL); /* offset */
	CHECK_EQ(error_with(IDS, 105), -EINVAL);
	CHECK_EQ(error_with(IDS + 8, UINT64_MAX - 7), -EINVAL); /* size */
	CHECK_EQ(error_with(IDS + 8, 4), -EINVAL);
	CHECK_EQ(error_with(IDS + 8, 0), 0);
}

/* Thousands of events that share one large section of ids would cost gigabytes. */
TEST(ids_are_not_shared)
{
	struct perfdata_file_header header = {.magic = PERFDATA_MAGIC,
					      .size = sizeof(header),
					      .attr_size = 80,
					      .attrs = {.offset = sizeof(header)}};
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IDENTIFIER};
	struct perfdata_section ids = {.offset = sizeof(header)};
	struct perfdata_buffer file = {0};
	size_t nr_events = 1000;

	header.attrs.size = nr_events * header.attr_size;
	ids.size = header.attrs.size;
	header.data.offset = header.attrs.offset + header.attrs.size;
	perfdata_buffer__add(&file, &header, sizeof(header));
	for (size_t i = 0; i < nr_events; i++) {
		perfdata_buffer__add(&file, &attr, PERF_ATTR_SIZE_VER0);
		perfdata_buffer__add(&file, &ids, sizeof(ids));
	}
	CHECK_EQ(error_of(file.data, file.nr_bytes), -EINVAL);
	perfdata_buffer__release(&file);
}

/* What ends the records, of which there are @nr whole ones. */
static int end_of(const void *records, size_t nr_bytes, size_t nr)
{
	struct perfdata_buffer file =
		make_file(PERF_ATTR_SIZE_VER7, PERF_SAMPLE_IP, records, nr_bytes);
	struct perfdata_reader *reader;
	int end;

	/* so that the records don't end with the file */
	perfdata_buffer__add_zeros(&file, 64);
	CHECK_EQ(open_buffer(&file, &reader), 0);
	CHECK_EQ(count_records(reader, &end), nr);
	perfdata_reader__close(reader);
	perfdata_buffer__release(&file);
	return end;
}

TEST(broken_records)
{
	struct perf_event_header records[2] = {round_end, round_end};

	CHECK_EQ(end_of(records, 16, 2), 0);
	CHECK_EQ(end_of(records, 12, 1), -EINVAL); /* half of a header */
	records[1].size = 0; /* where a loop wouldn't end */
	CHECK_EQ(end_of(records, 16, 1), -EINVAL);
	records[1].size = 7;
	CHECK_EQ(end_of(records, 16, 1), -EINVAL);
	records[0].size = 12;
	CHECK_EQ(end_of(records, 16, 0), -EINVAL);
	records[0].size = 24; /* more than there is */
	CHECK_EQ(end_of(records, 16, 0), -EINVAL);
}

TEST(auxtrace_has_a_payload)
{
	struct {
		struct perfdata_auxtrace aux;
		uint64_t payload[3];
		struct perf_event_header next;
	} records = {
		.aux = {.header = {.type = PERFDATA_RECORD_AUXTRACE,
				   .size = sizeof(records.aux)},
			.payload_bytes = sizeof(records.payload)},
		.next = round_end,
	};

	CHECK_EQ(end_of(&records, sizeof(records), 2), 0);
	CHECK_EQ(end_of(&records, sizeof(records) - 16, 0), -EINVAL);
	records.aux.payload_bytes = 12;
	CHECK_EQ(end_of(&records, sizeof(records), 0), -EINVAL);
	records.aux.payload_bytes = UINT64_MAX - 15; /* back to its start */
	CHECK_EQ(end_of(&records, sizeof(records), 0), -EINVAL);
	records.aux.payload_bytes = 24;
	records.aux.header.size = 8;
	CHECK_EQ(end_of(&records, sizeof(records), 0), -EINVAL);
}

TEST(compressed_records_that_no_header_tells_of)
{
	struct perf_event_header records[2] = {
		round_end, {.type = PERFDATA_RECORD_COMPRESSED, .size = 8}};

	CHECK_EQ(end_of(records, 16, 1), -EINVAL);
	records[1].type = PERFDATA_RECORD_COMPRESSED2;
	CHECK_EQ(end_of(records, 16, 1), -EINVAL);
}

/* Two events, ids 1 and 2. */
static struct perfdata_buffer make_two_events(uint64_t type_0, uint64_t type_1)
{
	struct perfdata_file_header header = {.magic = PERFDATA_MAGIC,
					      .size = sizeof(header),
					      .attr_size = 80,
					      .attrs = {.offset = sizeof(header) + 16,
							.size = 160}};
	struct perf_event_attr attr = {.sample_type = type_0, .sample_id_all = 1};
	struct perfdata_section ids = {.offset = sizeof(header), .size = 8};
	struct perfdata_buffer file = {0};

	header.data.offset = header.attrs.offset + header.attrs.size;
	perfdata_buffer__add(&file, &header, sizeof(header));
	perfdata_buffer__add_u64(&file, 1);
	perfdata_buffer__add_u64(&file, 2);
	perfdata_buffer__add(&file, &attr, PERF_ATTR_SIZE_VER0);
	perfdata_buffer__add(&file, &ids, sizeof(ids));
	attr.sample_type = type_1;
	ids.offset += 8;
	perfdata_buffer__add(&file, &attr, PERF_ATTR_SIZE_VER0);
	perfdata_buffer__add(&file, &ids, sizeof(ids));
	CHECK(!file.no_memory);
	return file;
}

TEST(whose_a_record_is)
{
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
	struct perfdata_buffer file = make_two_events(type | PERF_SAMPLE_IP, type);
	struct perfdata_reader *reader;
	struct {
		struct perf_event_header header;
		uint64_t tid, id, cpu;
	} record = {.header = {.type = PERF_RECORD_SAMPLE, .size = 32}, .id = 2};

	/* perf couldn't tell these two from each other either */
	CHECK_EQ(error_of(file.data, file.nr_bytes), -EINVAL);
	perfdata_buffer__release(&file);
	file = make_two_events(type, type | PERF_SAMPLE_PERIOD);
	CHECK_EQ(open_buffer(&file, &reader), 0);
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), 1);
	record.id = 1;
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), 0);
	record.id = 0;
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), -ENOENT);
	record.id = 3;
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), -ENOENT);
	record.id = 2;
	record.header.size = 16;
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), -ENOENT);

	record.header.type = PERF_RECORD_COMM;
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), -ENOENT);
	record.header.size = 32;
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), 1);
	record.id = 0; /* perf made it up, before it had ids */
	CHECK_EQ(perfdata_reader__find_event(reader, &record.header), 0);
	perfdata_reader__close(reader);
	perfdata_buffer__release(&file);
}

/* A feature whose section says something else than the file has. */
TEST(features_that_lie)
{
	struct perfdata_buffer file = make_file(PERF_ATTR_SIZE_VER7, PERF_SAMPLE_IP,
						&round_end, sizeof(round_end));
	struct perfdata_file_header *header = (void *)file.data;
	struct perfdata_section section = {.offset = file.nr_bytes + 16, .size = 8};
	struct perfdata_reader *reader;
	const void *feature;
	size_t nr_bytes;
	int end;

	header->features[0] |= 1ull << HEADER_HOSTNAME;
	perfdata_buffer__add(&file, &section, sizeof(section));
	perfdata_buffer__add_u32(&file, 4);
	perfdata_buffer__add(&file, "host", 4); /* no NUL */
	CHECK_EQ(open_buffer(&file, &reader), 0);
	CHECK(perfdata_reader__feature(reader, HEADER_HOSTNAME, &feature, &nr_bytes));
	CHECK_EQ(nr_bytes, 8);
	CHECK(!perfdata_reader__feature_string(reader, HEADER_HOSTNAME));
	CHECK(!perfdata_reader__feature(reader, 256, &feature, &nr_bytes));
	perfdata_reader__close(reader);

	file.nr_bytes--; /* its end is not there */
	CHECK_EQ(open_buffer(&file, &reader), 0);
	CHECK(!perfdata_reader__feature(reader, HEADER_HOSTNAME, &feature, &nr_bytes));
	CHECK_EQ(count_records(reader, &end), 1);
	CHECK_EQ(end, 0);
	perfdata_reader__close(reader);
	perfdata_buffer__release(&file);
}
