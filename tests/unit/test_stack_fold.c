// SPDX-License-Identifier: GPL-2.0-or-later
/* Names and classes of frames, and samples added up by stack. */
#include <string.h>

#include "own_machine.h"
#include "sink/stack_fold.h"
#include "unit.h"
#include "util/hash_index.h"

/* Not static: it has a symbol. */
void function_with_a_symbol(void);
void function_with_a_symbol(void)
{
	__asm__ volatile("nop");
}

struct fixture {
	struct machine *machine;
	struct frame_names *names;
	struct stack_fold *fold;
};

static struct fixture begin(const struct sidecar *sidecar)
{
	struct fixture fixture;
	struct sink_input input = {.sidecar = sidecar};

	CHECK_EQ(machine__new(NULL, &fixture.machine), 0);
	own_machine__fill(fixture.machine);
	input.machine = fixture.machine;
	CHECK_EQ(frame_names__new(&input, &fixture.names), 0);
	CHECK_EQ(stack_fold__new(fixture.names, &fixture.fold), 0);
	return fixture;
}

static void end(struct fixture *fixture)
{
	stack_fold__delete(fixture->fold);
	frame_names__delete(fixture->names);
	machine__delete(fixture->machine);
}

static const struct frame_name *name_of(struct fixture *fixture,
					const struct gpu_sample *sample, size_t i)
{
	const struct frame_name *name = NULL;

	CHECK_EQ(frame_names__of(fixture->names, sample, i, &name), 0);
	return name;
}

#define SAMPLE(array, of_event, of_period)                                     \
	{                                                                      \
		.pid = (uint32_t)getpid(), .tid = (uint32_t)getpid(),          \
		.event = (of_event), .period = (of_period), .frames = (array), \
		.nr_frames = sizeof(array) / sizeof(*(array))                  \
	}

TEST(frames_have_names_and_classes)
{
	struct sidecar_api api = {.name = "cudaLaunchKernel"};
	struct sidecar sidecar = {.apis = &api, .nr_apis = 1};
	struct fixture fixture = begin(&sidecar);
	const struct gpu_frame frames[] = {
		{.name = "[GPU_Kernel]sgemm"},
		{.name = "cudaLaunchKernel"},
		{.name = "[nvtx step]"},
		{.name = "py::f:/x.py", .file = "/x.py", .line = 3},
		{.name = "jitted"},
		{.ip = (uintptr_t)function_with_a_symbol},
		{.ip = 0x10},
	};
	static const struct {
		const char *text, *file;
		enum frame_class class;
	} expected[] = {
		{"[GPU_Kernel]sgemm", NULL, FRAME_CLASS_GPU},
		{"cudaLaunchKernel", NULL, FRAME_CLASS_API},
		{"[nvtx step]", NULL, FRAME_CLASS_LABEL},
		{"py::f:/x.py", "/x.py", FRAME_CLASS_PYTHON},
		{"jitted", NULL, FRAME_CLASS_NATIVE},
		{"function_with_a_symbol", "/", FRAME_CLASS_NATIVE},
		{"[unknown]", NULL, FRAME_CLASS_NATIVE},
	};
	struct gpu_sample sample = SAMPLE(frames, GPU_LOG_EVENT_KERNEL, 1);

	for (size_t i = 0; i < sample.nr_frames; i++) {
		const struct frame_name *name = name_of(&fixture, &sample, i);

		CHECK_STR(name->text, expected[i].text);
		CHECK_EQ(name->class, expected[i].class);
		CHECK_EQ(name->id, i);
		CHECK(frame_names__at(fixture.names, (uint32_t)i) == name);
		CHECK(!expected[i].file == !name->file);
		if (name->file)
			CHECK(!strncmp(name->file, expected[i].file,
				       strlen(expected[i].file)));
	}
	/* Asked again, they are the same. */
	for (size_t i = 0; i < sample.nr_frames; i++)
		CHECK_EQ(name_of(&fixture, &sample, i)->id, i);
	CHECK_EQ(frame_names__nr(fixture.names), sample.nr_frames);
	end(&fixture);
}

TEST(code_without_a_symbol_is_named_after_its_file)
{
	struct fixture fixture = begin(NULL);
	const struct gpu_frame frames[] = {{.name = "[GPU_Kernel]k"},
					   {.ip = 0x1010},
					   {.ip = 0x2010},
					   {.ip = 0x3010}};
	struct gpu_sample sample = SAMPLE(frames, GPU_LOG_EVENT_KERNEL, 1);

	own_machine__map(fixture.machine, sample.pid, 0x1000, 0x2000, 0, "/no/libx.so");
	own_machine__map(fixture.machine, sample.pid, 0x2000, 0x3000, 0, "[vdso]x");
	CHECK_STR(name_of(&fixture, &sample, 1)->text, "[libx.so]");
	CHECK_STR(name_of(&fixture, &sample, 2)->text, "[vdso]x");
	CHECK_STR(name_of(&fixture, &sample, 3)->text, "[unknown]");
	end(&fixture);
}

TEST(what_is_mapped_later_has_its_own_name)
{
	struct fixture fixture = begin(NULL);
	const struct gpu_frame frames[] = {{.name = "[GPU_Kernel]k"}, {.ip = 0x1010}};
	struct gpu_sample sample = SAMPLE(frames, GPU_LOG_EVENT_KERNEL, 1);
	uint32_t first, second, again;

	own_machine__map(fixture.machine, sample.pid, 0x1000, 0x2000, 0, "/no/libx.so");
	CHECK_EQ(stack_fold__add(fixture.fold, &sample, NULL, &first), 0);
	own_machine__map(fixture.machine, sample.pid, 0x5000, 0x6000, 0, "/no/libz.so");
	CHECK_EQ(stack_fold__add(fixture.fold, &sample, NULL, &again), 0);
	own_machine__map(fixture.machine, sample.pid, 0x1000, 0x2000, 0, "/no/liby.so");
	CHECK_EQ(stack_fold__add(fixture.fold, &sample, NULL, &second), 0);
	CHECK_EQ(first, again);
	CHECK(first != second);
	CHECK_STR(stack_fold__node(fixture.fold,
				   stack_fold__node(fixture.fold, second)->parent)
			  ->name->text,
		  "[liby.so]");
	/* Another process has something else there. */
	sample.pid++;
	CHECK_STR(name_of(&fixture, &sample, 1)->text, "[unknown]");
	end(&fixture);
}

static void rename_thread(struct machine *machine, uint32_t pid, uint32_t tid,
			  const char *name)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
	} record = {{PERF_RECORD_COMM, 0, sizeof(record)}, pid, tid, ""};

	strcpy(record.comm, name);
	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static void check_comm(struct fixture *fixture, uint32_t pid, uint32_t tid,
		       const char *expected)
{
	const struct gpu_sample sample = {.pid = pid, .tid = tid};
	const struct frame_name *name;

	/* Twice: the second time it is known. */
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(frame_names__comm(fixture->names, &sample, &name), 0);
		CHECK_STR(name->text, expected);
		CHECK_EQ(name->class, FRAME_CLASS_ROOT);
	}
}

TEST(threads_have_the_names_of_now)
{
	struct fixture fixture = begin(NULL);

	check_comm(&fixture, 7, 8, ":8");
	rename_thread(fixture.machine, 7, 7, "main");
	check_comm(&fixture, 7, 8, "main");
	rename_thread(fixture.machine, 7, 8, "worker");
	check_comm(&fixture, 7, 8, "worker");
	/* The same number in another process, and one that has the same place */
	check_comm(&fixture, 9, 8, ":8");
	check_comm(&fixture, 7, 8 + 256, "main");
	check_comm(&fixture, 7, 8, "worker");
	end(&fixture);
}

TEST(samples_are_added_up_by_stack_and_event)
{
	struct fixture fixture = begin(NULL);
	const struct frame_name *root;
	const struct gpu_frame a[] = {
		{.name = "[GPU_Kernel]k"}, {.name = "f"}, {.name = "main"}};
	const struct gpu_frame b[] = {
		{.name = "[GPU_Kernel]k"}, {.name = "g"}, {.name = "main"}};
	const struct gpu_sample samples[] = {
		SAMPLE(a, GPU_LOG_EVENT_KERNEL, 10),
		SAMPLE(b, GPU_LOG_EVENT_KERNEL, 1),
		SAMPLE(a, GPU_LOG_EVENT_KERNEL, 20),
		SAMPLE(a, GPU_LOG_EVENT_QUEUE, 500),
	};
	uint32_t nodes[4];

	CHECK_EQ(frame_names__comm(fixture.names, &samples[0], &root), 0);
	CHECK_EQ(root->text[0], ':'); /* nobody has told its name */
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(stack_fold__add(fixture.fold, &samples[i], root, &nodes[i]), 0);
	CHECK_EQ(nodes[0], nodes[2]);
	CHECK(nodes[0] != nodes[1] && nodes[0] != nodes[3]);
	CHECK_EQ(stack_fold__node(fixture.fold, nodes[0])->period, 30);
	CHECK_EQ(stack_fold__node(fixture.fold, nodes[0])->nr, 2);
	CHECK_EQ(stack_fold__node(fixture.fold, nodes[3])->period, 500);
	CHECK_EQ(stack_fold__node(fixture.fold, nodes[3])->event, GPU_LOG_EVENT_QUEUE);
	/* root, main, f, leaf, g, leaf, and the leaf of the other event */
	CHECK_EQ(stack_fold__nr(fixture.fold), 7);
	for (uint32_t i = 0; i < 7; i++) {
		const struct stack_node *node = stack_fold__node(fixture.fold, i);

		CHECK(!i == (node->parent == STACK_FOLD_NO_NODE));
		CHECK(!i || node->parent < i);
	}
	end(&fixture);
}

TEST(many_stacks_grow_and_are_found_again)
{
	enum { NR = 20000 };
	struct fixture fixture = begin(NULL);
	struct gpu_frame frames[] = {{.name = "[GPU_Kernel]k"}, {.ip = 0}, {.ip = 0x7f}};
	struct gpu_sample sample = SAMPLE(frames, GPU_LOG_EVENT_KERNEL, 1);
	uint64_t sum = 0;

	own_machine__map(fixture.machine, sample.pid, 0x1000, 0x100000000, 0,
			 "/no/libx.so");
	/* More than are recognized as a whole; all have one name: one stack in the end. */
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 0; i < NR; i++) {
			frames[1].ip = 0x1000 + 64 * i;
			CHECK_EQ(stack_fold__add(fixture.fold, &sample, NULL, NULL), 0);
		}
	CHECK_EQ(stack_fold__nr(fixture.fold), 3);
	for (uint32_t i = 0; i < 3; i++)
		sum += stack_fold__node(fixture.fold, i)->period;
	CHECK_EQ(sum, 3 * NR);
	end(&fixture);
}

TEST(an_index_has_several_ids_for_a_hash)
{
	struct hash_index index = {.slots = NULL};
	struct hash_cursor cursor = hash_index__find(&index, 1);
	uint32_t id, nr = 0;

	CHECK(!hash_index__next(&index, &cursor, &id));
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(hash_index__add(&index, i % 10, i), 0);
	cursor = hash_index__find(&index, 7);
	while (hash_index__next(&index, &cursor, &id)) {
		CHECK_EQ(id % 10, 7);
		nr++;
	}
	CHECK_EQ(nr, 100);
	hash_index__release(&index);
}
