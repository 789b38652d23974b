// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks of graphs' kernels: source/graph_stack.c, kept_stacks.c and node_stacks.c */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu_log.h"
#include "source/graph_stack.h"
#include "source/kept_stacks.h"
#include "source/node_stacks.h"
#include "unit.h"

#define PID 42

/* A stack of @nr frames, the outermost of which is @outermost + 1, above it + 2, ... */
static struct stack make_stack(size_t nr, uint64_t leaf, uint64_t outermost)
{
	struct stack stack = {.nr_frames = nr + 1, .has_code = true};

	for (size_t i = 1; i <= nr; i++)
		stack.frames[i].ip = outermost + nr + 1 - i;
	if (leaf)
		stack.frames[1].ip = leaf;
	return stack;
}

/* "5 3 [CUDA graph] 2 1", without the kernel's frame */
static const char *text_of(const struct stack *stack)
{
	static char text[4096];
	size_t nr = 0;

	text[0] = '\0';
	for (size_t i = 1; i < stack->nr_frames; i++) {
		const struct gpu_frame *frame = &stack->frames[i];
		const char *space = i > 1 ? " " : "";

		if (frame->name)
			nr += (size_t)snprintf(text + nr, sizeof(text) - nr, "%s%s",
					       space, frame->name);
		else
			nr += (size_t)snprintf(text + nr, sizeof(text) - nr, "%s%llu",
					       space, (unsigned long long)frame->ip);
	}
	return text;
}

TEST(what_made_the_node_is_below_what_launched_the_graph)
{
	struct stack launch = make_stack(2, 0, 0), made = make_stack(3, 0, 0), joined;

	graph_stack__join(&launch, made.frames + 1, 3, &joined);
	CHECK_STR(text_of(&joined), "3 2 1 [CUDA graph] 2 1");
	CHECK(joined.has_code);
	graph_stack__made(made.frames + 1, 3, &joined);
	CHECK_STR(text_of(&joined), "3 2 1");
	CHECK(joined.has_code);
}

TEST(node_that_nobody_saw_says_so)
{
	struct stack launch = make_stack(2, 0, 0), joined;

	graph_stack__join(&launch, NULL, 0, &joined);
	CHECK_STR(text_of(&joined), "[graph made before recording] [CUDA graph] 2 1");
	CHECK(joined.has_code);
	graph_stack__made(NULL, 0, &joined);
	CHECK_STR(text_of(&joined), "[graph made before recording]");
	CHECK(!joined.has_code);
}

TEST(too_long_a_stack_loses_what_both_have)
{
	/* 1 + 70 + 1 + 55 fit. */
	struct stack launch = make_stack(55, 1000, 0), made = make_stack(70, 0, 0),
		     joined;

	graph_stack__join(&launch, made.frames + 1, 70, &joined);
	CHECK_EQ(joined.nr_frames, GRAPH_STACK_MAX_FRAMES);
	CHECK_EQ(joined.frames[70].ip, 1);
	CHECK_STR(joined.frames[71].name, "[CUDA graph]");

	made = make_stack(71, 0, 0);
	graph_stack__join(&launch, made.frames + 1, 71, &joined);
	CHECK_EQ(joined.nr_frames, 1 + (71 - 54) + 1 + 55);
	CHECK_EQ(joined.frames[1].ip, 71);
	CHECK_EQ(joined.frames[17].ip, 55);
	CHECK_STR(joined.frames[18].name, "[CUDA graph]");
	CHECK_EQ(joined.frames[19].ip, 1000);
	CHECK_EQ(joined.frames[joined.nr_frames - 1].ip, 1);
}

TEST(still_too_long_a_stack_is_truncated)
{
	struct stack launch = make_stack(55, 0, 5000), made = make_stack(120, 0, 0),
		     joined;

	graph_stack__join(&launch, made.frames + 1, 120, &joined);
	CHECK_EQ(joined.nr_frames, GRAPH_STACK_MAX_FRAMES);
	CHECK_EQ(joined.frames[1].ip, 120);
	CHECK_EQ(joined.frames[69].ip, 52);
	CHECK_STR(joined.frames[70].name, "[truncated]");
	CHECK_STR(joined.frames[71].name, "[CUDA graph]");
	CHECK_EQ(joined.frames[72].ip, 5055);
}

TEST(launch_stack_may_leave_no_room)
{
	struct stack launch = make_stack(127, 0, 5000), made = make_stack(9, 0, 0),
		     joined;

	graph_stack__join(&launch, made.frames + 1, 9, &joined);
	CHECK_EQ(joined.nr_frames, STACK_MAX_FRAMES);
	CHECK_STR(joined.frames[1].name, "[truncated]");
	CHECK_STR(joined.frames[2].name, "[CUDA graph]");
	CHECK_EQ(joined.frames[3].ip, 5127);
	CHECK_EQ(joined.frames[129].ip, 5001);
}

static void map_file(struct machine *machine, uint64_t where, const char *path)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, ino_generation;
		uint32_t prot, flags;
		char path[64];
	} map = {
		.header = {.type = PERF_RECORD_MMAP2,
			   .misc = PERF_RECORD_MISC_USER,
			   .size = sizeof(map)},
		.pid = PID,
		.tid = PID,
		.addr = where,
		.len = 0x1000,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	strcpy(map.path, path);
	CHECK_EQ(machine__process(machine, &map.header), 0);
}

TEST(equal_stacks_are_kept_once)
{
	struct stack stack = make_stack(3, 0, 0x10000), other = make_stack(3, 7, 0x10000);
	struct kept_stack *first, *second, *third, *fourth;
	struct kept_stacks stacks = {0};
	struct machine *machine;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	map_file(machine, 0x10000, "/nowhere/a");
	CHECK_EQ(kept_stacks__add(&stacks, &stack, machine, PID, &first), 0);
	CHECK_EQ(kept_stacks__add(&stacks, &stack, machine, PID, &second), 0);
	CHECK_EQ(kept_stacks__add(&stacks, &other, machine, PID, &third), 0);
	CHECK_EQ(kept_stacks__add(&stacks, &stack, machine, PID + 1, &fourth), 0);
	CHECK(first == second);
	CHECK(first != third);
	CHECK(first != fourth);
	kept_stacks__release(&stacks);
	machine__delete(machine);
}

TEST(frames_of_a_replaced_file_are_given_by_name)
{
	struct gpu_frame frames[STACK_MAX_FRAMES];
	struct stack stack = {.nr_frames = 4, .has_code = true};
	struct kept_stacks stacks = {0};
	struct kept_stack *kept;
	struct machine *machine;

	stack.frames[1] = (struct gpu_frame){.name = "cudaLaunchKernel"};
	stack.frames[2].ip = 0x10008;
	stack.frames[3].ip = 0x20008;
	CHECK_EQ(machine__new(NULL, &machine), 0);
	map_file(machine, 0x10000, "/nowhere/a");
	map_file(machine, 0x20000, "/nowhere/b");
	CHECK_EQ(kept_stacks__add(&stacks, &stack, machine, PID, &kept), 0);

	map_file(machine, 0x30000, "/nowhere/c");
	CHECK_EQ(kept_stack__frames(kept, machine, frames), 3);
	CHECK_STR(frames[0].name, "cudaLaunchKernel");
	CHECK_EQ(frames[1].ip, 0x10008);
	CHECK_EQ(frames[2].ip, 0x20008);

	map_file(machine, 0x20000, "/nowhere/c");
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(kept_stack__frames(kept, machine, frames), 3);
		CHECK_EQ(frames[1].ip, 0x10008);
		CHECK_STR(frames[2].name, "[unknown]"); /* there is no such file */
	}

	map_file(machine, 0x20000, "/nowhere/b");
	CHECK_EQ(kept_stack__frames(kept, machine, frames), 3);
	CHECK_EQ(frames[2].ip, 0x20008);
	kept_stacks__release(&stacks);
	machine__delete(machine);
}

/* One graph's node, captured by launch 7 of log 0; the kernel is launch 9's. */
static struct sidecar one_node(void)
{
	static struct sidecar_log log = {.tells_graph_nodes = true};
	static struct sidecar_shape shapes[] = {{.graph_node = 30}, {0}};
	static struct sidecar_graph_node told[] = {
		{.origin = GPU_LOG_NODE_CAPTURED, .node = 20, .correlation_id = 7},
		{.origin = GPU_LOG_NODE_CLONED, .node = 30, .original = 20}};

	return (struct sidecar){.logs = &log,
				.nr_logs = 1,
				.shapes = shapes,
				.nr_shapes = 2,
				.graph_nodes = told,
				.nr_graph_nodes = 2};
}

TEST(each_mode_shows_its_stacks)
{
	static const char *const known[] = {"12 11 [CUDA graph] 2 1", "2 1", "12 11"};
	static const char *const unknown[] = {
		"[graph made before recording] [CUDA graph] 2 1", "2 1",
		"[graph made before recording]"};
	struct sidecar_activity kernel = {.correlation_id = 9};
	struct stack launch = make_stack(2, 0, 0), made = make_stack(2, 0, 10);
	struct sidecar sidecar = one_node();
	struct node_stacks *stacks;
	struct machine *machine;
	ssize_t maker;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	for (int mode = GRAPH_STACKS_BOTH; mode <= GRAPH_STACKS_CAPTURE; mode++) {
		CHECK_EQ(node_stacks__new(&sidecar, (enum graph_stacks)mode, &stacks), 0);
		kernel.shape = 0;
		CHECK_STR(text_of(node_stacks__of(stacks, &kernel, &launch, machine)),
			  unknown[mode]);
		maker = node_stacks__wants(stacks, 0, GPU_LOG_API_ID(2, 211), 7);
		CHECK_EQ(maker >= 0, mode != GRAPH_STACKS_LAUNCH);
		if (maker >= 0)
			CHECK_EQ(node_stacks__add(stacks, maker, &made, machine, PID), 0);
		CHECK_STR(text_of(node_stacks__of(stacks, &kernel, &launch, machine)),
			  known[mode]);
		/* A kernel of no graph */
		kernel.shape = 1;
		CHECK(node_stacks__of(stacks, &kernel, &launch, machine) == &launch);
		node_stacks__delete(stacks);
	}
	machine__delete(machine);
}

TEST(stack_without_the_program_is_as_good_as_lost)
{
	struct sidecar_activity kernel = {.correlation_id = 9};
	struct stack launch = make_stack(2, 0, 0), made = {.nr_frames = 2};
	struct sidecar sidecar = one_node();
	struct node_stacks *stacks;
	struct machine *machine;
	ssize_t maker;

	made.frames[1].name = "cudaLaunchKernel";
	CHECK_EQ(machine__new(NULL, &machine), 0);
	CHECK_EQ(node_stacks__new(&sidecar, GRAPH_STACKS_BOTH, &stacks), 0);
	maker = node_stacks__wants(stacks, 0, GPU_LOG_API_ID(2, 211), 7);
	CHECK_EQ(node_stacks__add(stacks, maker, &made, machine, PID), 0);
	CHECK_STR(text_of(node_stacks__of(stacks, &kernel, &launch, machine)),
		  "[graph made before recording] [CUDA graph] 2 1");
	node_stacks__delete(stacks);
	machine__delete(machine);
}
