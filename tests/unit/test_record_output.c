// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of the kernel's records on their way into perf.data */
#include <errno.h>
#include <stdint.h>

#include "launch_event.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "record/output.h"
#include "unit.h"
#include "util/log.h"

static const char *const cmdline[] = {"perf-gpu", "record", NULL};

/* What BPF puts into a frame ring */
struct ring_frames {
	struct launch_frames launch;
	uint64_t frames[LAUNCH_MAX_FRAMES + 1]; /* one too many */
};

#define BYTES_OF(nr_frames) \
	(sizeof(struct launch_frames) + (nr_frames) * sizeof(uint64_t))

struct fixture {
	char dir[32];
	char path[64];
	struct output *output;
	uint64_t record[8192];
	struct perfdata_reader *reader;
	uint64_t cursor;
};

/* @max_bytes: of records; 0: any number */
static void open_limited(struct fixture *fixture, enum call_graph call_graph,
			 uint64_t max_bytes)
{
	struct output_config config = {
		.max_bytes = max_bytes,
		.argv = cmdline,
		.stack = {.call_graph = call_graph, .dwarf_bytes = 8192},
		.session = 0x1122334455667788,
		.clock = {.realtime_ns = 2, .monotonic_ns = 1},
	};

	log_verbosity = -1;
	memset(fixture, 0, sizeof(*fixture));
	strcpy(fixture->dir, P_tmpdir "/perf-gpu-unit.XXXXXX");
	CHECK(mkdtemp(fixture->dir));
	snprintf(fixture->path, sizeof(fixture->path), "%s/perf.data", fixture->dir);
	config.path = fixture->path;
	CHECK_EQ(output__open(&config, &fixture->output), 0);
}

static void open_fixture(struct fixture *fixture, enum call_graph call_graph)
{
	open_limited(fixture, call_graph, 0);
}

/* As BPF and the kernel make it: the raw part and its u32 size fill words. */
static const struct perf_event_header *ring_sample(struct fixture *fixture,
						   const struct launch_event *launch)
{
	const struct {
		struct launch_event launch;
		uint32_t pad;
	} raw = {.launch = *launch};
	const uint64_t ips[] = {PERF_CONTEXT_USER, 0x400100};
	const struct perfdata_sample sample = {
		.id = 4711,
		.ip = 0x400100,
		.pid = 10,
		.tid = 11,
		.time_ns = 5000,
		.cpu = 3,
		.ips = ips,
		.nr_ips = 2,
		.raw = &raw,
		.raw_bytes = sizeof(raw.launch) + sizeof(raw.pad),
	};

	CHECK(perfdata_sample__write(output__ring_attr(fixture->output), &sample,
				     fixture->record, sizeof(fixture->record)) > 0);
	return (const struct perf_event_header *)fixture->record;
}

/* The next record but the marks of rounds, or NULL */
static const struct perf_event_header *next_record(struct fixture *fixture)
{
	const struct perf_event_header *event;

	if (!fixture->reader) {
		/* A file without any record would count as one that was cut. */
		CHECK_EQ(output__finish_round(fixture->output), 0);
		CHECK_EQ(output__commit(fixture->output), 0);
		CHECK_EQ(perfdata_reader__open(fixture->path, &fixture->reader), 0);
	}
	while (perfdata_reader__next(fixture->reader, &fixture->cursor, &event) > 0)
		if (event->type != 68)
			return event;
	return NULL;
}

static void close_fixture(struct fixture *fixture)
{
	perfdata_reader__close(fixture->reader);
	output__close(fixture->output);
	unlink(fixture->path);
	CHECK_EQ(rmdir(fixture->dir), 0);
}

static void read_launch(struct fixture *fixture, struct perfdata_sample *ret)
{
	const struct perf_event_header *event = next_record(fixture);
	int i;

	CHECK(event);
	CHECK_EQ(event->type, PERF_RECORD_SAMPLE);
	i = perfdata_reader__find_event(fixture->reader, event);
	CHECK_EQ(i, 0);
	CHECK_EQ(perfdata_sample__parse(&perfdata_reader__event(fixture->reader, 0)->attr,
					event, ret),
		 0);
}

static const struct launch_event some_launch = {
	.log_id = 1, .correlation_id = 2, .api = 3};

static void check_launch(const struct perfdata_sample *sample)
{
	struct launch_event launch;

	CHECK_EQ(sample->id, LAUNCH_EVENT_ID);
	CHECK_EQ(sample->ip, 0x400100);
	CHECK_EQ(sample->pid, 10);
	CHECK_EQ(sample->tid, 11);
	CHECK_EQ(sample->time_ns, 5000);
	CHECK_EQ(sample->cpu, 3);
	CHECK_EQ(sample->ips[0], PERF_CONTEXT_USER);
	CHECK_EQ(sample->ips[1], 0x400100);
	CHECK(sample->raw_bytes >= sizeof(launch));
	memcpy(&launch, sample->raw, sizeof(launch));
	CHECK_EQ(launch.log_id, 1);
	CHECK_EQ(launch.correlation_id, 2);
	CHECK_EQ(launch.api, 3);
}

TEST(frames_become_the_callchain)
{
	const struct ring_frames from = {
		.launch = {.time_ns = 5000,
			   .pid = 10,
			   .tid = 11,
			   .cpu = 3,
			   .nr_frames = 2,
			   .event = some_launch},
		.frames = {0x400100, 0x400200},
	};
	struct perfdata_sample sample;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	/* There is room for more frames in the record. */
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(16)), 0);
	read_launch(&f, &sample);
	check_launch(&sample);
	CHECK_EQ(sample.nr_ips, 3);
	CHECK_EQ(sample.ips[2], 0x400200);
	CHECK_EQ(perfdata_reader__event(f.reader, 0)->attr.config1, 0x1122334455667788);
	CHECK_STR(perfdata_reader__event(f.reader, 0)->name, "gpu-launch");
	close_fixture(&f);
}

TEST(a_sample_of_the_kernels_keeps_its_callchain)
{
	struct perfdata_sample sample;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_FP);
	CHECK_EQ(output__sample(f.output, ring_sample(&f, &some_launch)), 0);
	read_launch(&f, &sample);
	check_launch(&sample);
	CHECK_EQ(sample.nr_ips, 2);
	close_fixture(&f);
}

/* As the kernel samples a probe on the API: with a copy of the stack */
static const struct perf_event_header *api_hit(struct fixture *fixture)
{
	/* The ABI, registers, how much of the stack was asked for, and how much there is */
	static const uint64_t state[] = {0, 0};
	static const uint64_t raw[] = {0x400200, 0};
	const struct perfdata_sample sample = {
		.id = 4711,
		.ip = 0x400100,
		.pid = 10,
		.tid = 11,
		.time_ns = 5000,
		.cpu = 3,
		.raw = raw,
		.raw_bytes = 12,
		.user_state = state,
		.user_state_bytes = sizeof(state),
	};

	CHECK(perfdata_sample__write(output__hit_attr(fixture->output), &sample,
				     fixture->record, sizeof(fixture->record)) > 0);
	return (const struct perf_event_header *)fixture->record;
}

TEST(hits_beside_launches_have_an_event_of_their_own)
{
	const struct ring_frames from = {
		.launch = {.time_ns = 5000, .pid = 10, .tid = 11, .event = some_launch},
	};
	const struct perf_event_header *event;
	struct perfdata_sample sample;
	struct launch_event launch;
	struct fixture f;
	int i;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(16)), 0);
	CHECK_EQ(output__hit(f.output, api_hit(&f)), 0);
	CHECK(next_record(&f));
	CHECK_EQ(perfdata_reader__nr_events(f.reader), 3);
	event = next_record(&f);
	CHECK(event);
	i = perfdata_reader__find_event(f.reader, event);
	CHECK_EQ(i, 2);
	CHECK_STR(perfdata_reader__event(f.reader, 2)->name, "gpu-launch-api");
	CHECK_EQ(perfdata_reader__event(f.reader, 2)->attr.config1, 0x1122334455667788);
	CHECK_EQ(perfdata_sample__parse(&perfdata_reader__event(f.reader, 2)->attr, event,
					&sample),
		 0);
	CHECK_EQ(sample.id, HIT_EVENT_ID);
	CHECK_EQ(sample.time_ns, 5000);
	CHECK(sample.raw_bytes >= sizeof(launch));
	memcpy(&launch, sample.raw, sizeof(launch));
	CHECK_EQ(launch.log_id, 0);
	CHECK_EQ(output__counts(f.output).nr_launches, 2);
	close_fixture(&f);
}

TEST(without_hits_there_is_no_event_of_theirs)
{
	const struct ring_frames from = {
		.launch = {.time_ns = 5000, .pid = 10, .tid = 11, .event = some_launch},
	};
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(16)), 0);
	CHECK(next_record(&f));
	CHECK_EQ(perfdata_reader__nr_events(f.reader), 2);
	close_fixture(&f);
}

TEST(hits_where_the_kernel_has_all_stacks_are_launches)
{
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_DWARF);
	CHECK_EQ(output__hit(f.output, api_hit(&f)), 0);
	CHECK(next_record(&f));
	CHECK_EQ(perfdata_reader__nr_events(f.reader), 2);
	close_fixture(&f);
}

TEST(what_no_user_code_has_as_an_address_ends_the_chain)
{
	const struct ring_frames from = {
		.launch = {.nr_frames = 3, .event = some_launch},
		.frames = {0x400100, PERF_CONTEXT_KERNEL, 0x400200},
	};
	struct perfdata_sample sample;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(3)), 0);
	read_launch(&f, &sample);
	CHECK_EQ(sample.nr_ips, 2);
	CHECK_EQ(sample.ips[1], 0x400100);
	close_fixture(&f);
}

TEST(a_launch_without_frames_has_no_callchain)
{
	const struct ring_frames from = {.launch = {.event = some_launch}};
	struct perfdata_sample sample;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(16)), 0);
	read_launch(&f, &sample);
	CHECK_EQ(sample.ip, 0);
	CHECK_EQ(sample.nr_ips, 0);
	close_fixture(&f);
}

TEST(more_frames_than_there_are_is_a_broken_record)
{
	struct ring_frames from = {.launch = {.nr_frames = 3}};
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(2)), 0);
	from.launch.nr_frames = LAUNCH_MAX_FRAMES + 1;
	CHECK_EQ(output__frames(f.output, &from, sizeof(from)), 0);
	from.launch.nr_frames = UINT32_MAX;
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(2)), 0);
	CHECK_EQ(output__frames(f.output, &from, sizeof(from.launch) - 1), 0);
	CHECK_EQ(output__counts(f.output).nr_broken, 4);
	CHECK_EQ(output__counts(f.output).nr_launches, 0);
	CHECK(!next_record(&f));
	close_fixture(&f);
}

TEST(a_sample_that_ends_early_is_a_broken_record)
{
	const struct perf_event_header *whole;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_FP);
	whole = ring_sample(&f, &some_launch);
	for (uint16_t size = sizeof(*whole); size < whole->size; size += 8) {
		union {
			struct perf_event_header header;
			uint64_t words[64];
		} cut;

		memcpy(&cut, whole, size);
		cut.header.size = size;
		CHECK_EQ(output__sample(f.output, &cut.header), 0);
	}
	CHECK_EQ(output__counts(f.output).nr_launches, 0);
	CHECK(output__counts(f.output).nr_broken > 0);
	close_fixture(&f);
}

TEST(a_process_without_a_log_is_counted_and_no_launch)
{
	const struct ring_frames from = {
		.launch = {.pid = 10, .event = {.log_id = 0, .correlation_id = EACCES}},
	};
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(0)), 0);
	CHECK_EQ(output__frames(f.output, &from, BYTES_OF(0)), 0);
	CHECK_EQ(output__counts(f.output).nr_unlogged, 2);
	CHECK_EQ(output__counts(f.output).unlogged_pid, 10);
	CHECK_EQ(output__counts(f.output).unlogged_errno, EACCES);
	CHECK_EQ(output__counts(f.output).nr_launches, 0);
	CHECK(!next_record(&f));
	close_fixture(&f);
}

TEST(a_node_of_a_graph_is_written_and_no_launch)
{
	struct ring_frames record = {
		.launch = {.nr_frames = 1,
			   .pid = 10,
			   .event = {.log_id = 1,
				     .correlation_id = 7,
				     .api = LAUNCH_API_GRAPH_NODE | 3}},
		.frames = {0x400100},
	};
	struct perfdata_sample sample;
	struct launch_event launch;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__frames(f.output, &record, BYTES_OF(1)), 0);
	CHECK_EQ(output__counts(f.output).nr_launches, 0);
	CHECK_EQ(output__counts(f.output).nr_processes, 0);
	CHECK_EQ(output__counts(f.output).nr_broken, 0);
	read_launch(&f, &sample);
	memcpy(&launch, sample.raw, sizeof(launch));
	CHECK_EQ(launch.api, LAUNCH_API_GRAPH_NODE | 3);
	CHECK_EQ(launch.correlation_id, 7);
	CHECK_EQ(sample.nr_ips, 2);
	close_fixture(&f);
}

TEST(processes_are_counted_once)
{
	const struct ring_frames from = {.launch = {.pid = 10, .event = some_launch}};
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(output__frames(f.output, &from, BYTES_OF(0)), 0);
	CHECK_EQ(output__counts(f.output).nr_launches, 3);
	CHECK_EQ(output__counts(f.output).nr_processes, 1);
	close_fixture(&f);
}

/* PERF_RECORD_MMAP2 with a sample_id of TID, TIME, CPU, IDENTIFIER */
static const struct perf_event_header *mmap2_at(struct fixture *fixture, const char *name,
						uint64_t time_ns)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t fields[6];
		uint32_t prot, flags;
		char name[32];
		uint64_t id[4];
	} event = {
		.header = {.type = PERF_RECORD_MMAP2,
			   .misc = PERF_RECORD_MISC_USER,
			   .size = sizeof(event)},
		.pid = 10,
		.tid = 10,
		.prot = 5,
		.id = {0, time_ns, 0, 4711},
	};

	memcpy(event.name, name, strlen(name));
	memcpy(fixture->record, &event, sizeof(event));
	return (const struct perf_event_header *)fixture->record;
}

static const struct perf_event_header *mmap2(struct fixture *fixture, const char *name)
{
	return mmap2_at(fixture, name, 4000);
}

/* Fill a file up to its limit with launches of that time. */
static void fill(struct fixture *fixture, uint64_t time_ns)
{
	const struct ring_frames from = {
		.launch = {.pid = 10, .time_ns = time_ns, .event = some_launch}};

	while (!output__counts(fixture->output).nr_over_limit)
		CHECK_EQ(output__frames(fixture->output, &from, BYTES_OF(0)), 0);
}

TEST(behind_the_limit_side_band_of_launches_has_some_room)
{
	const uint64_t max_bytes = 65536;
	uint64_t before;
	struct fixture f;

	open_limited(&f, CALL_GRAPH_UNWIND, max_bytes);
	fill(&f, 5000);
	before = output__counts(f.output).bytes;
	CHECK_EQ(output__sideband(f.output, mmap2(&f, "/bin/true")), 0);
	CHECK(output__counts(f.output).bytes > before);
	CHECK_EQ(output__counts(f.output).nr_sideband_over_limit, 0);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(output__sideband(f.output, mmap2(&f, "/bin/true")), 0);
	CHECK(output__counts(f.output).bytes < max_bytes / 7 * 8);
	CHECK(output__counts(f.output).nr_sideband_over_limit > 0);
	close_fixture(&f);
}

TEST(behind_the_limit_nobody_misses_later_side_band)
{
	struct fixture f;
	uint64_t bytes;

	open_limited(&f, CALL_GRAPH_UNWIND, 4096);
	fill(&f, 5000);
	bytes = output__counts(f.output).bytes;
	CHECK_EQ(output__sideband(f.output, mmap2_at(&f, "/bin/true", 5001)), 0);
	CHECK_EQ(output__counts(f.output).bytes, bytes);
	CHECK_EQ(output__counts(f.output).nr_sideband_over_limit, 0);
	close_fixture(&f);
}

TEST(side_band_gets_its_own_id)
{
	const struct perf_event_header *event;
	struct perfdata_sample id;
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__sideband(f.output, mmap2(&f, "/bin/true")), 0);
	CHECK_EQ(output__finish_round(f.output), 0);
	event = next_record(&f);
	CHECK(event);
	CHECK_EQ(event->type, PERF_RECORD_MMAP2);
	CHECK_EQ(perfdata_sample__parse_id(&perfdata_reader__event(f.reader, 1)->attr,
					   event, &id),
		 0);
	CHECK_EQ(id.id, SIDEBAND_EVENT_ID);
	CHECK_EQ(id.time_ns, 4000);
	CHECK_EQ(perfdata_reader__find_event(f.reader, event), 1);
	close_fixture(&f);
}

TEST(the_uprobes_trampoline_is_left_out)
{
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_UNWIND);
	CHECK_EQ(output__sideband(f.output, mmap2(&f, "[uprobes-trampo")), 0);
	CHECK_EQ(output__sideband(f.output, mmap2(&f, "[uprobes-trampoline]")), 0);
	CHECK(!next_record(&f));
	CHECK_EQ(output__counts(f.output).nr_broken, 0);
	close_fixture(&f);
}

TEST(nothing_is_left_without_commit)
{
	struct fixture f;

	open_fixture(&f, CALL_GRAPH_FP);
	CHECK_EQ(output__finish_round(f.output), 0);
	close_fixture(&f); /* removes the folder, which must be empty */
}
