// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording of stock perf (test_perfdata_reader.c), in pipe mode and with compressed
 * records, is read as it is without; whatever is broken, cut or bursts is refused in words.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "perfdata/buffer.h"
#include "perfdata/cursor.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "util/log.h"

#define RECORDING "tests/data/perf-cpu-clock.data"

static struct perfdata_reader *open_recording(void)
{
	struct perfdata_reader *reader;

	CHECK_EQ(perfdata_reader__open(RECORDING, &reader), 0);
	return reader;
}

static int open_bytes(const void *data, size_t nr_bytes, struct perfdata_reader **ret)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC), err;

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, data, nr_bytes), nr_bytes);
	err = perfdata_reader__open_fd(fd, "test", ret);
	close(fd);
	return err;
}

/* What opening and reading it ends with */
static int end_of(const void *data, size_t nr_bytes, size_t *ret_nr)
{
	const struct perf_event_header *record;
	struct perfdata_reader *reader;
	uint64_t cursor = 0;
	int ret;

	*ret_nr = 0;
	ret = open_bytes(data, nr_bytes, &reader);
	if (ret)
		return ret;
	while ((ret = perfdata_reader__next(reader, &cursor, &record)) > 0)
		(*ret_nr)++;
	perfdata_reader__close(reader);
	return ret;
}

static void add_record(struct perfdata_buffer *to, uint32_t type, const void *data,
		       size_t bytes)
{
	struct perf_event_header header = {.type = type,
					   .size = (uint16_t)(sizeof(header) + bytes)};

	perfdata_buffer__add(to, &header, sizeof(header));
	perfdata_buffer__add(to, data, bytes);
}

/* --- pipe mode ---------------------------------------------------------------------- */

static void add_events(struct perfdata_buffer *pipe, const struct perfdata_reader *from)
{
	for (size_t i = 0; i < perfdata_reader__nr_events(from); i++) {
		const struct perfdata_event_desc *event = perfdata_reader__event(from, i);
		struct perfdata_buffer record = {0};

		perfdata_buffer__add(&record, &event->attr, sizeof(event->attr));
		perfdata_buffer__add(&record, event->ids,
				     event->nr_ids * sizeof(*event->ids));
		/* attr.size may be less than ours: perf's of then */
		CHECK(event->attr.size <= sizeof(event->attr));
		memmove(record.data + event->attr.size, record.data + sizeof(event->attr),
			record.nr_bytes - sizeof(event->attr));
		add_record(pipe, PERFDATA_RECORD_HEADER_ATTR, record.data,
			   record.nr_bytes - sizeof(event->attr) + event->attr.size);
		perfdata_buffer__release(&record);
	}
}

/* The same in both, but that the file's have no type */
static void add_build_ids(struct perfdata_buffer *pipe, const unsigned char *table,
			  size_t bytes)
{
	struct perf_event_header header;

	for (size_t at = 0; at < bytes; at += header.size) {
		memcpy(&header, table + at, sizeof(header));
		header.type = PERFDATA_RECORD_HEADER_BUILD_ID;
		perfdata_buffer__add(pipe, &header, sizeof(header));
		perfdata_buffer__add(pipe, table + at + sizeof(header),
				     header.size - sizeof(header));
	}
}

static void add_features(struct perfdata_buffer *pipe, const struct perfdata_reader *from)
{
	static const uint64_t last = 32; /* without anything: these were all */
	const void *data;
	size_t bytes;

	for (uint64_t i = 0; i < PERFDATA_NR_FEATURES; i++) {
		struct perfdata_buffer record = {0};

		if (!perfdata_reader__feature(from, (unsigned int)i, &data, &bytes))
			continue;
		if (i == HEADER_BUILD_ID) {
			add_build_ids(pipe, data, bytes);
			continue;
		}
		perfdata_buffer__add_u64(&record, i);
		perfdata_buffer__add(&record, data, bytes);
		add_record(pipe, PERFDATA_RECORD_HEADER_FEATURE, record.data,
			   record.nr_bytes);
		perfdata_buffer__release(&record);
	}
	add_record(pipe, PERFDATA_RECORD_HEADER_FEATURE, &last, sizeof(last));
}

static void add_records(struct perfdata_buffer *pipe, struct perfdata_reader *from)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0;

	while (perfdata_reader__next(from, &cursor, &record) > 0)
		perfdata_buffer__add(pipe, record, record->size);
}

static void begin_pipe(struct perfdata_buffer *pipe)
{
	perfdata_buffer__add_u64(pipe, PERFDATA_MAGIC);
	perfdata_buffer__add_u64(pipe, PERFDATA_PIPE_HEADER_BYTES);
}

/* What tells of tracepoints is behind a record, which is no multiple of 8. */
static void add_tracing_data(struct perfdata_buffer *pipe)
{
	const uint32_t bytes = 13;

	add_record(pipe, PERFDATA_RECORD_HEADER_TRACING_DATA, &bytes, sizeof(bytes));
	perfdata_buffer__add(pipe, "tracing data\0\0\0", 16);
}

static struct perfdata_buffer make_pipe(void)
{
	struct perfdata_reader *reader = open_recording();
	struct perfdata_buffer pipe = {0};

	begin_pipe(&pipe);
	add_events(&pipe, reader);
	add_features(&pipe, reader);
	add_tracing_data(&pipe);
	add_records(&pipe, reader);
	CHECK(!pipe.no_memory);
	perfdata_reader__close(reader);
	return pipe;
}

static void check_events(const struct perfdata_reader *a, const struct perfdata_reader *b)
{
	CHECK_EQ(perfdata_reader__nr_events(a), perfdata_reader__nr_events(b));
	for (size_t i = 0; i < perfdata_reader__nr_events(a); i++) {
		const struct perfdata_event_desc *x = perfdata_reader__event(a, i);
		const struct perfdata_event_desc *y = perfdata_reader__event(b, i);

		CHECK(!memcmp(&x->attr, &y->attr, sizeof(x->attr)));
		CHECK_EQ(x->nr_ids, y->nr_ids);
		CHECK(!memcmp(x->ids, y->ids, x->nr_ids * sizeof(*x->ids)));
		CHECK_STR(x->name, y->name);
	}
}

static void check_build_ids(const void *x, const void *y, size_t bytes)
{
	struct perfdata_cursor cursor_x = perfdata_cursor__new(x, bytes);
	struct perfdata_cursor cursor_y = perfdata_cursor__new(y, bytes);
	struct perfdata_file_id id_x, id_y;
	size_t nr = 0;

	while (perfdata_feature__next_build_id(&cursor_x, &id_x) > 0) {
		CHECK_EQ(perfdata_feature__next_build_id(&cursor_y, &id_y), 1);
		CHECK_STR(id_x.path, id_y.path);
		CHECK_EQ(id_x.id_bytes, id_y.id_bytes);
		CHECK(!memcmp(id_x.id, id_y.id, id_x.id_bytes));
		nr++;
	}
	CHECK(nr > 0);
}

static void check_features(const struct perfdata_reader *a,
			   const struct perfdata_reader *b)
{
	const void *x, *y;
	size_t nr_x, nr_y;

	for (unsigned int i = 0; i < PERFDATA_NR_FEATURES; i++) {
		if (i == HEADER_COMPRESSED || i == HEADER_TRACING_DATA ||
		    !perfdata_reader__feature(a, i, &x, &nr_x))
			continue;
		CHECK(perfdata_reader__feature(b, i, &y, &nr_y));
		CHECK_EQ(nr_x, nr_y);
		if (i == HEADER_BUILD_ID)
			check_build_ids(x, y, nr_x);
		else
			CHECK(!memcmp(x, y, nr_x));
	}
}

/* The kernel's records; perf's own need not be there. */
static int next_of_kernel(struct perfdata_reader *reader, uint64_t *cursor,
			  const struct perf_event_header **ret)
{
	int result;

	while ((result = perfdata_reader__next(reader, cursor, ret)) > 0 &&
	       (*ret)->type >= PERFDATA_RECORD_USER_START)
		;
	return result;
}

static void check_records(struct perfdata_reader *a, struct perfdata_reader *b)
{
	const struct perf_event_header *x, *y;
	uint64_t cursor_a = 0, cursor_b = 0;
	size_t nr = 0;

	while (next_of_kernel(a, &cursor_a, &x) > 0) {
		CHECK_EQ(next_of_kernel(b, &cursor_b, &y), 1);
		CHECK_EQ(x->size, y->size);
		CHECK(!memcmp(x, y, x->size));
		nr++;
	}
	CHECK_EQ(next_of_kernel(b, &cursor_b, &y), 0);
	CHECK(nr > 20);
}

static void check_same(const void *data, size_t bytes)
{
	struct perfdata_reader *plain = open_recording(), *unpacked;

	CHECK_EQ(open_bytes(data, bytes, &unpacked), 0);
	check_events(plain, unpacked);
	check_features(plain, unpacked);
	check_records(plain, unpacked);
	perfdata_reader__close(unpacked);
	perfdata_reader__close(plain);
}

TEST(pipe_mode_is_read_as_a_file)
{
	struct perfdata_buffer pipe = make_pipe();
	struct perfdata_reader *reader;
	const void *data;
	size_t bytes;

	check_same(pipe.data, pipe.nr_bytes);
	CHECK_EQ(open_bytes(pipe.data, pipe.nr_bytes, &reader), 0);
	CHECK(perfdata_reader__feature(reader, HEADER_TRACING_DATA, &data, &bytes));
	CHECK_EQ(bytes, 16);
	CHECK(!memcmp(data, "tracing data", 13));
	perfdata_reader__close(reader);
	perfdata_buffer__release(&pipe);
}

TEST(what_comes_out_of_a_pipe_is_read_to_its_end)
{
	struct perfdata_buffer pipe_mode = make_pipe();
	struct perfdata_reader *plain = open_recording(), *reader;
	int fds[2];

	CHECK_EQ(pipe(fds), 0);
	CHECK(pipe_mode.nr_bytes < 65536); /* what a pipe holds */
	CHECK_EQ(write(fds[1], pipe_mode.data, pipe_mode.nr_bytes), pipe_mode.nr_bytes);
	close(fds[1]);
	CHECK_EQ(perfdata_reader__open_fd(fds[0], "standard input", &reader), 0);
	close(fds[0]);
	check_records(plain, reader);
	perfdata_reader__close(reader);
	perfdata_reader__close(plain);
	perfdata_buffer__release(&pipe_mode);
}

TEST(cut_streams_have_what_precedes)
{
	struct perfdata_buffer pipe = make_pipe();
	size_t nr, nr_whole, nr_before = 0;
	int ret;

	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr_whole), 0);
	for (size_t bytes = 1; bytes < pipe.nr_bytes; bytes++) {
		ret = end_of(pipe.data, bytes, &nr);
		/* 0: cut between two records, which nobody can tell */
		CHECK(ret == 0 || ret == -ENODATA || ret == -EINVAL);
		CHECK(nr <= nr_whole && (nr >= nr_before || nr == 1));
		nr_before = nr;
	}
	CHECK(nr_before >= nr_whole - 1);
	perfdata_buffer__release(&pipe);
}

TEST(broken_streams_are_refused)
{
	struct perf_event_header nothing = {.type = PERF_RECORD_COMM};
	struct perf_event_header odd = {.type = PERF_RECORD_COMM, .size = 12};
	struct perf_event_attr attr = {.size = 60000};
	struct perfdata_buffer pipe = {0};
	size_t nr;

	begin_pipe(&pipe);
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), -EINVAL); /* no events */
	perfdata_buffer__add(&pipe, &nothing, sizeof(nothing));
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), -EINVAL); /* a size of 0 */
	pipe.nr_bytes = PERFDATA_PIPE_HEADER_BYTES;
	add_record(&pipe, PERFDATA_RECORD_HEADER_ATTR, &attr, sizeof(attr));
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), -EINVAL);
	attr.size = 8; /* no attr is so short */
	pipe.nr_bytes = PERFDATA_PIPE_HEADER_BYTES;
	add_record(&pipe, PERFDATA_RECORD_HEADER_ATTR, &attr, sizeof(attr));
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), -EINVAL);
	attr.size = sizeof(attr);
	pipe.nr_bytes = PERFDATA_PIPE_HEADER_BYTES;
	add_record(&pipe, PERFDATA_RECORD_HEADER_ATTR, &attr, sizeof(attr));
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), 0); /* nothing was recorded */
	CHECK_EQ(nr, 1);
	perfdata_buffer__add(&pipe, &odd, sizeof(odd));
	perfdata_buffer__add_u32(&pipe, 0);
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), -EINVAL); /* 12 bytes */
	perfdata_buffer__release(&pipe);
}

TEST(aux_data_of_a_stream_are_passed_over)
{
	struct perfdata_auxtrace aux = {
		.header = {.type = PERFDATA_RECORD_AUXTRACE, .size = sizeof(aux)},
		.payload_bytes = 24,
	};
	struct perfdata_buffer pipe = make_pipe();
	struct perf_event_header last = {.type = PERF_RECORD_LOST, .size = sizeof(last)};
	size_t nr, nr_before;

	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr_before), 0);
	perfdata_buffer__add(&pipe, &aux, sizeof(aux));
	perfdata_buffer__add(&pipe, "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0",
			     24);
	perfdata_buffer__add(&pipe, &last, sizeof(last));
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), 0);
	CHECK_EQ(nr, nr_before + 1);
	/* A payload that is not there: the recorder was killed. */
	aux.payload_bytes = UINT64_MAX - 7;
	perfdata_buffer__add(&pipe, &aux, sizeof(aux));
	CHECK_EQ(end_of(pipe.data, pipe.nr_bytes, &nr), -ENODATA);
	CHECK_EQ(nr, nr_before + 1);
	perfdata_buffer__release(&pipe);
}

/* --- compressed records --------------------------------------------------------------- */

#ifdef HAVE_ZSTD

/* The bytes as perf has them: a stream that is flushed, cut into records of odd sizes */
static struct perfdata_buffer compress(const void *data, size_t bytes, uint32_t type)
{
	struct perfdata_buffer records = {0};
	size_t room = ZSTD_compressBound(bytes);
	unsigned char *packed = malloc(room);
	size_t nr = ZSTD_compress(packed, room, data, bytes, 3), piece;

	CHECK(!ZSTD_isError(nr));
	for (size_t at = 0; at < nr; at += piece) {
		piece = nr - at < 1234 ? nr - at : 1234 + at % 7;
		if (piece > nr - at)
			piece = nr - at;
		if (type == PERFDATA_RECORD_COMPRESSED2) {
			struct perfdata_buffer record = {0};

			perfdata_buffer__add_u64(&record, piece);
			perfdata_buffer__add(&record, packed + at, piece);
			perfdata_buffer__add_zeros(&record, -piece % 8);
			add_record(&records, type, record.data, record.nr_bytes);
			perfdata_buffer__release(&record);
		} else {
			add_record(&records, type, packed + at, piece);
		}
	}
	free(packed);
	return records;
}

static struct perfdata_buffer load(const char *path)
{
	struct perfdata_buffer file = {0};
	FILE *stream = fopen(path, "r");
	char bytes[4096];
	size_t nr;

	CHECK(stream);
	while ((nr = fread(bytes, 1, sizeof(bytes), stream)) > 0)
		perfdata_buffer__add(&file, bytes, nr);
	fclose(stream);
	CHECK(!file.no_memory);
	return file;
}

/* The recording's file, with compressed records in the place of its own */
static struct perfdata_buffer compress_file(uint32_t type)
{
	struct perfdata_buffer file = load(RECORDING), packed, result = {0};
	const unsigned char *table;
	struct perfdata_file_header header;
	struct perfdata_section section;
	uint64_t end;

	memcpy(&header, file.data, sizeof(header));
	packed = compress(file.data + header.data.offset, header.data.size, type);
	end = header.data.offset + header.data.size;
	table = file.data + end;
	header.data.size = packed.nr_bytes;
	header.features[0] |= 1ull << HEADER_COMPRESSED;
	perfdata_buffer__add(&result, &header, sizeof(header));
	perfdata_buffer__add(&result, file.data + sizeof(header),
			     header.data.offset - sizeof(header));
	perfdata_buffer__add(&result, packed.data, packed.nr_bytes);
	for (unsigned int i = 0; i < 64; i++) {
		if (!(header.features[0] & 1ull << i))
			continue;
		if (i == HEADER_COMPRESSED) {
			section = (struct perfdata_section){0};
		} else {
			memcpy(&section, table, sizeof(section));
			table += sizeof(section);
			section.offset += packed.nr_bytes + sizeof(section);
			section.offset -= end - header.data.offset;
		}
		perfdata_buffer__add(&result, &section, sizeof(section));
	}
	perfdata_buffer__add(&result, table, (size_t)(file.data + file.nr_bytes - table));
	perfdata_buffer__release(&packed);
	perfdata_buffer__release(&file);
	CHECK(!result.no_memory);
	return result;
}

TEST(compressed_records_are_read)
{
	static const uint32_t types[] = {PERFDATA_RECORD_COMPRESSED,
					 PERFDATA_RECORD_COMPRESSED2};

	for (size_t i = 0; i < 2; i++) {
		struct perfdata_buffer file = compress_file(types[i]);

		check_same(file.data, file.nr_bytes);
		perfdata_buffer__release(&file);
	}
}

TEST(compressed_records_of_a_stream_are_read)
{
	struct perfdata_reader *reader = open_recording();
	struct perfdata_buffer pipe = {0}, records = {0}, packed;

	add_records(&records, reader);
	packed = compress(records.data, records.nr_bytes, PERFDATA_RECORD_COMPRESSED);
	begin_pipe(&pipe);
	add_events(&pipe, reader);
	add_features(&pipe, reader);
	perfdata_buffer__add(&pipe, packed.data, packed.nr_bytes);
	check_same(pipe.data, pipe.nr_bytes);
	perfdata_buffer__release(&packed);
	perfdata_buffer__release(&records);
	perfdata_buffer__release(&pipe);
	perfdata_reader__close(reader);
}

TEST(killed_recorder_has_compressed_what_precedes)
{
	struct perfdata_buffer file = compress_file(PERFDATA_RECORD_COMPRESSED);
	struct perfdata_file_header *header = (void *)file.data;
	size_t nr, nr_whole, bytes = header->data.offset + header->data.size;

	CHECK_EQ(end_of(file.data, file.nr_bytes, &nr_whole), 0);
	header->data.size = 0;
	CHECK_EQ(end_of(file.data, bytes, &nr), -ENODATA);
	CHECK_EQ(nr, nr_whole);
	/* A zstd block is there only as a whole. */
	CHECK_EQ(end_of(file.data, bytes - 1, &nr), -ENODATA);
	CHECK(nr < nr_whole);
	perfdata_buffer__release(&file);
}

/* Records that are one after another @nr times, in a stream */
static struct perfdata_buffer make_bomb(const void *record, size_t bytes, size_t nr)
{
	struct perfdata_reader *reader = open_recording();
	struct perfdata_buffer bomb = {0}, pipe = {0}, packed;

	for (size_t i = 0; i < nr; i++)
		perfdata_buffer__add(&bomb, record, bytes);
	CHECK(!bomb.no_memory);
	packed = compress(bomb.data, bomb.nr_bytes, PERFDATA_RECORD_COMPRESSED);
	begin_pipe(&pipe);
	add_events(&pipe, reader);
	perfdata_buffer__add(&pipe, packed.data, packed.nr_bytes);
	CHECK(pipe.nr_bytes < 65536);
	perfdata_buffer__release(&packed);
	perfdata_buffer__release(&bomb);
	perfdata_reader__close(reader);
	return pipe;
}

TEST(bombs_are_refused)
{
	struct perf_event_header round = {.type = PERFDATA_RECORD_FINISHED_ROUND,
					  .size = sizeof(round)};
	static uint64_t large[65528 / sizeof(uint64_t)];
	struct perfdata_buffer bomb;
	size_t nr;

	/* More records than bytes */
	bomb = make_bomb(&round, sizeof(round), 200000);
	CHECK_EQ(end_of(bomb.data, bomb.nr_bytes, &nr), -EINVAL);
	perfdata_buffer__release(&bomb);
	/* No records at all: a size of 0 */
	bomb = make_bomb(large, sizeof(large), 1000);
	CHECK_EQ(end_of(bomb.data, bomb.nr_bytes, &nr), -EINVAL);
	perfdata_buffer__release(&bomb);
	/* 100 MB of long records aren't too much for anybody ... */
	memcpy(large,
	       &(struct perf_event_header){.type = PERF_RECORD_COMM, .size = 65528},
	       sizeof(round));
	bomb = make_bomb(large, sizeof(large), 1600);
	CHECK_EQ(end_of(bomb.data, bomb.nr_bytes, &nr), 0);
	CHECK_EQ(nr, 1600);
	perfdata_buffer__release(&bomb);
}

TEST(what_perf_has_not_compressed_is_refused)
{
	static const char nonsense[] = "this was never compressed by anybody";
	struct perfdata_buffer packed = {0}, twice, file = {0};
	struct perfdata_reader *reader = open_recording();
	const uint64_t long_size[2] = {UINT64_MAX, 0};
	size_t nr, begin;

	begin_pipe(&file);
	add_events(&file, reader);
	begin = file.nr_bytes;
	add_record(&file, PERFDATA_RECORD_COMPRESSED, nonsense, sizeof(nonsense));
	CHECK_EQ(end_of(file.data, file.nr_bytes, &nr), -EINVAL);
	/* Longer than it is, and too short to say how long */
	file.nr_bytes = begin;
	add_record(&file, PERFDATA_RECORD_COMPRESSED2, long_size, sizeof(long_size));
	CHECK_EQ(end_of(file.data, file.nr_bytes, &nr), -EINVAL);
	file.nr_bytes = begin;
	add_record(&file, PERFDATA_RECORD_COMPRESSED2, long_size, 4);
	CHECK_EQ(end_of(file.data, file.nr_bytes, &nr), -EINVAL);
	/* Compressed records within compressed records */
	add_record(&packed, PERFDATA_RECORD_COMPRESSED, nonsense, 8);
	twice = compress(packed.data, packed.nr_bytes, PERFDATA_RECORD_COMPRESSED);
	file.nr_bytes = begin;
	perfdata_buffer__add(&file, twice.data, twice.nr_bytes);
	CHECK_EQ(end_of(file.data, file.nr_bytes, &nr), -EINVAL);
	perfdata_buffer__release(&twice);
	perfdata_buffer__release(&packed);
	perfdata_buffer__release(&file);
	perfdata_reader__close(reader);
}

/* What is damaged is read in part, or refused, and never more than there was. */
TEST(damaged_compressed_files)
{
	struct perfdata_buffer file = compress_file(PERFDATA_RECORD_COMPRESSED);
	int ret;

	for (size_t at = 0; at < file.nr_bytes; at += 7) {
		unsigned char was = file.data[at];
		size_t nr;

		file.data[at] ^= 0x55;
		ret = end_of(file.data, file.nr_bytes, &nr);
		CHECK(ret == 0 || ret == -ENODATA || ret == -EINVAL || ret == -ENOTSUP);
		file.data[at] = was;
	}
	perfdata_buffer__release(&file);
}

#endif
