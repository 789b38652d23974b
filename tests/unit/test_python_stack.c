// SPDX-License-Identifier: GPL-2.0-or-later
/* How stacks of Python programs are shown: source/python_stack.c */
#include "unit.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu_log.h"
#include "source/python_stack.h"

#define PID 42

/* A process with one file of 64 KiB at each place */
enum place {
	PYTHON = 0x10000,
	LIBPYTHON = 0x20000,
	TORCH = 0x30000,
	PROGRAM = 0x40000,
};

static struct sidecar_python functions[] = {
	{.log = 1,
	 .code = 1,
	 .name = "py::<module>:/t.py",
	 .file = "/t.py",
	 .first_line = 1},
	{.log = 1, .code = 2, .name = "py::f:/t.py", .file = "/t.py", .first_line = 10},
	{.log = 1, .code = 3, .name = "py::A.g:/a.py", .file = "/a.py"},
};
static const struct sidecar sidecar = {.pythons = functions, .nr_pythons = 3};

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

static struct machine *new_machine(const char *python)
{
	struct machine *machine;

	CHECK_EQ(machine__new(NULL, &machine), 0);
	map_file(machine, PYTHON, python);
	map_file(machine, LIBPYTHON, "/nowhere/libpython3.12.so.1.0");
	map_file(machine, TORCH, "/nowhere/libtorch_python.so");
	map_file(machine, PROGRAM, "/nowhere/app");
	return machine;
}

static uint64_t py(uint32_t code, unsigned int line)
{
	return (uint64_t)GPU_LOG_FRAME_PYTHON << 56 | (uint64_t)code << 16 | line;
}

static void add(struct stack *stack, uint64_t ip)
{
	stack->frames[stack->nr_frames++] = (struct gpu_frame){.ip = ip};
}

static void add_named(struct stack *stack, const char *name)
{
	stack->frames[stack->nr_frames++] = (struct gpu_frame){.name = name};
}

/* The frames as text: names, or addresses */
static const char *text_of(const struct stack *stack)
{
	static char text[4096];
	size_t nr = 0;

	text[0] = '\0';
	for (size_t i = 0; i < stack->nr_frames; i++) {
		const struct gpu_frame *frame = &stack->frames[i];

		nr += (size_t)(frame->name ? snprintf(text + nr, sizeof(text) - nr,
						      "%s%s", i ? " " : "", frame->name)
					   : snprintf(text + nr, sizeof(text) - nr,
						      "%s%llx", i ? " " : "",
						      (unsigned long long)frame->ip));
	}
	return text;
}

/* As a launch of PyTorch's from f, which <module> calls through C */
static void make_walked(struct stack *stack)
{
	stack->nr_frames = 0;
	stack->is_of_files = false;
	add_named(stack, "kernel");
	add(stack, TORCH + 1);
	add(stack, PYTHON + 1);
	add(stack, py(3, 2));
	add(stack, py(2, 3));
	add(stack, PYTHON + 2);
	add(stack, LIBPYTHON + 3);
	add(stack, TORCH + 2);
	add(stack, PYTHON + 4);
	add(stack, py(1, 0));
	add(stack, PYTHON + 5); /* the loop */
	add(stack, PYTHON + 6);
	add(stack, PYTHON + 7);
}

TEST(python_takes_the_place_of_the_interpreter)
{
	struct machine *machine = new_machine("/usr/bin/python3.11");
	struct stack stack;

	make_walked(&stack);
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "kernel 30001 py::A.g:/a.py py::f:/t.py 30002 "
				   "py::<module>:/t.py 10006 10007");
	CHECK_STR(stack.frames[3].file, "/t.py");
	CHECK_EQ(stack.frames[3].line, 13);
	CHECK_EQ(stack.frames[2].line, 0); /* its first line isn't known */
	machine__delete(machine);
}

TEST(the_interpreter_can_be_kept)
{
	struct machine *machine = new_machine("/usr/bin/python3.11");
	struct stack stack;

	make_walked(&stack);
	python_stack__show(&stack, &sidecar, 1, machine, PID, true);
	CHECK_EQ(stack.nr_frames, 13);
	CHECK_STR(stack.frames[4].name, "py::f:/t.py");
	CHECK_EQ(stack.frames[5].ip, PYTHON + 2);
	machine__delete(machine);
}

TEST(without_python_functions_all_is_shown)
{
	struct machine *machine = new_machine("/usr/bin/python3.11");
	struct stack stack = {};

	add_named(&stack, "kernel");
	add(&stack, TORCH + 1);
	add(&stack, PYTHON + 1);
	add(&stack, LIBPYTHON + 1);
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "kernel 30001 10001 20001");
	machine__delete(machine);
}

TEST(trampolines_are_python_functions)
{
	struct machine *machine = new_machine("/usr/bin/python3.12");
	struct stack stack = {};

	add_named(&stack, "kernel");
	add(&stack, PYTHON + 1);
	add_named(&stack, "py::f:/t.py");
	add(&stack, PYTHON + 2);
	add(&stack, PYTHON + 3);
	add_named(&stack, "py::<module>:/t.py");
	add(&stack, PYTHON + 4);
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "kernel py::f:/t.py py::<module>:/t.py 10004");
	machine__delete(machine);
}

TEST(trampolines_of_walked_functions_are_left_out)
{
	struct machine *machine = new_machine("/usr/bin/python3.12");
	struct stack stack = {};

	add_named(&stack, "kernel");
	add(&stack, PYTHON + 1);
	add(&stack, py(2, 0));
	add(&stack, PYTHON + 2);
	add_named(&stack, "py::f:/t.py");
	add(&stack, PYTHON + 3);
	add(&stack, py(1, 0));
	add(&stack, PYTHON + 2);
	add_named(&stack, "py::<module>:/t.py");
	add(&stack, PYTHON + 4);
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "kernel py::f:/t.py py::<module>:/t.py 10004");
	machine__delete(machine);
}

TEST(a_stack_that_ends_early_ends_in_python)
{
	struct machine *machine = new_machine("/usr/bin/python3.12");
	struct stack stack = {};

	add_named(&stack, "kernel");
	add(&stack, py(2, 0));
	add(&stack, PYTHON + 2);
	add(&stack, PYTHON + 3);
	add_named(&stack, STACK_TRUNCATED);
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "kernel py::f:/t.py [truncated]");

	/* Not if something else follows */
	stack.nr_frames = 0;
	add(&stack, py(2, 0));
	add(&stack, PYTHON + 2);
	add(&stack, PYTHON + 3);
	add(&stack, PROGRAM + 1);
	add_named(&stack, STACK_TRUNCATED);
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "py::f:/t.py 10003 40001 [truncated]");
	machine__delete(machine);
}

TEST(functions_that_are_not_known_have_a_name_too)
{
	struct machine *machine = new_machine("/usr/bin/python3.12");
	struct stack stack = {};

	add(&stack, py(0, 0));
	add(&stack, py(4, 0));
	add(&stack, py(2, GPU_LOG_FRAME_NO_LINE));
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	CHECK_STR(text_of(&stack), "py::[unknown] py::[unknown] py::f:/t.py");
	CHECK_EQ(stack.frames[2].line, 0);

	stack.nr_frames = 0;
	add(&stack, py(2, 0));
	python_stack__show(&stack, &sidecar, 0, machine, PID, false);
	CHECK_STR(text_of(&stack), "py::[unknown]");
	stack.nr_frames = 0;
	add(&stack, py(2, 0));
	python_stack__show(&stack, &sidecar, -1, machine, PID, false);
	CHECK_STR(text_of(&stack), "py::[unknown]");
	machine__delete(machine);
}

static bool is_left_out(const char *path)
{
	struct machine *machine = new_machine(path);
	struct stack stack = {};

	add(&stack, PYTHON + 1);
	add(&stack, py(2, 0));
	python_stack__show(&stack, &sidecar, 1, machine, PID, false);
	machine__delete(machine);
	return stack.nr_frames == 1;
}

TEST(an_interpreter_is_known_by_its_name)
{
	CHECK(is_left_out("/usr/bin/python"));
	CHECK(is_left_out("/opt/conda/bin/python3"));
	CHECK(is_left_out("/usr/bin/python3.13t"));
	CHECK(is_left_out("/usr/bin/python3.12d"));
	CHECK(is_left_out("/usr/lib/libpython3.8.so.1.0"));
	CHECK(is_left_out("/usr/lib/libpython3.13td.so.1.0"));
	CHECK(!is_left_out("/usr/lib/libpython-extras.a"));
	CHECK(!is_left_out("/usr/bin/python3-config"));
	CHECK(!is_left_out(
		"/usr/lib/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so"));
	CHECK(!is_left_out("/usr/lib/pythonic.so"));
}
