// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From two made files to samples: each event has its samples under the stack of its
 * call, and all that the sidecar has is in them.
 *
 * tests/shell/test_events.sh gives what write_for_perf leaves in $KEEP_DIR to stock perf.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpu_log_build.h"
#include "launch_event.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "perfdata/writer.h"
#include "sink/sink.h"
#include "source/source.h"
#include "unit.h"
#include "util/gpu_events.h"
#include "util/log.h"

enum { PID = 4711, SESSION = 7, LOG = 900, LAUNCH_ID = 1, SIDEBAND_ID = 2 };
enum { API_LAUNCH = 1, API_COPY = 2, API_SYNC = 3, API_GRAPH = 4, API_ALLOC = 5 };

/* A recording, and what a sink gets of it */
struct fixture {
	char directory[64], input[80], gpu[96];
	struct perf_event_attr attr;
	struct perfdata_writer *writer;
	struct log_build log;
	uint32_t nr_operations;
};

/* Samples as text: "EVENT PERIOD LEAF;FRAME;...", a line each */
struct collector {
	struct sink sink; /* first: what ops get is this */
	uint32_t events; /* that were announced */
	size_t nr_text;
	char text[16384];
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

static void begin(struct fixture *fixture)
{
	static const uint64_t launch_id = LAUNCH_ID, sideband_id = SIDEBAND_ID;
	static const char *const args[] = {"perf-gpu", "record", "./app", NULL};
	struct perf_event_attr sideband = base_attr;
	const char *keep = getenv("KEEP_DIR");

	*fixture = (struct fixture){.log = {.session = SESSION, .log_id = LOG}};
	snprintf(fixture->directory, sizeof(fixture->directory), "%s",
		 keep ? keep : "/tmp/test_source_events.XXXXXX");
	CHECK(keep || mkdtemp(fixture->directory));
	snprintf(fixture->input, sizeof(fixture->input), "%s/in", fixture->directory);
	snprintf(fixture->gpu, sizeof(fixture->gpu), "%s.gpu", fixture->input);
	log_verbosity = -1;

	fixture->attr = base_attr;
	fixture->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	fixture->attr.config1 = SESSION;
	fixture->attr.sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN;
	sideband.config = PERF_COUNT_SW_DUMMY;
	CHECK_EQ(perfdata_writer__open(fixture->input, &fixture->writer), 0);
	CHECK_EQ(perfdata_writer__add_event(fixture->writer, &fixture->attr, &launch_id,
					    1, "gpu-launch"),
		 0);
	CHECK_EQ(perfdata_writer__add_event(fixture->writer, &sideband, &sideband_id, 1,
					    "dummy:u"),
		 0);
	CHECK_EQ(perfdata_writer__set_feature_string(fixture->writer, HEADER_HOSTNAME,
						     "machine"),
		 0);
	CHECK_EQ(perfdata_feature__set_cmdline(fixture->writer, args), 0);

	log_build__process(&fixture->log, PID, "app");
	log_build__api(&fixture->log, API_LAUNCH, "cudaLaunchKernel");
	log_build__api(&fixture->log, API_COPY, "cudaMemcpyAsync");
	log_build__api(&fixture->log, API_SYNC, "cudaStreamSynchronize");
	log_build__api(&fixture->log, API_GRAPH, "cudaGraphLaunch");
	log_build__api(&fixture->log, API_ALLOC, "cudaMalloc");
}

static void add_events(struct fixture *fixture, uint32_t events)
{
	struct gpu_log_events record = {.events = events,
					.kinds = gpu_log_kinds_of(events)};

	LOG_BUILD_ADD(&fixture->log, GPU_LOG_EVENTS, record);
}

/* Return: its id. */
static uint32_t add_operation(struct fixture *fixture, uint32_t kind, uint32_t what,
			      uint32_t src_kind, uint32_t dst_kind)
{
	struct gpu_log_operation record = {
		.operation = ++fixture->nr_operations,
		.kind = kind,
		.what = what,
		.src_kind = src_kind,
		.dst_kind = dst_kind,
		.stream = 7,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
	};

	LOG_BUILD_ADD(&fixture->log, GPU_LOG_OPERATION, record);
	return record.operation;
}

static void add_activity(struct fixture *fixture, uint32_t operation, uint64_t id,
			 uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	struct gpu_log_activity record = {.operation = operation,
					  .correlation_id = id,
					  .start_ns = start_ns,
					  .end_ns = end_ns,
					  .bytes = bytes};

	LOG_BUILD_ADD(&fixture->log, GPU_LOG_ACTIVITY, record);
}

static void add_memory(struct fixture *fixture, uint32_t operation, uint64_t id,
		       uint64_t time_ns, uint64_t address, uint64_t bytes)
{
	struct gpu_log_memory record = {.operation = operation,
					.correlation_id = id,
					.time_ns = time_ns,
					.address = address,
					.bytes = bytes};

	LOG_BUILD_ADD(&fixture->log, GPU_LOG_MEMORY, record);
}

static void add_call(struct fixture *fixture, uint32_t api, uint64_t id,
		     uint64_t start_ns, uint64_t end_ns)
{
	struct gpu_log_api_call record = {.api = api,
					  .correlation_id = id,
					  .start_ns = start_ns,
					  .end_ns = end_ns,
					  .tid = PID};

	LOG_BUILD_ADD(&fixture->log, GPU_LOG_API_CALL, record);
}

/* A call's sample in perf.data, with a stack of one address */
static void add_launch(struct fixture *fixture, uint32_t api, uint64_t id,
		       uint64_t time_ns, uint64_t ip)
{
	/* With its size, raw data is a multiple of 8 bytes. */
	struct {
		struct launch_event event;
		uint32_t pad;
	} raw = {.event = {.log_id = LOG, .correlation_id = id, .api = api}};
	uint64_t chain[] = {PERF_CONTEXT_USER, ip + 1};
	struct perfdata_sample sample = {
		.id = LAUNCH_ID,
		.ip = ip,
		.pid = PID,
		.tid = PID,
		.time_ns = time_ns,
		.ips = chain,
		.nr_ips = 2,
		.raw = &raw,
		.raw_bytes = offsetof(__typeof__(raw), pad) + sizeof(raw.pad),
	};
	uint64_t record[64];

	CHECK(perfdata_sample__write(&fixture->attr, &sample, record, sizeof(record)) >
	      0);
	CHECK_EQ(perfdata_writer__write(fixture->writer, (void *)record), 0);
}

static int collector__start(struct sink *sink, const struct sink_input *input)
{
	((struct collector *)sink)->events = input->events;
	return 0;
}

static int collector__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct collector *collector = (struct collector *)sink;
	char *text = collector->text + collector->nr_text;
	size_t room = sizeof(collector->text) - collector->nr_text;
	int nr;

	CHECK(sample->event == GPU_LOG_EVENT_LAUNCH || sample->shape);
	CHECK(collector->events & GPU_LOG_EVENT_BIT(sample->event));
	nr = snprintf(text, room, "%s %llu", gpu_events[sample->event].name,
		      (unsigned long long)sample->period);
	for (size_t i = 0; i < sample->nr_frames; i++) {
		const struct gpu_frame *frame = &sample->frames[i];

		nr += snprintf(text + nr, room - (size_t)nr, i ? ";" : " ");
		if (frame->name)
			nr += snprintf(text + nr, room - (size_t)nr, "%s", frame->name);
		else
			nr += snprintf(text + nr, room - (size_t)nr, "%llx",
				       (unsigned long long)frame->ip);
	}
	nr += snprintf(text + nr, room - (size_t)nr, "\n");
	collector->nr_text += (size_t)nr;
	CHECK(collector->nr_text < sizeof(collector->text));
	return 0;
}

static int collector__finish(struct sink *sink)
{
	(void)sink;
	return 0;
}

static void collector__delete(struct sink *sink)
{
	(void)sink;
}

static const struct sink_ops collector_ops = {
	.start = collector__start,
	.sample = collector__sample,
	.finish = collector__finish,
	.delete = collector__delete,
};

static void save(struct fixture *fixture)
{
	log_build__end_block(&fixture->log);
	CHECK_EQ(log_build__save(&fixture->log, fixture->gpu), 0);
	CHECK_EQ(perfdata_writer__commit(fixture->writer), 0);
	perfdata_writer__close(fixture->writer);
	log_build__release(&fixture->log);
}

/* Everything that an event has is written, or has nothing to write. */
static void check_conservation(const struct source_stats *stats)
{
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		const struct source_event_stats *of = &stats->of[i];

		CHECK_EQ(of->written, of->total.period);
		CHECK_EQ(of->nr_written + of->total.nr_empty, of->total.nr);
	}
}

static struct source_stats run(const struct fixture *fixture,
			       struct source_options options, struct collector *ret)
{
	struct source_stats stats;

	*ret = (struct collector){.sink = {.ops = &collector_ops}};
	options.perfdata_path = fixture->input;
	CHECK_EQ(source__run(&options, &ret->sink, &stats), 0);
	check_conservation(&stats);
	return stats;
}

static void remove_files(const struct fixture *fixture)
{
	if (getenv("KEEP_DIR"))
		return;
	unlink(fixture->input);
	unlink(fixture->gpu);
	rmdir(fixture->directory);
}

/* Something of every event */
static void make_recording(struct fixture *fixture)
{
	uint32_t copy, set, sync, wait, alloc, freed, fault;

	begin(fixture);
	add_events(fixture, GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS) - 1);
	log_build__shape(&fixture->log, 1, "_Z6vecAddPf");
	copy = add_operation(fixture, GPU_LOG_KIND_MEMCPY, 1, GPU_LOG_MEMORY_PAGEABLE,
			     GPU_LOG_MEMORY_DEVICE);
	set = add_operation(fixture, GPU_LOG_KIND_MEMSET, 0, 0, GPU_LOG_MEMORY_DEVICE);
	sync = add_operation(fixture, GPU_LOG_KIND_SYNC, GPU_LOG_SYNC_STREAM, 0, 0);
	wait = add_operation(fixture, GPU_LOG_KIND_SYNC, GPU_LOG_SYNC_STREAM_WAIT_EVENT,
			     0, 0);
	alloc = add_operation(fixture, GPU_LOG_KIND_MEMORY, GPU_LOG_ALLOCATED, 0,
			      GPU_LOG_MEMORY_DEVICE);
	freed = add_operation(fixture, GPU_LOG_KIND_MEMORY, GPU_LOG_FREED, 0,
			      GPU_LOG_MEMORY_DEVICE);
	fault = add_operation(fixture, GPU_LOG_KIND_FAULT, GPU_LOG_FAULT_HTOD, 0, 0);

	add_memory(fixture, alloc, 1, 1100, 0x1000, 4096);
	add_memory(fixture, alloc, 2, 1200, 0x2000, 512);
	add_activity(fixture, copy, 3, 2000, 2300, 4096);
	log_build__kernel(&fixture->log, 1, 4, 2500, 3500);
	add_activity(fixture, set, 5, 3400, 3600, 512);
	add_activity(fixture, sync, 6, 2600, 3550, 0);
	add_activity(fixture, wait, 7, 2600, 3550, 0);
	add_activity(fixture, fault, 0, 2700, 2750, 65536);
	add_activity(fixture, fault, 0, 9700, 9750, 1);
	log_build__kernel(&fixture->log, 1, 9, 4000, 4100); /* its launch is lost */
	log_build__kernel(&fixture->log, 1, 10, 0, 0); /* its time isn't known */
	add_memory(fixture, freed, 0, 5000, 0x1000, 4096);
	add_memory(fixture, freed, 0, 5000, 0x3000, 4096);

	for (uint64_t id = 1; id <= 10; id++) {
		static const uint32_t apis[] = {0,	    API_ALLOC,	API_ALLOC,
						API_COPY,   API_LAUNCH, API_COPY,
						API_SYNC,   API_SYNC,	API_LAUNCH,
						API_LAUNCH, API_LAUNCH};

		if (apis[id] == API_LAUNCH || apis[id] == API_COPY)
			add_call(fixture, apis[id], id, 1000 + 100 * id,
				 1000 + 100 * id + 40 + id);
		if (id != 9)
			add_launch(fixture, apis[id], id, 1000 + 100 * id, 0xa0 + id);
	}
	save(fixture);
}

#define UNDER(event, period, leaf, api, ip) event " " period " " leaf ";" api ";" ip "\n"

TEST(every_event_is_under_its_call)
{
	struct fixture fixture;
	struct collector collector;
	struct source_stats stats;

	make_recording(&fixture);
	stats = run(&fixture, (struct source_options){0}, &collector);
	CHECK_STR(
		collector.text,
		UNDER("gpu-alloc", "4096", "[GPU_Alloc]device", "cudaMalloc", "a1") UNDER(
			"gpu-alloc", "512", "[GPU_Alloc]device", "cudaMalloc",
			"a2") UNDER("gpu-launch", "43", "[GPU_Launch]cudaMemcpyAsync",
				    "cudaMemcpyAsync",
				    "a3") UNDER("gpu-memcpy", "300",
						"[GPU_Memcpy]HtoD pageable",
						"cudaMemcpyAsync",
						"a3") UNDER("gpu-launch", "44",
							    "[GPU_Launch]"
							    "cudaLaunchKernel",
							    "cudaLaunchKernel",
							    "a4") UNDER("gpu-kernel",
									"1000",
									"[GPU_Kernel]"
									"vecAdd(float*)",
									"cudaLaunchKerne"
									"l",
									"a4") UNDER("gpu-"
										    "queu"
										    "e",
										    "105"
										    "6",
										    "[GPU"
										    "_Que"
										    "ue]"
										    "vecA"
										    "dd("
										    "floa"
										    "t*)",
										    "cuda"
										    "Laun"
										    "chKe"
										    "rne"
										    "l",
										    "a4")
			UNDER("gpu-idle", "200", "[GPU_Idle]", "cudaLaunchKernel",
			      "a4") UNDER("gpu-fault", "65536", "[GPU_Fault]HtoD",
					  "cudaLaunchKernel",
					  "a4") UNDER("gpu-launch", "45",
						      "[GPU_Launch]cudaMemcpyAsync",
						      "cudaMemcpyAsync",
						      "a5") UNDER("gpu-memset", "200",
								  "[GPU_Memset]device",
								  "cudaMemcpyAsync",
								  "a5") UNDER("gpu-sync",
									      "950",
									      "[GPU_Sync]"
									      "stream",
									      "cudaStream"
									      "Synchroniz"
									      "e",
									      "a6")
				UNDER("gpu-launch", "48", "[GPU_Launch]cudaLaunchKernel",
				      "cudaLaunchKernel",
				      "a8") "gpu-launch 49 "
					    "[GPU_Launch]cudaLaunchKernel;[unattributed]"
					    "\n" UNDER("gpu-launch", "50",
						       "[GPU_Launch]cudaLaunchKernel",
						       "cudaLaunchKernel",
						       "aa") "gpu-kernel 100 "
							     "[GPU_Kernel]vecAdd(float*);"
							     "[unattributed]\n"
							     "gpu-queue 2051 "
							     "[GPU_Queue]vecAdd(float*);["
							     "unattributed]\n"
							     "gpu-idle 400 "
							     "[GPU_Idle];[unattributed]\n"
							     "gpu-fault 1 "
							     "[GPU_Fault]HtoD;["
							     "unattributed]\n");
	CHECK_EQ(stats.events, GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS) - 1);
	CHECK_EQ(stats.of[GPU_LOG_EVENT_KERNEL].total.nr, 3);
	CHECK_EQ(stats.of[GPU_LOG_EVENT_KERNEL].total.nr_empty, 1);
	CHECK_EQ(stats.of[GPU_LOG_EVENT_KERNEL].attributed, 1000);
	CHECK_EQ(stats.of[GPU_LOG_EVENT_KERNEL].nr_attributed, 2);
	CHECK_EQ(stats.of[GPU_LOG_EVENT_IDLE].attributed, 200);
	CHECK_EQ(stats.nr_unknown_frees, 1);
	CHECK_EQ(stats.nr_without_call, 1);
	CHECK_EQ(stats.nr_gpus, 1);
	CHECK_EQ(stats.gpus[0].busy_ns, 1500);
	CHECK_EQ(stats.gpus[0].idle_ns, 600);
	CHECK_EQ(stats.gpus[0].before_ns, 1000); /* the log is opened at 1000 */
	CHECK_EQ(stats.gpus[0].after_ns,
		 5600); /* up to the last thing recorded, at 9700 */
	CHECK_EQ(stats.gpus[0].before_ns + stats.gpus[0].busy_ns + stats.gpus[0].idle_ns +
			 stats.gpus[0].after_ns,
		 9700 - 1000);
	source_stats__release(&stats);
	remove_files(&fixture);
}

TEST(events_are_chosen_and_weighed)
{
	struct fixture fixture;
	struct collector collector;
	struct source_stats stats;

	make_recording(&fixture);
	stats = run(&fixture,
		    (struct source_options){.events = "gpu-memcpy,gpu-memset,gpu-fault",
					    .weight = EVENT_WEIGHT_BYTES},
		    &collector);
	CHECK_STR(collector.text,
		  UNDER("gpu-memcpy", "4096", "[GPU_Memcpy]HtoD pageable",
			"cudaMemcpyAsync",
			"a3") UNDER("gpu-fault", "65536", "[GPU_Fault]HtoD",
				    "cudaLaunchKernel", "a4")
			  UNDER("gpu-memset", "512", "[GPU_Memset]device",
				"cudaMemcpyAsync",
				"a5") "gpu-fault 1 [GPU_Fault]HtoD;[unattributed]\n");
	CHECK_EQ(collector.events, stats.events);
	source_stats__release(&stats);

	stats = run(&fixture,
		    (struct source_options){.events = "gpu-alloc", .are_leaks = true},
		    &collector);
	CHECK_STR(collector.text,
		  UNDER("gpu-alloc", "512", "[GPU_Alloc]device", "cudaMalloc", "a2"));
	source_stats__release(&stats);

	/* Sinks are told of those that there are samples of. */
	stats = run(&fixture, (struct source_options){.events = "gpu-sync,gpu-kernel"},
		    &collector);
	CHECK_EQ(collector.events, GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_SYNC) |
					   GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL));
	source_stats__release(&stats);
	remove_files(&fixture);
}

TEST(leaks_need_allocations)
{
	struct source_options options = {.are_leaks = true, .events = "gpu-kernel"};
	struct collector collector = {.sink = {.ops = &collector_ops}};
	struct source_stats stats;
	struct fixture fixture;

	make_recording(&fixture);
	options.perfdata_path = fixture.input;
	CHECK_EQ(source__run(&options, &collector.sink, &stats), -EINVAL);
	remove_files(&fixture);
}

/* A log of an older version, which says nothing of events */
TEST(kernels_alone_are_all_there_is)
{
	struct collector collector;
	struct source_stats stats;
	struct fixture fixture;

	begin(&fixture);
	log_build__shape(&fixture.log, 1, "k");
	log_build__kernel(&fixture.log, 1, 4, 2500, 3500);
	add_launch(&fixture, API_LAUNCH, 4, 2000, 0xa4);
	save(&fixture);
	stats = run(&fixture, (struct source_options){0}, &collector);
	CHECK_STR(collector.text,
		  UNDER("gpu-kernel", "1000", "[GPU_Kernel]k", "cudaLaunchKernel", "a4"));
	CHECK_EQ(stats.events, GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL));
	source_stats__release(&stats);
	remove_files(&fixture);
}

static void add_node(struct fixture *fixture, uint32_t origin, uint64_t node,
		     uint64_t original, uint64_t id)
{
	struct gpu_log_graph_node record = {.origin = origin,
					    .node = node,
					    .original = original,
					    .correlation_id = id};

	LOG_BUILD_ADD(&fixture->log, GPU_LOG_GRAPH_NODE, record);
}

/* Copies and memsets of graphs have two stacks, as kernels do. */
TEST(nodes_of_graphs_that_are_no_kernels)
{
	struct gpu_log_operation copy = {.operation = 1,
					 .kind = GPU_LOG_KIND_MEMCPY,
					 .what = 2,
					 .src_kind = GPU_LOG_MEMORY_DEVICE,
					 .dst_kind = GPU_LOG_MEMORY_PINNED,
					 .graph = 3,
					 .graph_node = 21};
	struct gpu_log_operation set = {.operation = 2,
					.kind = GPU_LOG_KIND_MEMSET,
					.dst_kind = GPU_LOG_MEMORY_DEVICE,
					.graph = 3,
					.graph_node = 22};
	struct collector collector;
	struct source_stats stats;
	struct fixture fixture;

	begin(&fixture);
	add_events(&fixture,
		   GPU_LOG_DEFAULT_EVENTS | GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_IDLE));
	add_node(&fixture, GPU_LOG_NODE_NONE, 0, 0, 0);
	add_node(&fixture, GPU_LOG_NODE_CAPTURED, 11, 0, 1);
	add_node(&fixture, GPU_LOG_NODE_CLONED, 21, 11, 0);
	add_node(&fixture, GPU_LOG_NODE_CLONED, 22, 12, 0);
	LOG_BUILD_ADD(&fixture.log, GPU_LOG_OPERATION, copy);
	LOG_BUILD_ADD(&fixture.log, GPU_LOG_OPERATION, set);
	add_activity(&fixture, 1, 2, 3000, 3100, 10);
	add_activity(&fixture, 2, 2, 3200, 3250, 20);
	add_launch(&fixture, API_COPY, 1, 1000, 0xa1); /* captured */
	add_launch(&fixture, API_COPY | GPU_LOG_API_GRAPH_NODE, 12, 1500,
		   0xa2); /* added */
	add_launch(&fixture, API_GRAPH, 2, 2000, 0xa3);
	save(&fixture);

	stats = run(&fixture, (struct source_options){0}, &collector);
	CHECK_STR(collector.text,
		  "gpu-memcpy 100 [GPU_Memcpy]DtoH pinned;cudaMemcpyAsync;a1;"
		  "[CUDA graph];cudaGraphLaunch;a3\n"
		  "gpu-memset 50 [GPU_Memset]device;cudaMemcpyAsync;a2;[CUDA graph];"
		  "cudaGraphLaunch;a3\n"
		  "gpu-idle 100 [GPU_Idle];cudaMemcpyAsync;a2;[CUDA graph];"
		  "cudaGraphLaunch;a3\n");
	source_stats__release(&stats);
	stats = run(&fixture,
		    (struct source_options){.graph_stacks = GRAPH_STACKS_CAPTURE,
					    .events = "gpu-memcpy"},
		    &collector);
	CHECK_STR(collector.text, UNDER("gpu-memcpy", "100", "[GPU_Memcpy]DtoH pinned",
					"cudaMemcpyAsync", "a1"));
	source_stats__release(&stats);
	remove_files(&fixture);
}

/* "NAME:SUM_OF_PERIODS ..." of a perf.data, in the order of its events */
static const char *sums_of(const char *path)
{
	const struct perf_event_header *record;
	struct perfdata_reader *reader = NULL;
	uint64_t sums[16] = {0}, cursor = 0;
	struct perfdata_sample sample;
	static char text[512];
	size_t length = 0;

	CHECK_EQ(perfdata_reader__open(path, &reader), 0);
	CHECK(perfdata_reader__nr_events(reader) <= 16);
	while (perfdata_reader__next(reader, &cursor, &record) > 0) {
		int event = perfdata_reader__find_event(reader, record);

		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		CHECK(event >= 0);
		CHECK_EQ(perfdata_sample__parse(
				 &perfdata_reader__event(reader, (size_t)event)->attr,
				 record, &sample),
			 0);
		sums[event] += sample.period;
	}
	*text = '\0';
	for (size_t i = 0; i < perfdata_reader__nr_events(reader); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s%s:%llu", i ? " " : "",
					   perfdata_reader__event(reader, i)->name,
					   (unsigned long long)sums[i]);
	perfdata_reader__close(reader);
	return text;
}

static const char *inject(const struct fixture *fixture, const char *events)
{
	struct source_options options = {.perfdata_path = fixture->input,
					 .events = events};
	struct source_stats stats;
	struct sink *sink = NULL;
	char output[96], names[128];
	const char *text;

	snprintf(output, sizeof(output), "%s.out", fixture->input);
	CHECK_EQ(sink_perfdata__new(output, &(struct perfdata_options){}, &sink), 0);
	CHECK_EQ(source__run(&options, sink, &stats), 0);
	check_conservation(&stats);
	source_stats__release(&stats);
	sink->ops->delete (sink);
	text = sums_of(output);
	unlink(output);
	snprintf(names, sizeof(names), "%s.dso/[GPU_Kernel]", output);
	unlink(names);
	snprintf(names, sizeof(names), "%s.dso", output);
	rmdir(names);
	return text;
}

TEST(perfdata_has_an_event_of_perf_s_for_each)
{
	struct fixture fixture;

	make_recording(&fixture);
	CHECK_STR(inject(&fixture, NULL),
		  "gpu-kernel:1100 gpu-memcpy:300 gpu-memset:200 gpu-sync:950 "
		  "gpu-launch:279 gpu-queue:3107 gpu-idle:600 gpu-alloc:4608 "
		  "gpu-fault:65537");
	CHECK_STR(inject(&fixture, "gpu-sync,gpu-memcpy"), "gpu-memcpy:300 gpu-sync:950");
	remove_files(&fixture);
}

/* For the shell test, which reads it with stock perf */
TEST(write_for_perf)
{
	struct fixture fixture;

	make_recording(&fixture);
	remove_files(&fixture);
}
