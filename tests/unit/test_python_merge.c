// SPDX-License-Identifier: GPL-2.0-or-later
/* Where Python's frames are put among the native ones: cupti_inject/python_merge.c */
#include "unit.h"

#include <string.h>

#include "../../cupti_inject/python_merge.h"
#include "gpu_log.h"

#define MAX	  PYTHON_MAX_FRAMES
#define TRUNCATED ((uint64_t)GPU_LOG_FRAME_TRUNCATED << 56)
#define PY(n)	  ((uint64_t)GPU_LOG_FRAME_PYTHON << 56 | (n) << 16)
/* A return address in the loop's code, and one that isn't */
#define LOOP 0x5500
#define CODE 0x1000
/* The native frame I has the stack from here on. */
#define STACK(i) (0x7000 + 0x100 * (i))

struct fixture {
	uint64_t frames[MAX];
	uint64_t stack_pointers[MAX + 1];
	size_t nr;
	struct python_source source;
	bool is_sure;
};

static void add_native(struct fixture *fixture, uint64_t frame)
{
	fixture->frames[fixture->nr++] = frame;
	fixture->stack_pointers[fixture->nr] = STACK(fixture->nr);
}

static void begin(struct fixture *fixture, bool has_addresses)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->stack_pointers[0] = STACK(0);
	fixture->source.has_addresses = has_addresses;
	fixture->source.loop_start = LOOP - 0x100;
	fixture->source.loop_end = LOOP + 0x100;
}

/* NR frames from PY(FIRST) on, executed by what has ADDRESS in its stack */
static void add_group(struct fixture *fixture, uint64_t first, size_t nr,
		      uint64_t address)
{
	struct python_frames *python = &fixture->source.python;

	for (size_t i = 0; i < nr; i++)
		python->frames[python->nr++] = PY(first + i);
	python->group_ends[python->nr_groups] = (uint8_t)python->nr;
	python->addresses[python->nr_groups++] = address;
}

static void merge(struct fixture *fixture, size_t max)
{
	fixture->nr =
		python_merge__run(fixture->frames, fixture->stack_pointers, fixture->nr,
				  max, &fixture->source, 1, &fixture->is_sure);
}

#define CHECK_FRAMES(fixture, ...)                                           \
	do {                                                                 \
		const uint64_t wanted_[] = {__VA_ARGS__};                    \
                                                                             \
		CHECK_EQ((fixture)->nr, sizeof(wanted_) / sizeof(*wanted_)); \
		CHECK_MEM((fixture)->frames, wanted_, sizeof(wanted_));      \
	} while (0)

TEST(a_group_goes_to_the_frame_that_has_its_address)
{
	struct fixture f;

	begin(&f, true);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, CODE + 1);
	add_native(&f, CODE + 2); /* also the loop, cut off by the compiler */
	add_native(&f, CODE + 3);
	add_group(&f, 1, 2, STACK(1) + 8);
	add_group(&f, 3, 1, STACK(3));
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, PY(1), PY(2), LOOP, CODE + 1, PY(3), CODE + 2, CODE + 3);
	CHECK(f.is_sure);
}

TEST(a_loop_without_frames_stays_as_it_is)
{
	struct fixture f;

	/* As of another coroutine's, on the same stack */
	begin(&f, true);
	add_native(&f, LOOP);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_group(&f, 1, 1, STACK(2));
	merge(&f, MAX);
	CHECK_FRAMES(&f, LOOP, CODE, PY(1), LOOP);
	CHECK(f.is_sure);
}

TEST(frames_of_another_stack_are_in_any_order)
{
	struct fixture f;

	/* The first native frames are on a stack above the thread's, as of a coroutine. */
	begin(&f, true);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, LOOP);
	f.stack_pointers[0] = 0x90000;
	f.stack_pointers[1] = 0x90100;
	f.stack_pointers[2] = 0x1000;
	f.stack_pointers[3] = 0x1100;
	add_group(&f, 1, 1, 0x1010);
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, LOOP, PY(1), LOOP);
}

TEST(a_group_that_is_not_found_keeps_its_order)
{
	struct fixture f;

	begin(&f, true);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, CODE + 1);
	add_group(&f, 1, 1, 1);
	add_group(&f, 2, 1, STACK(1));
	add_group(&f, 3, 1, 1);
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, PY(1), PY(2), LOOP, CODE + 1, PY(3));
	CHECK(!f.is_sure);
}

TEST(what_was_not_walked_may_have_the_rest)
{
	struct fixture f;

	begin(&f, true);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, TRUNCATED);
	add_group(&f, 1, 1, STACK(1));
	add_group(&f, 2, 2, STACK(40));
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, PY(1), LOOP, PY(2), PY(3), TRUNCATED);
	CHECK(f.is_sure);
}

TEST(loops_are_counted_without_addresses)
{
	struct fixture f;

	begin(&f, false);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, CODE + 1);
	add_native(&f, LOOP + 4);
	add_native(&f, CODE + 2);
	add_group(&f, 1, 1, 0);
	add_group(&f, 2, 1, 0);
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, PY(1), LOOP, CODE + 1, PY(2), LOOP + 4, CODE + 2);
	CHECK(f.is_sure);
}

TEST(more_groups_than_loops_go_into_the_last)
{
	struct fixture f;

	begin(&f, false);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, CODE + 1);
	for (uint64_t i = 1; i <= 3; i++)
		add_group(&f, i, 1, 0);
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, PY(1), PY(2), PY(3), LOOP, CODE + 1);
	CHECK(!f.is_sure);
}

TEST(without_a_loop_they_are_behind)
{
	struct fixture f;

	begin(&f, false);
	add_native(&f, CODE);
	add_group(&f, 1, 1, 0);
	merge(&f, MAX);
	CHECK_FRAMES(&f, CODE, PY(1));
	CHECK(!f.is_sure);

	begin(&f, true);
	add_group(&f, 1, 1, STACK(0));
	merge(&f, MAX);
	CHECK_FRAMES(&f, PY(1));
}

TEST(a_limit_cuts_the_outermost)
{
	struct fixture f;

	begin(&f, true);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, CODE + 1);
	add_group(&f, 1, 3, STACK(1));
	merge(&f, 3);
	CHECK_FRAMES(&f, CODE, PY(1), PY(2), TRUNCATED);
	CHECK(f.is_sure);
}

TEST(no_more_than_there_is_room_for)
{
	struct fixture f;

	begin(&f, true);
	for (size_t i = 0; i < MAX - 1; i++)
		add_native(&f, i == 60 ? LOOP : CODE + i);
	add_native(&f, TRUNCATED);
	add_group(&f, 1, 100, STACK(60));
	add_group(&f, 101, 27, STACK(500));
	merge(&f, MAX);
	CHECK_EQ(f.nr, MAX);
	CHECK_EQ(f.frames[59], CODE + 59);
	CHECK_EQ(f.frames[60], PY(1));
	CHECK_EQ(f.frames[MAX - 2], PY(66));
	CHECK_EQ(f.frames[MAX - 1], TRUNCATED);

	/* Python's alone fill it. */
	begin(&f, true);
	add_native(&f, LOOP);
	add_group(&f, 1, MAX, STACK(0));
	f.source.python.is_cut = true;
	merge(&f, MAX);
	CHECK_EQ(f.nr, MAX);
	CHECK_EQ(f.frames[MAX - 2], PY(MAX - 1));
	CHECK_EQ(f.frames[MAX - 1], TRUNCATED);
}

TEST(two_interpreters_share_a_stack)
{
	struct python_source sources[2];
	struct fixture f;

	begin(&f, true);
	add_group(&f, 1, 1, STACK(1));
	sources[0] = f.source;
	begin(&f, false);
	add_group(&f, 2, 1, 0);
	sources[1] = f.source;
	sources[1].loop_start = CODE + 0x200;
	sources[1].loop_end = CODE + 0x300;

	begin(&f, true);
	add_native(&f, CODE);
	add_native(&f, LOOP);
	add_native(&f, CODE + 0x210);
	f.nr = python_merge__run(f.frames, f.stack_pointers, f.nr, MAX, sources, 2,
				 &f.is_sure);
	CHECK_FRAMES(&f, CODE, PY(1), LOOP, PY(2), CODE + 0x210);
	CHECK(f.is_sure);
}
