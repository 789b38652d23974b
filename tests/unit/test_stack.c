// SPDX-License-Identifier: GPL-2.0-or-later
/* Which frames of a launch are shown: source/stack.c */
#include "unit.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu_log.h"
#include "source/stack.h"
#include "symbol/machine.h"

#define PID 42

/* A machine whose process has one file of 64 KiB at each place below. */
enum place {
	PROGRAM = 0x10000,
	CUDART = 0x20000,
	DRIVER = 0x30000,
	CUPTI = 0x40000,
	US = 0x50000,
	MEMORY = 0x60000, /* not in all tests */
};

static void map_file(struct machine *machine, enum place where, const char *path)
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
		.len = 0x10000,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	strcpy(map.path, path);
	CHECK_EQ(machine__process(machine, &map.header), 0);
}

static struct machine *new_machine(void)
{
	struct machine *machine;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	map_file(machine, PROGRAM, "/nowhere/app");
	map_file(machine, CUDART, "/nowhere/libcudart-d0da41ae.so.11.0");
	map_file(machine, DRIVER, "/nowhere/libcuda.so.1");
	map_file(machine, CUPTI, "/nowhere/libcupti.so.13");
	map_file(machine, US, "/nowhere/libperf-gpu-inject.so");
	return machine;
}

static void build(struct stack *stack, struct machine *machine, const char *api,
		  bool keep_driver_frames, const uint64_t *ips, size_t nr_ips)
{
	const struct stack_launch launch = {
		.pid = PID,
		.ips = ips,
		.nr_ips = nr_ips,
		.api = api,
	};

	stack__build(stack, machine, &launch, keep_driver_frames);
}

#define BUILD(stack, machine, api, keep, ...)                                      \
	do {                                                                       \
		const uint64_t ips[] = {__VA_ARGS__};                              \
                                                                                   \
		build(stack, machine, api, keep, ips, sizeof(ips) / sizeof(*ips)); \
	} while (0)

TEST(what_is_between_kernel_and_program_becomes_the_api_function)
{
	struct machine *machine = new_machine();
	struct stack stack;

	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, US + 8,
	      CUPTI + 8, DRIVER + 8, CUDART + 8, PROGRAM + 8, PROGRAM + 16);
	CHECK_EQ(stack.nr_frames, 4);
	CHECK_STR(stack.frames[1].name, "cudaLaunchKernel");
	CHECK_EQ(stack.frames[2].ip, PROGRAM + 7);
	CHECK(!stack.frames[2].name);
	CHECK_EQ(stack.frames[3].ip, PROGRAM + 15);
	CHECK(stack.has_code);
	machine__delete(machine);
}

TEST(a_static_runtime_has_one_frame_in_the_program)
{
	struct machine *machine = new_machine();
	struct stack stack;

	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      DRIVER + 8, PROGRAM + 0x8000, PROGRAM + 8);
	CHECK_EQ(stack.nr_frames, 3);
	CHECK_EQ(stack.frames[2].ip, PROGRAM + 7);
	machine__delete(machine);
}

TEST(a_driver_call_has_no_runtime_frame)
{
	struct machine *machine = new_machine();
	struct stack stack;

	BUILD(&stack, machine, "cuLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      DRIVER + 8, PROGRAM + 0x8000, PROGRAM + 8);
	CHECK_EQ(stack.nr_frames, 4);
	CHECK_STR(stack.frames[1].name, "cuLaunchKernel");
	CHECK_EQ(stack.frames[2].ip, PROGRAM + 0x7fff);
	machine__delete(machine);
}

/* There the innermost frame is the driver's, at the very address of the probe. */
TEST(a_hit_of_a_probe_is_no_return_address)
{
	const uint64_t ips[] = {PERF_CONTEXT_USER, DRIVER, PROGRAM + 8, PROGRAM + 16};
	struct machine *machine = new_machine();
	struct stack_launch launch = {.pid = PID,
				      .ips = ips,
				      .nr_ips = 4,
				      .api = "cuLaunchKernel",
				      .is_hit = true};
	struct stack stack;

	stack__build(&stack, machine, &launch, false);
	CHECK_EQ(stack.nr_frames, 4);
	CHECK_STR(stack.frames[1].name, "cuLaunchKernel");
	CHECK_EQ(stack.frames[2].ip, PROGRAM + 7);
	stack__build(&stack, machine, &launch, true);
	CHECK_EQ(stack.nr_frames, 5);
	CHECK_EQ(stack.frames[1].ip, DRIVER);
	CHECK_EQ(stack.frames[3].ip, PROGRAM + 7);
	/* A static runtime's frame is between the driver and the program. */
	launch.api = "cudaLaunchKernel";
	stack__build(&stack, machine, &launch, false);
	CHECK_EQ(stack.nr_frames, 3);
	CHECK_EQ(stack.frames[2].ip, PROGRAM + 15);
	machine__delete(machine);
}

TEST(driver_code_further_out_is_kept)
{
	struct machine *machine = new_machine();
	struct stack stack;

	/* A host function that the driver calls, and that launches. */
	BUILD(&stack, machine, "cuLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      DRIVER + 8, PROGRAM + 8, DRIVER + 16, PROGRAM + 16);
	CHECK_EQ(stack.nr_frames, 5);
	CHECK_EQ(stack.frames[3].ip, DRIVER + 15);
	machine__delete(machine);
}

TEST(all_but_our_own_are_kept_on_request)
{
	struct machine *machine = new_machine();
	struct stack stack;

	BUILD(&stack, machine, "cudaLaunchKernel", true, PERF_CONTEXT_USER, US + 8,
	      CUPTI + 8, DRIVER + 8, CUDART + 8, PROGRAM + 8);
	CHECK_EQ(stack.nr_frames, 6);
	CHECK_EQ(stack.frames[1].ip, CUPTI + 7);
	CHECK_STR(stack.frames[4].name, "cudaLaunchKernel");
	CHECK_EQ(stack.frames[5].ip, PROGRAM + 7);
	machine__delete(machine);
}

TEST(kernel_frames_and_markers_are_left_out)
{
	struct machine *machine = new_machine();
	struct stack stack;

	BUILD(&stack, machine, NULL, false, PERF_CONTEXT_KERNEL, 0xffffffff81000000,
	      PERF_CONTEXT_USER, PROGRAM + 8, PERF_CONTEXT_GUEST, 1);
	CHECK_EQ(stack.nr_frames, 2);
	CHECK_EQ(stack.frames[1].ip, PROGRAM + 7);
	machine__delete(machine);
}

TEST(without_frames_only_the_api_is_known)
{
	struct machine *machine = new_machine();
	struct stack stack;

	build(&stack, machine, "cudaGraphLaunch", false, NULL, 0);
	CHECK_EQ(stack.nr_frames, 2);
	CHECK(!stack.has_code);
	BUILD(&stack, machine, "cudaGraphLaunch", false, PERF_CONTEXT_USER, US + 8,
	      CUPTI + 8);
	CHECK_EQ(stack.nr_frames, 2);
	CHECK(!stack.has_code);
	machine__delete(machine);
}

TEST(a_chain_longer_than_the_limit_is_cut_at_its_root)
{
	struct machine *machine = new_machine();
	uint64_t ips[300];
	struct stack stack;

	for (size_t i = 0; i < 300; i++)
		ips[i] = PROGRAM + 1 + i;
	build(&stack, machine, NULL, false, ips, 300);
	CHECK_EQ(stack.nr_frames, STACK_MAX_FRAMES);
	CHECK_EQ(stack.frames[1].ip, PROGRAM);
	machine__delete(machine);
}

#define TRUNCATED ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)

TEST(a_stack_that_goes_on_says_so)
{
	struct machine *machine = new_machine();
	struct stack stack;

	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      CUDART + 8, PROGRAM + 8, TRUNCATED);
	CHECK_EQ(stack.nr_frames, 4);
	CHECK_EQ(stack.frames[2].ip, PROGRAM + 7);
	CHECK_STR(stack.frames[3].name, "[truncated]");
	CHECK(stack.has_code);
	machine__delete(machine);
}

/* Who looks for a JIT compiler's code needn't look there. */
TEST(a_stack_knows_whether_all_its_code_is_of_files)
{
	const uint64_t nowhere = 0x90000, python = (uint64_t)GPU_LOG_FRAME_PYTHON << 56;
	struct machine *machine = new_machine();
	struct stack stack;

	map_file(machine, MEMORY, "//anon");
	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      CUDART + 8, PROGRAM + 8, PROGRAM + 16, TRUNCATED);
	CHECK(stack.is_of_files);
	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      CUDART + 8, PROGRAM + 8, MEMORY + 8, PROGRAM + 16);
	CHECK(!stack.is_of_files);
	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      CUDART + 8, PROGRAM + 8, PROGRAM + 16, nowhere);
	CHECK(!stack.is_of_files);
	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      CUDART + 8, PROGRAM + 8, python, PROGRAM + 16);
	CHECK(!stack.is_of_files);
	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, PROGRAM + 8);
	CHECK(stack.is_of_files);
	machine__delete(machine);
}

TEST(what_is_truncated_before_the_program_has_no_code)
{
	struct machine *machine = new_machine();
	struct stack stack;

	/* Without the library of a runtime, the frame could be taken for a static one. */
	BUILD(&stack, machine, "cudaLaunchKernel", false, PERF_CONTEXT_USER, CUPTI + 8,
	      DRIVER + 8, TRUNCATED);
	CHECK_EQ(stack.nr_frames, 3);
	CHECK_STR(stack.frames[2].name, "[truncated]");
	CHECK(!stack.has_code);
	machine__delete(machine);
}
