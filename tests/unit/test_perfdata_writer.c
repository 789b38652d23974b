// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The writer, and the header features, read back by the reader. What stock perf
 * says to the same file is tests/shell/test_perfdata.sh's.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "perfdata/writer.h"

#define NR_SAMPLES 20000 /* several times the writer's buffer */
#define FIRST_NS   1000000000
#define STEP_NS	   50000 /* from one sample to the next */
#define PERIOD_NS  50

static const struct perf_event_attr gpu_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.size = sizeof(gpu_attr),
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		       PERF_SAMPLE_CALLCHAIN,
	.read_format = PERF_FORMAT_ID,
	.sample_id_all = 1,
	.exclude_kernel = 1,
};

static const uint64_t gpu_ids[] = {77, 78};
static const uint64_t other_id = 79;

static char folder[64];
static char path[128];

/* Removed at exit, so also when a check has failed no file stays behind. */
static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		fprintf(stderr, "%s is left behind\n", folder);
}

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/perf-gpu-test.XXXXXX");
	CHECK(mkdtemp(folder));
	atexit(remove_folder);
	snprintf(path, sizeof(path), "%s/perf.data", folder);
}

static int nr_files(void)
{
	struct dirent **entries;
	int nr = scandir(folder, &entries, NULL, NULL);

	for (int i = 0; i < nr; i++)
		free(entries[i]);
	free(entries);
	return nr - 2;
}

static struct perfdata_writer *open_writer(const char *where)
{
	struct perf_event_attr other_attr = gpu_attr;
	struct perfdata_writer *writer = NULL;

	CHECK_EQ(perfdata_writer__open(where, &writer), 0);
	CHECK_EQ(perfdata_writer__add_event(writer, &gpu_attr, gpu_ids, 2, "gpu-kernel"),
		 0);
	other_attr.config = PERF_COUNT_SW_DUMMY;
	CHECK_EQ(perfdata_writer__add_event(writer, &other_attr, &other_id, 1, "dummy:u"),
		 0);
	return writer;
}

static void write_comm(struct perfdata_writer *writer)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
		uint64_t id[6];
	} record = {.header.type = PERF_RECORD_COMM, .pid = 10, .tid = 10, .comm = "app"};
	struct perfdata_sample id = {.pid = 10, .tid = 10, .id = other_id, .time_ns = 1};

	record.header.size =
		(uint16_t)(32 + perfdata_sample__write_id(&gpu_attr, &id, record.id));
	CHECK_EQ(perfdata_writer__write(writer, &record.header), 0);
}

static int write_sample(struct perfdata_writer *writer, uint64_t time_ns)
{
	static const uint64_t ips[] = {PERF_CONTEXT_USER, 0x1234, 0x5678};
	struct perfdata_sample sample = {.id = gpu_ids[time_ns / STEP_NS % 2],
					 .ip = ips[1],
					 .pid = 10,
					 .tid = 10,
					 .time_ns = time_ns,
					 .period = PERIOD_NS,
					 .ips = ips,
					 .nr_ips = 3,
					 .misc = PERF_RECORD_MISC_USER};
	union {
		struct perf_event_header header;
		uint64_t words[16];
	} record;

	CHECK(perfdata_sample__write(&gpu_attr, &sample, &record, sizeof(record)) > 0);
	return perfdata_writer__write(writer, &record.header);
}

static void set_features(struct perfdata_writer *writer)
{
	static const char *const args[] = {"/usr/bin/perf-gpu", "record", "--", "./app",
					   NULL};
	static const uint8_t build_id[20] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
					     0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
					     0x0f, 0x10, 0x11, 0x12, 0x13, 0x14};
	struct perfdata_buffer files = {0};

	CHECK_EQ(perfdata_writer__set_feature_string(writer, HEADER_HOSTNAME, "example"),
		 0);
	CHECK_EQ(perfdata_writer__set_feature_string(writer, HEADER_OSRELEASE, "6.18.0"),
		 0);
	CHECK_EQ(perfdata_writer__set_feature_string(writer, HEADER_ARCH, "x86_64"), 0);
	CHECK_EQ(perfdata_writer__set_feature_string(writer, HEADER_CPUDESC, "a CPU"), 0);
	CHECK_EQ(perfdata_feature__set_nr_cpus(writer, 8, 6), 0);
	CHECK_EQ(perfdata_feature__set_total_memory(writer, 1 << 20), 0);
	CHECK_EQ(perfdata_writer__set_feature_string(writer, HEADER_VERSION, "0.0"), 0);
	CHECK_EQ(perfdata_writer__set_feature_string(writer, HEADER_VERSION, "0.1"), 0);
	CHECK_EQ(perfdata_feature__set_cmdline(writer, args), 0);
	CHECK_EQ(perfdata_feature__set_sample_time(writer, FIRST_NS,
						   FIRST_NS + (NR_SAMPLES - 1) * STEP_NS),
		 0);
	CHECK_EQ(perfdata_feature__set_clock(writer, CLOCK_MONOTONIC, 1700000000000000000,
					     123456789),
		 0);
	perfdata_feature__add_build_id(&files, PERF_RECORD_MISC_USER, build_id, 20,
				       "/usr/bin/app");
	perfdata_feature__add_build_id(&files, PERF_RECORD_MISC_USER, build_id, 16,
				       "/usr/lib/libshort.so");
	CHECK(!files.no_memory);
	CHECK_EQ(perfdata_writer__set_feature(writer, HEADER_BUILD_ID, files.data,
					      files.nr_bytes),
		 0);
	perfdata_buffer__release(&files);
}

/* tests/shell/test_perfdata.sh names the file, and gives it to perf. */
static void write_whole(const char *where)
{
	struct perfdata_writer *writer = open_writer(where);

	set_features(writer);
	write_comm(writer);
	for (uint64_t i = 0; i < NR_SAMPLES; i++)
		CHECK_EQ(write_sample(writer, FIRST_NS + i * STEP_NS), 0);
	CHECK_EQ(perfdata_writer__commit(writer), 0);
	perfdata_writer__close(writer);
}

static void check_events(const struct perfdata_reader *reader)
{
	const struct perfdata_event_desc *event;

	CHECK_EQ(perfdata_reader__nr_events(reader), 2);
	event = perfdata_reader__event(reader, 0);
	CHECK_STR(event->name, "gpu-kernel");
	CHECK_EQ(event->nr_ids, 2);
	CHECK_MEM(event->ids, gpu_ids, sizeof(gpu_ids));
	CHECK_EQ(event->attr.size, PERF_ATTR_SIZE_VER7);
	CHECK_EQ(event->attr.sample_type, gpu_attr.sample_type);
	CHECK(event->attr.exclude_kernel);
	event = perfdata_reader__event(reader, 1);
	CHECK_STR(event->name, "dummy:u");
	CHECK_EQ(event->nr_ids, 1);
	CHECK_EQ(event->ids[0], other_id);
	CHECK_EQ(event->attr.config, PERF_COUNT_SW_DUMMY);
}

static void check_records(struct perfdata_reader *reader)
{
	const struct perf_event_header *record;
	struct perfdata_sample sample;
	uint64_t cursor = 0, where, nr = 0;

	CHECK_EQ(perfdata_reader__next(reader, &cursor, &record), 1);
	CHECK_EQ(record->type, PERF_RECORD_COMM);
	CHECK_EQ(perfdata_reader__find_event(reader, record), 1);
	for (where = cursor; perfdata_reader__next(reader, &cursor, &record) == 1;
	     where = cursor) {
		CHECK_EQ(perfdata_reader__find_event(reader, record), 0);
		CHECK_EQ(perfdata_reader__at(reader, where), record);
		CHECK_EQ(perfdata_sample__parse(&gpu_attr, record, &sample), 0);
		CHECK_EQ(sample.time_ns, FIRST_NS + nr * STEP_NS);
		CHECK_EQ(sample.nr_ips, 3);
		nr++;
	}
	CHECK_EQ(nr, NR_SAMPLES);
	CHECK_EQ(perfdata_reader__next(reader, &cursor, &record), 0);
}

TEST(whole_file)
{
	const char *where = getenv("PERFDATA_TEST_FILE");
	struct perfdata_reader *reader;
	struct stat st;

	if (!where) {
		make_folder();
		where = path;
	}
	write_whole(where);
	CHECK_EQ(stat(where, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK_EQ(perfdata_reader__open(where, &reader), 0);
	check_events(reader);
	check_records(reader);
	CHECK_STR(perfdata_reader__feature_string(reader, HEADER_VERSION), "0.1");
	CHECK_STR(perfdata_reader__feature_string(reader, HEADER_HOSTNAME), "example");
	CHECK(!perfdata_reader__feature_string(reader, HEADER_CPUID));
	perfdata_reader__close(reader);
}

TEST(nothing_is_there_before_commit)
{
	struct perfdata_writer *writer;

	make_folder();
	writer = open_writer(path);
	CHECK_EQ(write_sample(writer, 1), 0);
	CHECK(perfdata_writer__bytes(writer) > 0);
	CHECK_EQ(access(path, F_OK), -1);
	CHECK_EQ(nr_files(), 1); /* the temporary one */
	perfdata_writer__close(writer);
	CHECK_EQ(nr_files(), 0);
}

TEST(uncommitted_leaves_the_old_file)
{
	struct perfdata_writer *writer;
	FILE *file;

	make_folder();
	file = fopen(path, "w");
	CHECK(file);
	fputs("old", file);
	fclose(file);
	writer = open_writer(path);
	CHECK_EQ(write_sample(writer, 1), 0);
	perfdata_writer__close(writer);
	file = fopen(path, "r");
	CHECK(file);
	CHECK_EQ(fgetc(file), 'o');
	fclose(file);
	CHECK_EQ(nr_files(), 1);
}

TEST(a_recording_of_nothing)
{
	const struct perf_event_header *record;
	struct perfdata_writer *writer;
	struct perfdata_reader *reader;
	uint64_t cursor = 0;

	make_folder();
	writer = open_writer(path);
	CHECK_EQ(perfdata_writer__commit(writer), 0);
	perfdata_writer__close(writer);
	CHECK_EQ(perfdata_reader__open(path, &reader), 0);
	check_events(reader);
	CHECK_EQ(perfdata_reader__next(reader, &cursor, &record), 1);
	CHECK_EQ(record->type, PERFDATA_RECORD_FINISHED_ROUND);
	CHECK_EQ(perfdata_reader__next(reader, &cursor, &record), 0);
	perfdata_reader__close(reader);
}

TEST(no_event_after_the_first_record)
{
	struct perfdata_writer *writer;

	make_folder();
	writer = open_writer(path);
	CHECK_EQ(write_sample(writer, 1), 0);
	CHECK_EQ(perfdata_writer__add_event(writer, &gpu_attr, gpu_ids, 2, "late"),
		 -EBUSY);
	perfdata_writer__close(writer);
}

/* Before anything is written, and when the attrs are in the file already */
static void drop_event(bool has_records)
{
	const struct perf_event_header *record;
	struct perfdata_writer *writer;
	struct perfdata_reader *reader;
	const uint64_t unused_id = 99;
	uint64_t cursor = 0;

	writer = open_writer(path);
	CHECK_EQ(perfdata_writer__add_event(writer, &gpu_attr, &unused_id, 1, "unused"),
		 0);
	if (has_records)
		CHECK_EQ(write_sample(writer, 1), 0);
	perfdata_writer__drop_last_event(writer);
	CHECK_EQ(perfdata_writer__commit(writer), 0);
	perfdata_writer__close(writer);
	CHECK_EQ(perfdata_reader__open(path, &reader), 0);
	check_events(reader);
	CHECK_EQ(perfdata_reader__next(reader, &cursor, &record), 1);
	CHECK_EQ(record->type,
		 has_records ? PERF_RECORD_SAMPLE : PERFDATA_RECORD_FINISHED_ROUND);
	perfdata_reader__close(reader);
}

TEST(an_event_without_records_can_be_dropped)
{
	make_folder();
	drop_event(false);
	drop_event(true);
}

TEST(features_that_are_none)
{
	struct perfdata_writer *writer;

	make_folder();
	writer = open_writer(path);
	CHECK_EQ(perfdata_writer__set_feature(writer, 256, "", 1), -EINVAL);
	CHECK_EQ(perfdata_writer__set_feature(writer, UINT32_MAX, "", 1), -EINVAL);
	CHECK_EQ(perfdata_writer__set_feature(writer, 0, "", 1), -EINVAL);
	CHECK_EQ(perfdata_writer__set_feature(writer, 255, NULL, 0), 0);
	CHECK_EQ(perfdata_writer__commit(writer), 0);
	perfdata_writer__close(writer);
}

TEST(a_broken_record_spoils_the_file)
{
	struct perf_event_header record = {.type = PERF_RECORD_LOST, .size = 12};
	struct perfdata_writer *writer;

	make_folder();
	writer = open_writer(path);
	CHECK_EQ(perfdata_writer__write(writer, &record), -EINVAL);
	CHECK_EQ(write_sample(writer, 1), -EINVAL);
	CHECK_EQ(perfdata_writer__commit(writer), -EINVAL);
	perfdata_writer__close(writer);
	CHECK_EQ(nr_files(), 0);
}

/*
 * A limit on files' sizes stands for a full disk. It is for what this process
 * prints too, so it must not stay.
 */
static void limit_files(rlim_t nr_bytes)
{
	struct rlimit limit = {.rlim_cur = nr_bytes, .rlim_max = RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(no_room_leaves_no_file)
{
	struct perfdata_writer *writer;
	int err = 0;

	make_folder();
	writer = open_writer(path);
	limit_files(300000);
	for (uint64_t i = 0; i < NR_SAMPLES && !err; i++)
		err = write_sample(writer, i);
	limit_files(RLIM_INFINITY);
	CHECK_EQ(err, -EFBIG);
	CHECK_EQ(write_sample(writer, 1), -EFBIG);
	CHECK_EQ(perfdata_writer__commit(writer), -EFBIG);
	perfdata_writer__close(writer);
	CHECK_EQ(nr_files(), 0);
}

TEST(no_room_for_the_end_leaves_no_file)
{
	struct perfdata_writer *writer;
	int err;

	make_folder();
	writer = open_writer(path);
	CHECK_EQ(write_sample(writer, 1), 0);
	CHECK(freopen("/dev/null", "w", stderr)); /* the message has no room either */
	limit_files(500);
	err = perfdata_writer__commit(writer);
	limit_files(RLIM_INFINITY);
	CHECK_EQ(err, -EFBIG);
	perfdata_writer__close(writer);
	CHECK_EQ(nr_files(), 0);
}

TEST(targets_that_cannot_be_written)
{
	struct perfdata_writer *writer = NULL;
	struct stat st;

	CHECK_EQ(perfdata_writer__open("/dev/null", &writer), -EINVAL);
	CHECK_EQ(stat("/dev/null", &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK_EQ(perfdata_writer__open("/tmp", &writer), -EISDIR);
	CHECK_EQ(perfdata_writer__open("/nonexistent/perf.data", &writer), -ENOENT);
	CHECK(!writer);
	perfdata_writer__close(NULL);
}

TEST(a_path_too_long_for_build_ids_is_left_out)
{
	struct perfdata_buffer files = {0};
	char *long_path = calloc(1, 70000);

	CHECK(long_path);
	memset(long_path, 'x', 69999);
	perfdata_feature__add_build_id(&files, 0, "id", 2, long_path);
	CHECK_EQ(files.nr_bytes, 0);
	CHECK(!files.no_memory);
	free(long_path);
}
