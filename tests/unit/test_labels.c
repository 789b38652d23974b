// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples are labelled with: source/labels.c and label_list.c */
#include <errno.h>

#include "join/nvtx_ranges.h"
#include "source/labels.h"
#include "unit.h"

static struct sidecar_log logs[] = {
	{.pid = 100, .has_rank = true, .rank = 3},
	{.pid = 7}, /* in a pid namespace of its own */
};
static struct sidecar_shape shapes[] = {
	{.log = 0, .kind = GPU_LOG_KIND_KERNEL, .device = 1, .context = 2, .stream = 7},
	{.log = 0,
	 .kind = GPU_LOG_KIND_MEMCPY,
	 .device = 1,
	 .context = 2,
	 .stream = 8,
	 .graph = 12},
	{.log = 0,
	 .kind = GPU_LOG_KIND_SYNC,
	 .device = GPU_LOG_NO_DEVICE,
	 .context = 2,
	 .stream = UINT32_MAX},
	{.log = 1, .kind = GPU_LOG_KIND_MEMORY, .device = 1, .context = 0, .stream = 7},
};
enum { KERNEL, COPY, SYNC, ALLOCATION };
static struct sidecar_activity activities[] = {
	{.log = 0, .shape = KERNEL, .bytes = 0},
	{.log = 0, .shape = COPY, .bytes = 4096},
	{.log = 0, .shape = SYNC},
	{.log = 1, .shape = ALLOCATION, .bytes = 64},
};
static struct sidecar_nvtx nvtx[] = {
	{.operation = GPU_LOG_NVTX_PUSH,
	 .time_ns = 10,
	 .tid = 101,
	 .domain = "",
	 .name = "outer"},
	{.operation = GPU_LOG_NVTX_PUSH,
	 .time_ns = 20,
	 .tid = 101,
	 .domain = "mine",
	 .name = "a;b\tc->d"},
	{.operation = GPU_LOG_NVTX_PUSH,
	 .time_ns = 30,
	 .tid = 101,
	 .domain = "",
	 .name = ""},
	{.log = 1,
	 .operation = GPU_LOG_NVTX_START,
	 .time_ns = 10,
	 .tid = 7,
	 .range = 1,
	 .domain = "",
	 .name = "all"},
	{.log = 1,
	 .operation = GPU_LOG_NVTX_PUSH,
	 .time_ns = 10,
	 .tid = 7,
	 .domain = "",
	 .name = "main"},
};

static struct sidecar sidecar = {
	.logs = logs,
	.nr_logs = 2,
	.shapes = shapes,
	.nr_shapes = 4,
	.activities = activities,
	.nr_activities = 4,
	.nvtx = nvtx,
	.nr_nvtx = sizeof(nvtx) / sizeof(*nvtx),
};

static struct devices *devices;
static struct label_list list;

static struct labels *make(const char *text)
{
	struct labels *labels = NULL;

	list = (struct label_list){.is_at_root = list.is_at_root};
	if (text)
		CHECK_EQ(label_list__parse(text, &list), 0);
	CHECK_EQ(devices__new(&sidecar, &devices), 0);
	CHECK_EQ(labels__new(&sidecar, devices, &list, &labels), 0);
	return labels;
}

static void release(struct labels *labels)
{
	labels__delete(labels);
	devices__delete(devices);
}

static const struct gpu_labels *find(struct labels *labels, int activity, uint32_t pid,
				     uint32_t tid, uint64_t time_ns)
{
	const struct occurrence occurrence = {
		.log = activities[activity].log,
		.event = GPU_LOG_EVENT_KERNEL,
		.activity = &activities[activity],
	};
	const struct labels_query query = {
		.occurrence = &occurrence, .pid = pid, .tid = tid, .time_ns = time_ns};
	const struct gpu_labels *found = NULL;

	CHECK_EQ(labels__find(labels, &query, &found), 0);
	return found;
}

/* Of a stack of @nr frames, leaf first, with the labels in it: "leaf|[x]|0|1" */
static const char *frames(struct labels *labels, size_t nr)
{
	static struct stack stack;
	static char text[16384];
	const struct stack *labelled;
	size_t used = 0;

	stack.nr_frames = nr;
	for (size_t i = 0; i < nr; i++)
		stack.frames[i] = (struct gpu_frame){.ip = i};
	stack.frames[0] = (struct gpu_frame){.name = "leaf"};
	CHECK_EQ(labels__add_frames(labels, &stack, &labelled), 0);
	for (size_t i = 0; i < labelled->nr_frames; i++) {
		const struct gpu_frame *frame = &labelled->frames[i];
		char number[32];

		snprintf(number, sizeof(number), "%d", (int)frame->ip);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i ? "|" : "",
					 frame->name ? frame->name : number);
	}
	return text;
}

TEST(list_is_in_the_order_it_is_given)
{
	struct label_list parsed = {.is_at_root = true};

	CHECK_EQ(label_list__parse("rank,device,nvtx,graph,context,stream", &parsed), 0);
	CHECK_EQ(parsed.nr, 6);
	CHECK_EQ(parsed.items[0], LABEL_RANK);
	CHECK_EQ(parsed.items[5], LABEL_STREAM);
	CHECK(parsed.is_at_root);
	CHECK_EQ(label_list__parse("nvtx", &parsed), 0);
	CHECK_EQ(parsed.nr, 1);
	CHECK(!label_list__has(&parsed, LABEL_RANK));
}

TEST(wrong_lists_are_refused)
{
	static const char *const wrong[] = {"",		 ",",	      "rank,", ",rank",
					    "rank,rank", "ran",	      "ranks", "Rank",
					    "rank nvtx", "rank, nvtx"};
	struct label_list parsed = {.nr = 77};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_EQ(label_list__parse(wrong[i], &parsed), -EINVAL);
	CHECK_EQ(parsed.nr, 77);
}

TEST(values_of_what_has_them)
{
	struct labels *labels = make(NULL);
	const struct gpu_labels *found = find(labels, KERNEL, 100, 101, 5);

	CHECK_EQ(found->device, 1);
	CHECK_EQ(found->context, 2);
	CHECK_EQ(found->stream, 7);
	CHECK_EQ(found->graph, -1);
	CHECK_EQ(found->rank, 3);
	CHECK_EQ(found->bytes, -1);
	CHECK(!found->nvtx);
	found = find(labels, COPY, 100, 101, 20);
	CHECK_EQ(found->graph, 12);
	CHECK_EQ(found->bytes, 4096);
	CHECK_STR(found->nvtx, "outer;mine:a;b\tc->d");
	found = find(labels, SYNC, 100, 102, 20);
	CHECK_EQ(found->device, -1);
	CHECK_EQ(found->stream, -1);
	CHECK_EQ(found->context, 2);
	CHECK_EQ(found->bytes, -1);
	CHECK(!found->nvtx);
	found = find(labels, ALLOCATION, 0, 0, 20);
	CHECK_EQ(found->stream, -1); /* of no stream's order */
	CHECK_EQ(found->context, -1);
	CHECK_EQ(found->rank, -1);
	CHECK_EQ(found->bytes, 64);
	CHECK(!found->nvtx); /* nobody knows when it was launched */
	release(labels);
}

TEST(frames_at_the_leaf_and_at_the_root)
{
	struct labels *labels = make("rank,nvtx,graph,stream");

	find(labels, KERNEL, 100, 101, 30);
	CHECK_STR(frames(labels, 3),
		  "leaf|[stream 7]|[nvtx]|[nvtx mine:a:b c\u2192d]|[nvtx outer]|[rank "
		  "3]|1|2");
	release(labels);
	list.is_at_root = true;
	labels = make("device,rank");
	find(labels, KERNEL, 100, 101, 30);
	CHECK_STR(frames(labels, 3), "leaf|1|2|[rank 3]|[device 1]");
	CHECK_STR(frames(labels, 1), "leaf|[rank 3]|[device 1]");
	release(labels);
	labels = make("graph");
	find(labels, KERNEL, 100, 101, 30);
	CHECK_STR(frames(labels, 3), "leaf|1|2");
	release(labels);
	list.is_at_root = false;
}

TEST(a_long_stack_gives_way_to_labels)
{
	struct labels *labels = make("rank,device");
	const char *text, *end = "|122|123|[truncated]";

	find(labels, KERNEL, 100, 101, 5);
	text = frames(labels, 125);
	CHECK_STR(text + strlen(text) - 8, "|123|124"); /* 127 with the labels */
	text = frames(labels, 126);
	CHECK_STR(text + strlen(text) - strlen(end), end);
	text = frames(labels, STACK_MAX_FRAMES);
	CHECK_STR(text + strlen(text) - strlen(end), end);
	release(labels);
}

TEST(only_the_innermost_of_very_many_ranges)
{
	static struct sidecar_nvtx many[LABELS_MAX_NVTX + 10];
	struct sidecar_nvtx *before = sidecar.nvtx;
	size_t nr_before = sidecar.nr_nvtx, nr = 0;
	struct labels *labels;

	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		many[i] = (struct sidecar_nvtx){.operation = GPU_LOG_NVTX_PUSH,
						.time_ns = i,
						.tid = 101,
						.domain = "",
						.name = i == 9	  ? "too far out"
							: i == 10 ? "outermost"
								  : "r"};
	sidecar.nvtx = many;
	sidecar.nr_nvtx = sizeof(many) / sizeof(*many);
	labels = make("nvtx");
	find(labels, KERNEL, 100, 101, 1000);
	for (const char *at = frames(labels, 1); (at = strstr(at, "[nvtx ")); at++)
		nr++;
	CHECK_EQ(nr, LABELS_MAX_NVTX);
	CHECK(strstr(frames(labels, 1), "|[nvtx outermost]"));
	CHECK(!strstr(frames(labels, 1), "too far out"));
	release(labels);
	sidecar.nvtx = before;
	sidecar.nr_nvtx = nr_before;
}

/* A string of a log can be 64 KiB long, and be in 64 ranges of every sample. */
TEST(gigantic_names_of_ranges_are_cut)
{
	static char gigantic[65000];
	struct sidecar_nvtx *before = sidecar.nvtx, range;
	const struct gpu_labels *found;
	size_t nr_before = sidecar.nr_nvtx;
	struct labels *labels;

	memset(gigantic, 'x', sizeof(gigantic) - 1);
	range = (struct sidecar_nvtx){.operation = GPU_LOG_NVTX_PUSH,
				      .time_ns = 1,
				      .tid = 101,
				      .domain = gigantic,
				      .name = gigantic};
	sidecar.nvtx = &range;
	sidecar.nr_nvtx = 1;
	labels = make("nvtx");
	found = find(labels, KERNEL, 100, 101, 1000);
	CHECK_EQ(strlen(found->nvtx),
		 NVTX_RANGE_MAX_DOMAIN_BYTES + 1 + NVTX_RANGE_MAX_BYTES);
	release(labels);
	sidecar.nvtx = before;
	sidecar.nr_nvtx = nr_before;
}

/* The recorder sees pid 5007, which is pid 7 to itself. */
TEST(threads_of_other_pid_namespaces)
{
	struct labels *labels = make("nvtx");

	CHECK_STR(find(labels, ALLOCATION, 5007, 5007, 20)->nvtx, "all;main");
	CHECK_EQ(labels__nr_unknown_threads(labels), 0);
	CHECK_STR(find(labels, ALLOCATION, 5007, 5008, 20)->nvtx, "all");
	CHECK_EQ(labels__nr_unknown_threads(labels), 1);
	release(labels);
}
