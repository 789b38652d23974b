// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams as threads, in the order of time: source/lanes.c */
#include <string.h>

#include "perfdata/sample.h"
#include "source/lanes.h"
#include "unit.h"

static const struct perf_event_attr attr = {
	.size = sizeof(attr),
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
};

/* A sink that writes down what it is given: "name PID/TID COMM", "sample TIME TID FRAME" */
static char text[65536];
static size_t nr_text;

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	nr_text += (size_t)vsnprintf(text + nr_text, sizeof(text) - nr_text, fmt, args);
	va_end(args);
}

static int take_record(struct sink *sink, const struct perf_event_header *record)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[];
	} *comm = (const void *)record;
	struct perfdata_sample id;

	(void)sink;
	CHECK_EQ(record->type, PERF_RECORD_COMM);
	CHECK_EQ(perfdata_sample__parse_id(&attr, record, &id), 0);
	CHECK_EQ(id.tid, comm->tid);
	note("name %u/%u %s at %u\n", comm->pid, comm->tid - LANES_FIRST_TID, comm->comm,
	     (unsigned int)id.time_ns);
	return 0;
}

static int take_sample(struct sink *sink, const struct gpu_sample *sample)
{
	(void)sink;
	note("sample %u %u %s%s\n", (unsigned int)sample->time_ns,
	     sample->tid - LANES_FIRST_TID, sample->frames[0].name,
	     sample->labels->nvtx ? sample->labels->nvtx : "");
	return 0;
}

static const struct sink_ops ops = {.record = take_record, .sample = take_sample};
static struct sink sink = {.ops = &ops};
static struct machine *machine;

static struct lanes *make(void)
{
	struct lanes_target target = {.sink = &sink, .attr = &attr};
	struct lanes *lanes = NULL;

	nr_text = 0;
	*text = '\0';
	CHECK_EQ(machine__new(NULL, &machine), 0);
	target.machine = machine;
	CHECK_EQ(lanes__new(&target, &lanes), 0);
	return lanes;
}

static void release(struct lanes *lanes)
{
	lanes__delete(lanes);
	machine__delete(machine);
}

static void hold(struct lanes *lanes, uint32_t pid, int64_t stream, uint64_t launch_ns,
		 uint64_t start_ns, const char *name)
{
	char range[] = ";range";
	const struct gpu_labels labels = {
		.device = 0, .stream = stream, .context = 1, .nvtx = range};
	const struct gpu_frame frame = {.name = name};
	const struct gpu_sample sample = {
		.time_ns = launch_ns,
		.pid = pid,
		.tid = pid,
		.event = GPU_LOG_EVENT_KERNEL,
		.frames = &frame,
		.nr_frames = 1,
		.labels = &labels,
	};

	CHECK(lanes__take(&sample));
	CHECK_EQ(lanes__hold(lanes, &sample, start_ns), 0);
	memset(range, 'x', strlen(range)); /* it is a copy that is kept */
}

TEST(samples_wait_for_their_time)
{
	struct lanes *lanes = make();

	hold(lanes, 5, 7, 10, 100, "a");
	hold(lanes, 5, 8, 20, 50, "b");
	hold(lanes, 5, 7, 30, 70, "c");
	CHECK_EQ(lanes__feed(lanes, 50), 0);
	CHECK_STR(text, "");
	CHECK_EQ(lanes__feed(lanes, 71), 0);
	CHECK_STR(text, "name 5/0 GPU0 stream 8 at 50\nsample 50 0 b;range\n"
			"name 5/1 GPU0 stream 7 at 70\nsample 70 1 c;range\n");
	CHECK_STR(machine__comm(machine, 5, LANES_FIRST_TID + 1), "GPU0 stream 7");
	nr_text = 0;
	CHECK_EQ(lanes__feed(lanes, UINT64_MAX), 0);
	CHECK_STR(text, "sample 100 1 a;range\n");
	release(lanes);
}

TEST(each_process_has_streams_of_its_own)
{
	struct lanes *lanes = make();

	hold(lanes, 5, 7, 1, 10, "a");
	hold(lanes, 6, 7, 2, 20, "b");
	hold(lanes, 5, 7, 3, 30, "c");
	CHECK_EQ(lanes__feed(lanes, UINT64_MAX), 0);
	CHECK_STR(text, "name 5/0 GPU0 stream 7 at 10\nsample 10 0 a;range\n"
			"name 6/1 GPU0 stream 7 at 20\nsample 20 1 b;range\n"
			"sample 30 0 c;range\n");
	release(lanes);
}

TEST(nothing_begins_before_its_launch)
{
	struct lanes *lanes = make();

	hold(lanes, 5, 7, 100, 99, "a");
	hold(lanes, 5, 7, 100, 0, "b");
	CHECK_EQ(lanes__feed(lanes, UINT64_MAX), 0);
	CHECK_STR(strstr(text, "sample"), "sample 100 0 a;range\nsample 100 0 b;range\n");
	release(lanes);
}

TEST(many_come_out_in_order)
{
	struct lanes *lanes = make();
	uint64_t last = 0;

	for (uint32_t i = 0; i < 2000; i++)
		hold(lanes, 5, 7, 1, 1 + i * 7919 % 2003, "k");
	CHECK_EQ(lanes__feed(lanes, UINT64_MAX), 0);
	for (const char *at = text; (at = strstr(at, "sample ")); at++) {
		uint64_t time = strtoull(at + 7, NULL, 10);

		CHECK(time > last);
		last = time;
	}
	CHECK_EQ(last, 2003);
	hold(lanes, 5, 7, 1, 1, "left over"); /* released with the lanes */
	release(lanes);
}

TEST(what_runs_on_no_gpu_stays_its_thread_s)
{
	const struct gpu_labels of_stream = {.stream = 7}, of_none = {.stream = -1};
	struct gpu_sample sample = {.event = GPU_LOG_EVENT_MEMCPY, .labels = &of_stream};

	CHECK(lanes__take(&sample));
	sample.event = GPU_LOG_EVENT_SYNC;
	CHECK(!lanes__take(&sample));
	sample.event = GPU_LOG_EVENT_LAUNCH;
	CHECK(!lanes__take(&sample));
	sample.event = GPU_LOG_EVENT_IDLE;
	CHECK(!lanes__take(&sample));
	sample.event = GPU_LOG_EVENT_MEMSET;
	sample.labels = &of_none;
	CHECK(!lanes__take(&sample));
}
