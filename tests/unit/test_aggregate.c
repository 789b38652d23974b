// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples that are added up: which ones are the same, and what their sum says. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "sink/aggregate.h"

enum { PID = 11992, OTHER_PID = 11993 };

#define CODE 0x401000

static const char kernel[] = "[GPU_Kernel]k", other_kernel[] = "[GPU_Kernel]l";

struct fixture {
	struct machine *machine;
	struct aggregate *aggregate;
	uint64_t now_ns;
};

static void add_comm(struct fixture *fixture, uint32_t pid, uint32_t tid,
		     const char *comm, uint16_t misc)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
	} record = {{PERF_RECORD_COMM, misc, sizeof(record)}, pid, tid, ""};

	strcpy(record.comm, comm);
	CHECK_EQ(machine__process(fixture->machine, &record.header), 0);
}

static void map(struct fixture *fixture, uint64_t start, const char *path)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, bytes, pgoff;
		char path[24];
	} record = {{PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof(record)},
		    PID,
		    PID,
		    start,
		    0x1000,
		    0,
		    ""};

	strcpy(record.path, path);
	CHECK_EQ(machine__process(fixture->machine, &record.header), 0);
}

static void setup(struct fixture *fixture)
{
	struct sink_input input = {.events = 1};

	*fixture = (struct fixture){.now_ns = 1000};
	CHECK_EQ(machine__new(NULL, &fixture->machine), 0);
	input.machine = fixture->machine;
	CHECK_EQ(aggregate__new(&input, &fixture->aggregate), 0);
	add_comm(fixture, PID, PID, "app", 0);
	map(fixture, CODE, "/bin/app");
}

static void release(struct fixture *fixture)
{
	aggregate__delete(fixture->aggregate);
	machine__delete(fixture->machine);
}

static void add(struct fixture *fixture, uint32_t pid, uint32_t tid, const char *leaf,
		uint64_t ip)
{
	const struct gpu_frame frames[] = {
		{.name = leaf}, {.name = "launch"}, {.ip = ip}};
	const struct gpu_sample sample = {
		.time_ns = fixture->now_ns++,
		.pid = pid,
		.tid = tid,
		.cpu = 3,
		.period = 10,
		.frames = frames,
		.nr_frames = 3,
	};

	CHECK_EQ(aggregate__add(fixture->aggregate, &sample), 0);
}

TEST(equal_ones_are_one)
{
	struct fixture fixture;
	struct gpu_sample sum;
	uint64_t nr;

	setup(&fixture);
	add(&fixture, PID, PID, kernel, CODE);
	add(&fixture, PID, PID, other_kernel, CODE);
	add(&fixture, PID, PID, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	CHECK_EQ(aggregate__get(fixture.aggregate, 0, &sum, &nr), 0);
	CHECK_EQ(nr, 2);
	CHECK_EQ(sum.period, 20);
	CHECK_EQ(sum.time_ns, 1000);
	CHECK_EQ(sum.pid, PID);
	CHECK_EQ(sum.tid, PID);
	CHECK_EQ(sum.cpu, 3);
	CHECK_EQ(sum.nr_frames, 3);
	CHECK(sum.frames[0].name == kernel);
	CHECK(!strcmp(sum.frames[1].name, "launch"));
	CHECK(!sum.frames[2].name);
	CHECK_EQ(sum.frames[2].ip, CODE);
	CHECK_EQ(aggregate__get(fixture.aggregate, 1, &sum, &nr), 0);
	CHECK_EQ(nr, 1);
	CHECK(sum.frames[0].name == other_kernel);
	release(&fixture);
}

TEST(threads_are_told_apart_by_their_names)
{
	struct fixture fixture;

	setup(&fixture);
	add_comm(&fixture, PID, PID + 1, "app", 0);
	add_comm(&fixture, PID, PID + 2, "worker", 0);
	for (uint32_t i = 0; i < 3; i++)
		add(&fixture, PID, PID + i, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	add_comm(&fixture, PID, PID + 2, "app", 0);
	add(&fixture, PID, PID + 2, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	release(&fixture);
}

TEST(processes_are_told_apart)
{
	struct fixture fixture;

	setup(&fixture);
	add_comm(&fixture, OTHER_PID, OTHER_PID, "app", 0);
	add(&fixture, PID, PID, kernel, CODE);
	add(&fixture, OTHER_PID, OTHER_PID, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	release(&fixture);
}

TEST(an_address_is_what_is_mapped_there)
{
	struct fixture fixture;

	setup(&fixture);
	add(&fixture, PID, PID, kernel, CODE);
	map(&fixture, CODE + 0x10000, "/lib/else"); /* elsewhere */
	add(&fixture, PID, PID, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 1);
	map(&fixture, CODE, "/lib/other");
	add(&fixture, PID, PID, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	map(&fixture, CODE, "/bin/app"); /* it is back */
	add(&fixture, PID, PID, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	release(&fixture);
}

TEST(an_exec_makes_other_code_of_it)
{
	struct fixture fixture;

	setup(&fixture);
	add(&fixture, PID, PID, kernel, CODE);
	add_comm(&fixture, PID, PID, "app", PERF_RECORD_MISC_COMM_EXEC);
	map(&fixture, CODE, "/bin/next");
	add(&fixture, PID, PID, kernel, CODE);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	release(&fixture);
}

TEST(a_number_is_as_good_as_a_stack)
{
	const struct gpu_frame frames[] = {{.name = kernel}, {.ip = CODE}},
			       others[] = {{.name = kernel}, {.ip = CODE + 8}};
	struct gpu_sample sample = {
		.pid = PID, .tid = PID, .stack_id = 5, .frames = frames, .nr_frames = 2};
	struct fixture fixture;

	setup(&fixture);
	CHECK_EQ(aggregate__add(fixture.aggregate, &sample), 0);
	CHECK_EQ(aggregate__add(fixture.aggregate, &sample), 0);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 1);
	sample.stack_id = 5 + 4096; /* has the same place in a table */
	sample.frames = others;
	CHECK_EQ(aggregate__add(fixture.aggregate, &sample), 0);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	sample.stack_id = 6; /* equal stacks may have several */
	sample.frames = frames;
	CHECK_EQ(aggregate__add(fixture.aggregate, &sample), 0);
	CHECK_EQ(aggregate__nr(fixture.aggregate), 2);
	release(&fixture);
}

TEST(sums_never_wrap)
{
	const struct gpu_frame frames[] = {{.name = kernel}};
	const struct gpu_sample sample = {.pid = PID,
					  .tid = PID,
					  .period = UINT64_MAX - 1,
					  .frames = frames,
					  .nr_frames = 1};
	struct fixture fixture;
	struct gpu_sample sum;
	uint64_t nr;

	setup(&fixture);
	CHECK_EQ(aggregate__add(fixture.aggregate, &sample), 0);
	CHECK_EQ(aggregate__add(fixture.aggregate, &sample), 0);
	CHECK_EQ(aggregate__get(fixture.aggregate, 0, &sum, &nr), 0);
	CHECK_EQ(sum.period, UINT64_MAX);
	CHECK_EQ(sum.nr_frames, 1);
	release(&fixture);
}
