// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf.data that the sink writes, read back record by record.
 *
 * tests/shell/test_sink_perfdata.sh gives what write_for_perf leaves in $KEEP_DIR
 * to stock perf.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "perfdata/writer.h"
#include "sink/sink.h"
#include "unit.h"
#include "util/log.h"

enum { PID = 4711, LAUNCH_ID = 1, SIDEBAND_ID = 2, OTHER_ID = 300 };

#define NR(array) (sizeof(array) / sizeof(*(array)))

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint8_t inode[24];
	uint32_t prot, flags;
	char path[256];
	uint64_t id[4];
};

/* A recording, a sink that is fed, and what comes out */
struct fixture {
	char directory[64], input[80], output[80];
	struct perfdata_writer *writer;
	struct perf_event_attr launch, other;
	struct perfdata_reader *reader;
	struct machine *machine;
	struct sink *sink;
	struct perfdata_reader *result;
	uint64_t cursor; /* in result */
	uint64_t now_ns;
};

static const struct perf_event_attr base_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(struct perf_event_attr),
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = 1,
	.exclude_kernel = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
};

/* Begin a recording; then records, then feed_sink(). */
static void begin_input(struct fixture *fixture, uint64_t more_sample_type)
{
	static const uint64_t launch_id = LAUNCH_ID, sideband_id = SIDEBAND_ID,
			      other_id = OTHER_ID;
	static const char *const args[] = {"perf-gpu", "record", "./app", NULL};
	struct perf_event_attr sideband = base_attr;
	const char *keep = getenv("KEEP_DIR");

	*fixture = (struct fixture){.now_ns = 1000};
	if (keep) {
		snprintf(fixture->directory, sizeof(fixture->directory), "%s", keep);
	} else {
		strcpy(fixture->directory, "/tmp/test_sink_perfdata.XXXXXX");
		CHECK(mkdtemp(fixture->directory) != NULL);
	}
	snprintf(fixture->input, sizeof(fixture->input), "%s/in", fixture->directory);
	snprintf(fixture->output, sizeof(fixture->output), "%s/out", fixture->directory);
	log_verbosity = -1;

	fixture->launch = base_attr;
	fixture->launch.config = PERF_COUNT_SW_BPF_OUTPUT;
	fixture->launch.sample_type |=
		PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN | more_sample_type;
	if (more_sample_type) {
		fixture->launch.sample_regs_user = 0x7;
		fixture->launch.sample_stack_user = 65528;
	}
	sideband.config = PERF_COUNT_SW_DUMMY;
	fixture->other = base_attr;
	fixture->other.config = PERF_COUNT_SW_CPU_CLOCK;
	fixture->other.sample_type |= PERF_SAMPLE_PERIOD;

	CHECK_EQ(perfdata_writer__open(fixture->input, &fixture->writer), 0);
	CHECK_EQ(perfdata_writer__add_event(fixture->writer, &fixture->launch, &launch_id,
					    1, "gpu-launch"),
		 0);
	CHECK_EQ(perfdata_writer__add_event(fixture->writer, &sideband, &sideband_id, 1,
					    "dummy:u"),
		 0);
	CHECK_EQ(perfdata_writer__add_event(fixture->writer, &fixture->other, &other_id,
					    1, "cpu-clock"),
		 0);
	CHECK_EQ(perfdata_writer__set_feature_string(fixture->writer, HEADER_HOSTNAME,
						     "machine"),
		 0);
	CHECK_EQ(perfdata_writer__set_feature_string(fixture->writer, HEADER_ARCH,
						     "x86_64"),
		 0);
	CHECK_EQ(perfdata_feature__set_cmdline(fixture->writer, args), 0);
	CHECK_EQ(perfdata_feature__set_clock(fixture->writer, CLOCK_MONOTONIC, 5, 6), 0);
	CHECK_EQ(perfdata_feature__set_sample_time(fixture->writer, 1, 2), 0);
	CHECK_EQ(perfdata_writer__set_feature(fixture->writer, HEADER_GROUP_DESC,
					      "\0\0\0", 4),
		 0);
}

/* A record of the side-band: @bytes of it, with the sample_id at its end left free. */
static void add_record(struct fixture *fixture, void *record, size_t bytes, uint32_t pid)
{
	struct perf_event_header *header = record;
	struct perfdata_sample id = {
		.pid = pid, .tid = pid, .time_ns = fixture->now_ns++, .id = SIDEBAND_ID};

	bytes += perfdata_sample__write_id(&base_attr, &id, (char *)record + bytes);
	header->size = (uint16_t)bytes;
	CHECK_EQ(perfdata_writer__write(fixture->writer, header), 0);
}

static void add_comm(struct fixture *fixture, uint32_t tid, const char *comm,
		     uint16_t misc)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
		uint64_t id[4];
	} record = {.header = {PERF_RECORD_COMM, misc, 0}, .pid = PID, .tid = tid};

	strcpy(record.comm, comm);
	add_record(fixture, &record, offsetof(__typeof__(record), id), PID);
}

static void add_map(struct fixture *fixture, uint64_t start, uint64_t len, uint64_t pgoff,
		    const char *path)
{
	struct record_mmap2 record = {
		.header = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0},
		.pid = PID,
		.tid = PID,
		.addr = start,
		.len = len,
		.pgoff = pgoff,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	snprintf(record.path, sizeof(record.path), "%s", path);
	add_record(fixture, &record, offsetof(struct record_mmap2, id), PID);
}

static void add_other_sample(struct fixture *fixture, uint64_t period)
{
	struct perfdata_sample sample = {.id = OTHER_ID,
					 .ip = 0x1234,
					 .pid = PID,
					 .tid = PID,
					 .time_ns = fixture->now_ns++,
					 .period = period};
	uint64_t record[32];

	CHECK(perfdata_sample__write(&fixture->other, &sample, record, sizeof(record)) >
	      0);
	CHECK_EQ(perfdata_writer__write(fixture->writer, (void *)record), 0);
}

/* The recording is done: a sink gets all of it. Samples can follow. */
static void feed_sink(struct fixture *fixture, bool keep_other)
{
	const struct perf_event_header *record;
	static const bool is_launch[8] = {true};
	struct sink_input input = {
		.is_launch = is_launch,
		.events = GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL),
	};
	const struct perfdata_options options = {
		.keep_other = keep_other,
		.is_aggregated =
			getenv("AGGREGATE") != NULL, /* of test_sink_perfdata.sh */
	};
	uint64_t cursor = 0;

	CHECK_EQ(perfdata_writer__commit(fixture->writer), 0);
	perfdata_writer__close(fixture->writer);
	CHECK_EQ(perfdata_reader__open(fixture->input, &fixture->reader), 0);
	CHECK_EQ(machine__new(NULL, &fixture->machine), 0);
	CHECK_EQ(sink_perfdata__new(fixture->output, &options, &fixture->sink), 0);
	CHECK_EQ(fixture->sink->wants_other_events, keep_other);
	input.reader = fixture->reader;
	input.launch_event = perfdata_reader__event(fixture->reader, 0);
	input.machine = fixture->machine;
	CHECK_EQ(fixture->sink->ops->start(fixture->sink, &input), 0);
	while (perfdata_reader__next(fixture->reader, &cursor, &record) > 0) {
		if (record->type >= PERFDATA_RECORD_USER_START)
			continue;
		CHECK_EQ(machine__process(fixture->machine, record), 0);
		CHECK_EQ(fixture->sink->ops->record(fixture->sink, record), 0);
	}
}

static void feed_sample(struct fixture *fixture, uint32_t pid, const char *kernel,
			uint64_t code_ip, uint64_t period, const void *user_state,
			size_t user_state_bytes)
{
	const struct gpu_frame frames[] = {
		{.name = kernel}, {.name = "cudaLaunchKernel"}, {.ip = code_ip}};
	struct gpu_sample sample = {
		.time_ns = fixture->now_ns++,
		.pid = pid,
		.tid = pid + 1,
		.cpu = 1,
		.period = period,
		.frames = frames,
		.nr_frames = NR(frames),
		.user_state = user_state,
		.user_state_bytes = user_state_bytes,
	};

	CHECK_EQ(fixture->sink->ops->sample(fixture->sink, &sample), 0);
}

static void finish(struct fixture *fixture)
{
	CHECK_EQ(fixture->sink->ops->finish(fixture->sink), 0);
	fixture->sink->ops->delete (fixture->sink);
	fixture->sink = NULL;
	CHECK_EQ(perfdata_reader__open(fixture->output, &fixture->result), 0);
}

/* The next record that isn't only for perf's sorting */
static const struct perf_event_header *next_record(struct fixture *fixture)
{
	const struct perf_event_header *record;

	do {
		if (perfdata_reader__next(fixture->result, &fixture->cursor, &record) <=
		    0)
			return NULL;
	} while (record->type == PERFDATA_RECORD_FINISHED_ROUND);
	return record;
}

static struct perfdata_sample next_sample(struct fixture *fixture)
{
	const struct perf_event_header *record = next_record(fixture);
	struct perfdata_sample sample;

	CHECK(record != NULL);
	CHECK_EQ(record->type, PERF_RECORD_SAMPLE);
	CHECK_EQ(perfdata_sample__parse(&perfdata_reader__event(fixture->result, 0)->attr,
					record, &sample),
		 0);
	return sample;
}

static void release(struct fixture *fixture)
{
	char path[128];

	if (fixture->sink)
		fixture->sink->ops->delete (fixture->sink);
	perfdata_reader__close(fixture->result);
	perfdata_reader__close(fixture->reader);
	machine__delete(fixture->machine);
	if (getenv("KEEP_DIR"))
		return;
	snprintf(path, sizeof(path), "%s.dso/[GPU_Kernel]", fixture->output);
	unlink(path);
	snprintf(path, sizeof(path), "%s.dso", fixture->output);
	rmdir(path);
	unlink(fixture->output);
	unlink(fixture->input);
	CHECK_EQ(rmdir(fixture->directory), 0); /* no temporary file was left */
}

TEST(event_is_as_all_tools_read_it)
{
	const struct perfdata_event_desc *event;
	struct fixture fixture;

	begin_input(&fixture, 0);
	feed_sink(&fixture, false);
	finish(&fixture);
	CHECK_EQ(perfdata_reader__nr_events(fixture.result), 1);
	event = perfdata_reader__event(fixture.result, 0);
	CHECK_STR(event->name, "gpu-kernel");
	CHECK_EQ(event->attr.type, PERF_TYPE_SOFTWARE);
	CHECK_EQ(event->attr.config, PERF_COUNT_SW_TASK_CLOCK);
	CHECK_EQ(event->attr.sample_period, 1);
	CHECK(!event->attr.freq);
	CHECK_EQ(event->attr.sample_type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						  PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
						  PERF_SAMPLE_CALLCHAIN);
	CHECK_EQ(event->attr.read_format, PERF_FORMAT_ID);
	CHECK(event->attr.sample_id_all && event->attr.exclude_kernel);
	CHECK(event->attr.use_clockid);
	CHECK_EQ(event->attr.clockid, CLOCK_MONOTONIC);
	CHECK_EQ(event->nr_ids, 1);
	CHECK(event->ids[0] > OTHER_ID);
	release(&fixture);
}

TEST(sample_begins_with_the_kernel)
{
	const struct perf_event_header *record;
	const struct record_mmap2 *map;
	struct perfdata_sample sample;
	struct fixture fixture;
	char path[128];

	begin_input(&fixture, 0);
	feed_sink(&fixture, false);
	feed_sample(&fixture, PID, "[GPU_Kernel]k1", 0x401000, 123, NULL, 0);
	feed_sample(&fixture, PID, "[GPU_Kernel]k2", 0x401100, 456, NULL, 0);
	finish(&fixture);

	record = next_record(&fixture);
	CHECK_EQ(record->type, PERF_RECORD_MMAP2);
	CHECK_EQ(record->misc, PERF_RECORD_MISC_USER);
	map = (const void *)record;
	snprintf(path, sizeof(path), "%s.dso/[GPU_Kernel]", fixture.output);
	CHECK_STR(map->path, path);
	CHECK_EQ(map->pid, PID);
	CHECK_EQ(map->addr, 0x0100000000000000);
	CHECK_EQ(map->pgoff, 0x1000);
	CHECK_EQ(map->prot, PROT_READ | PROT_EXEC);
	CHECK_EQ(access(path, R_OK), 0);
	CHECK_EQ(perfdata_sample__parse_id(
			 &perfdata_reader__event(fixture.result, 0)->attr, record,
			 &sample),
		 0);
	CHECK_EQ(sample.time_ns, 1000);

	sample = next_sample(&fixture);
	CHECK_EQ(sample.misc, PERF_RECORD_MISC_USER);
	CHECK_EQ(sample.pid, PID);
	CHECK_EQ(sample.tid, PID + 1);
	CHECK_EQ(sample.cpu, 1);
	CHECK_EQ(sample.time_ns, 1000);
	CHECK_EQ(sample.period, 123);
	CHECK_EQ(sample.nr_ips, 4);
	CHECK_EQ(sample.ips[0], PERF_CONTEXT_USER);
	CHECK_EQ(sample.ips[1], sample.ip);
	CHECK_EQ(sample.ips[1], 0x0100000000000020);
	CHECK_EQ(sample.ips[2], 0x0100000000000060);
	CHECK_EQ(sample.ips[3], 0x401000);

	sample = next_sample(&fixture);
	CHECK_EQ(sample.period, 456);
	CHECK_EQ(sample.ip, 0x01000000000000a0);
	CHECK_EQ(sample.ips[2], 0x0100000000000060);
	CHECK(next_record(&fixture) == NULL);
	release(&fixture);
}

TEST(every_process_gets_a_map_and_after_exec_again)
{
	static const uint32_t types[] = {PERF_RECORD_MMAP2,  PERF_RECORD_SAMPLE,
					 PERF_RECORD_MMAP2,  PERF_RECORD_SAMPLE,
					 PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2,
					 PERF_RECORD_SAMPLE, PERF_RECORD_SAMPLE};
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
	} exec = {.header = {PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(exec)},
		  .pid = PID,
		  .tid = PID,
		  .comm = "new"};
	struct fixture fixture;

	begin_input(&fixture, 0);
	feed_sink(&fixture, false);
	feed_sample(&fixture, PID, "k", 1, 1, NULL, 0);
	feed_sample(&fixture, PID + 5, "k", 1, 1, NULL, 0);
	feed_sample(&fixture, PID, "k", 1, 1, NULL, 0);
	CHECK_EQ(machine__process(fixture.machine, &exec.header), 0);
	feed_sample(&fixture, PID, "k", 1, 1, NULL, 0);
	feed_sample(&fixture, PID + 5, "k", 1, 1, NULL, 0);
	finish(&fixture);
	for (size_t i = 0; i < NR(types); i++)
		CHECK_EQ(next_record(&fixture)->type, types[i]);
	CHECK(next_record(&fixture) == NULL);
	release(&fixture);
}

TEST(sideband_is_repeated)
{
	const struct perf_event_attr *attr;
	const struct perf_event_header *record;
	struct perfdata_sample id;
	struct fixture fixture;

	begin_input(&fixture, 0);
	add_comm(&fixture, PID, "app", 0);
	add_map(&fixture, 0x400000, 0x1000, 0, "/bin/app");
	add_other_sample(&fixture, 1);
	feed_sink(&fixture, false);
	finish(&fixture);

	attr = &perfdata_reader__event(fixture.result, 0)->attr;
	record = next_record(&fixture);
	CHECK_EQ(record->type, PERF_RECORD_COMM);
	CHECK_STR((const char *)record + 16, "app");
	CHECK_EQ(perfdata_reader__find_event(fixture.result, record), 0);
	CHECK_EQ(perfdata_sample__parse_id(attr, record, &id), 0);
	CHECK_EQ(id.time_ns, 1000);
	CHECK_EQ(id.pid, PID);
	CHECK_EQ(id.id, perfdata_reader__event(fixture.result, 0)->ids[0]);
	record = next_record(&fixture);
	CHECK_EQ(record->type, PERF_RECORD_MMAP2);
	CHECK_STR(((const struct record_mmap2 *)record)->path, "/bin/app");
	CHECK(next_record(&fixture) == NULL);
	release(&fixture);
}

TEST(features_are_kept_or_made_anew)
{
	uint64_t times[2];
	const void *data, *input_data;
	size_t bytes, input_bytes;
	struct fixture fixture;

	begin_input(&fixture, 0);
	feed_sink(&fixture, false);
	feed_sample(&fixture, PID, "k", 1, 1, NULL, 0);
	feed_sample(&fixture, PID, "k", 1, 1, NULL, 0);
	finish(&fixture);
	for (unsigned int i = HEADER_HOSTNAME; i <= HEADER_CMDLINE; i++) {
		if (!perfdata_reader__feature(fixture.reader, i, &input_data,
					      &input_bytes))
			continue;
		CHECK(perfdata_reader__feature(fixture.result, i, &data, &bytes));
		CHECK_EQ(bytes, input_bytes);
		CHECK_MEM(data, input_data, bytes);
	}
	CHECK(perfdata_reader__feature(fixture.result, HEADER_CLOCK_DATA, &data, &bytes));
	CHECK(!perfdata_reader__feature(fixture.result, HEADER_GROUP_DESC, &data,
					&bytes));
	CHECK(perfdata_reader__feature(fixture.result, HEADER_SAMPLE_TIME, &data,
				       &bytes));
	CHECK_EQ(bytes, sizeof(times));
	memcpy(times, data, sizeof(times));
	CHECK_EQ(times[0], 1000);
	CHECK_EQ(times[1], 1001);
	CHECK(perfdata_reader__feature(fixture.result, HEADER_BUILD_ID, &data, &bytes));
	CHECK(strstr(((const struct perfdata_build_id *)data)->path, "out.dso/"));
	release(&fixture);
}

TEST(other_events_are_kept_on_request)
{
	const struct perf_event_header *record;
	struct perfdata_sample sample;
	struct fixture fixture;

	begin_input(&fixture, 0);
	add_comm(&fixture, PID, "app", 0);
	add_other_sample(&fixture, 77);
	feed_sink(&fixture, true);
	feed_sample(&fixture, PID, "k", 1, 5, NULL, 0);
	finish(&fixture);

	CHECK_EQ(perfdata_reader__nr_events(fixture.result), 2);
	CHECK_STR(perfdata_reader__event(fixture.result, 1)->name, "cpu-clock");
	CHECK_EQ(next_record(&fixture)->type, PERF_RECORD_COMM);
	record = next_record(&fixture);
	CHECK_EQ(record->type, PERF_RECORD_SAMPLE);
	CHECK_EQ(perfdata_reader__find_event(fixture.result, record), 1);
	CHECK_EQ(perfdata_sample__parse(&perfdata_reader__event(fixture.result, 1)->attr,
					record, &sample),
		 0);
	CHECK_EQ(sample.period, 77);
	CHECK_EQ(next_record(&fixture)->type, PERF_RECORD_MMAP2);
	record = next_record(&fixture);
	CHECK_EQ(perfdata_reader__find_event(fixture.result, record), 0);
	release(&fixture);
}

enum { NR_REGS = 3, STATE_WORDS = 2 + NR_REGS + 1 };

/* abi, registers, and a stack of @stack_bytes, all of which is valid */
static uint64_t *new_user_state(size_t stack_bytes, size_t *ret_bytes)
{
	size_t nr_stack = stack_bytes / sizeof(uint64_t);
	uint64_t *state = calloc(STATE_WORDS + nr_stack, sizeof(*state));

	CHECK(state != NULL);
	state[0] = PERF_SAMPLE_REGS_ABI_64;
	state[1 + NR_REGS] = stack_bytes;
	for (size_t i = 0; i < nr_stack; i++)
		state[2 + NR_REGS + i] = i;
	state[2 + NR_REGS + nr_stack] = stack_bytes;
	*ret_bytes = (STATE_WORDS + nr_stack) * sizeof(*state);
	return state;
}

TEST(copied_stack_goes_along)
{
	struct perfdata_sample sample;
	struct fixture fixture;
	uint64_t *state;
	size_t bytes;

	begin_input(&fixture, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	feed_sink(&fixture, false);
	state = new_user_state(1024, &bytes);
	feed_sample(&fixture, PID, "k", 0x401000, 1, state, bytes);
	feed_sample(&fixture, PID, "k", 0x401000, 1, NULL, 0);
	finish(&fixture);

	CHECK_EQ(next_record(&fixture)->type, PERF_RECORD_MMAP2);
	sample = next_sample(&fixture);
	CHECK_EQ(sample.nr_ips, 3); /* names only: the rest is in the copy */
	CHECK_EQ(sample.ips[2], 0x0100000000000060);
	CHECK_EQ(sample.user_state_bytes, bytes);
	CHECK_MEM(sample.user_state, state, bytes);
	/* A kernel without a launch has no copy, though the event does. */
	sample = next_sample(&fixture);
	CHECK_EQ(sample.nr_ips, 4);
	CHECK_EQ(sample.user_state_bytes, 16);
	free(state);
	release(&fixture);
}

/* The kernel's record was full; ours has a few words more beside the stack. */
TEST(full_record_gets_a_shorter_stack)
{
	enum { STACK_BYTES = 65528 - 128 };
	struct perfdata_sample sample;
	struct fixture fixture;
	uint64_t *state, stack_bytes, nr_valid;
	size_t bytes, nr_state;

	begin_input(&fixture, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	feed_sink(&fixture, false);
	state = new_user_state(STACK_BYTES, &bytes);
	feed_sample(&fixture, PID, "k", 0x401000, 1, state, bytes);
	finish(&fixture);

	CHECK_EQ(next_record(&fixture)->type, PERF_RECORD_MMAP2);
	sample = next_sample(&fixture);
	nr_state = sample.user_state_bytes / sizeof(uint64_t);
	CHECK(sample.user_state_bytes < bytes);
	CHECK(sample.user_state_bytes > bytes - 256);
	CHECK_MEM(sample.user_state, state, (1 + NR_REGS) * sizeof(uint64_t));
	memcpy(&stack_bytes, (const uint64_t *)sample.user_state + 1 + NR_REGS, 8);
	CHECK_EQ(stack_bytes, (nr_state - STATE_WORDS) * sizeof(uint64_t));
	memcpy(&nr_valid, (const uint64_t *)sample.user_state + nr_state - 1, 8);
	CHECK_EQ(nr_valid, stack_bytes);
	CHECK_MEM((const uint64_t *)sample.user_state + 2 + NR_REGS, state + 2 + NR_REGS,
		  stack_bytes);
	free(state);
	release(&fixture);
}

TEST(many_samples_keep_their_time)
{
	enum { NR_SAMPLES = 20000 };
	const struct perf_event_header *record;
	uint64_t sum_ns = 0, expected_ns = 0, nr_rounds = 0;
	struct perfdata_sample sample;
	struct fixture fixture;
	char name[32];

	begin_input(&fixture, 0);
	feed_sink(&fixture, false);
	for (uint64_t i = 0; i < NR_SAMPLES; i++) {
		snprintf(name, sizeof(name), "[GPU_Kernel]k%llu",
			 (unsigned long long)(i % 700));
		feed_sample(&fixture, PID + (uint32_t)i % 3, name, i, i * i + 1, NULL, 0);
		expected_ns += i * i + 1;
	}
	finish(&fixture);
	while (perfdata_reader__next(fixture.result, &fixture.cursor, &record) > 0) {
		nr_rounds += record->type == PERFDATA_RECORD_FINISHED_ROUND;
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		CHECK_EQ(perfdata_sample__parse(
				 &perfdata_reader__event(fixture.result, 0)->attr, record,
				 &sample),
			 0);
		sum_ns += sample.period;
	}
	CHECK_EQ(sum_ns, expected_ns);
	CHECK(nr_rounds >= NR_SAMPLES / 4096);
	release(&fixture);
}

TEST(unfinished_output_leaves_nothing)
{
	struct fixture fixture;
	char path[128];

	begin_input(&fixture, 0);
	feed_sink(&fixture, false);
	feed_sample(&fixture, PID, "k", 1, 1, NULL, 0);
	fixture.sink->ops->delete (fixture.sink);
	fixture.sink = NULL;
	CHECK_EQ(access(fixture.output, F_OK), -1);
	snprintf(path, sizeof(path), "%s.dso", fixture.output);
	CHECK_EQ(access(path, F_OK), -1);
	release(&fixture);
}

TEST(unwritable_output_is_refused)
{
	struct sink *sink = NULL;
	char directory[] = "/tmp/test_sink_perfdata.XXXXXX", path[64], in_the_way[64];
	int fd;

	log_verbosity = -1;
	CHECK_EQ(sink_perfdata__new("/no/such/folder/out", &(struct perfdata_options){},
				    &sink),
		 -ENOENT);
	CHECK_EQ(sink_perfdata__new("/dev/null", &(struct perfdata_options){}, &sink),
		 -EINVAL);
	CHECK_EQ(sink_perfdata__new("/tmp", &(struct perfdata_options){}, &sink),
		 -EISDIR);

	CHECK(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/out", directory);
	snprintf(in_the_way, sizeof(in_the_way), "%s/out.dso", directory);
	fd = open(in_the_way, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	CHECK(sink_perfdata__new(path, &(struct perfdata_options){}, &sink) < 0);
	CHECK(sink == NULL);
	unlink(in_the_way);
	CHECK_EQ(rmdir(directory), 0);
}

/* Code that perf can name: a function of this program itself. */
static __attribute__((noinline)) void launch_from_here(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Map the program into the recorded process, as it is mapped into this one. */
static void add_own_maps(struct fixture *fixture)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long start, end, offset;
	char line[512], program[256], path[256], access_bits[8];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	CHECK(maps && length > 0);
	program[length] = '\0';
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %255s", &start, &end,
			   access_bits, &offset, path) == 5 &&
		    access_bits[2] == 'x' && !strcmp(path, program))
			add_map(fixture, start, end - start, offset, path);
	fclose(maps);
}

TEST(write_for_perf)
{
	uint64_t ip = (uint64_t)(uintptr_t)launch_from_here;
	struct fixture fixture;

	launch_from_here();
	begin_input(&fixture, 0);
	add_comm(&fixture, PID, "app", PERF_RECORD_MISC_COMM_EXEC);
	add_comm(&fixture, PID + 1, "worker", 0);
	add_own_maps(&fixture);
	for (int i = 0; i < 4; i++)
		add_other_sample(&fixture, 1000);
	feed_sink(&fixture, getenv("KEEP_OTHER") != NULL);
	for (int i = 0; i < 10; i++) {
		feed_sample(&fixture, PID, "[GPU_Kernel]void ns::sgemm<float, 4>(float*)",
			    ip, 6000000, NULL, 0);
		feed_sample(&fixture, PID, "[GPU_Kernel](anonymous namespace)::a(int)",
			    ip, 3000000, NULL, 0);
		feed_sample(&fixture, PID + 9, "[GPU_Kernel]k", ip, 1000000, NULL, 0);
	}
	finish(&fixture);
	release(&fixture);
}
