// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kernels were launched while recording was off (cupti_inject/stray.c) */
#include "unit.h"

#include "../../cupti_inject/stray.h"

#define FIRST 100

static bool take(struct stray_run *run, uint64_t id, uint32_t graph, uint64_t node,
		 uint32_t device)
{
	struct gpu_log_shape shape = {
		.graph = graph, .graph_node = node, .device = device};

	return stray__is(run, &shape, id, FIRST);
}

#define KERNEL(run, id) take(run, id, 0, 0, 0)

TEST(nothing_is_one_unless_they_are_expected)
{
	struct stray_run run = {};

	stray__begin(false);
	CHECK(!KERNEL(&run, 1));
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 100));
	CHECK_EQ(stray__count(), 0);
}

TEST(what_was_launched_before_is_one)
{
	struct stray_run run = {};

	stray__begin(true);
	CHECK(KERNEL(&run, 99));
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 101));
	CHECK(KERNEL(&run, 1));
	CHECK_EQ(stray__count(), 2);
	stray__begin(true);
	CHECK_EQ(stray__count(), 0);
}

TEST(what_has_no_id_is_none)
{
	struct stray_run run = {};

	stray__begin(true);
	CHECK(!take(&run, 0, 7, 1, 0));
	CHECK(!take(&run, 0, 7, 2, 0));
	CHECK(!KERNEL(&run, 0));
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 0));
	CHECK(KERNEL(&run, 100));
	CHECK_EQ(stray__count(), 1);
}

TEST(a_launch_has_one_kernel)
{
	struct stray_run run = {};

	stray__begin(true);
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 101));
	CHECK(KERNEL(&run, 101));
	CHECK(take(&run, 101, 3, 7, 0));
	CHECK(KERNEL(&run, 101));
	CHECK(!KERNEL(&run, 102));
	CHECK_EQ(stray__count(), 3);
}

TEST(but_one_on_each_device)
{
	struct stray_run run = {};

	stray__begin(true);
	CHECK(!take(&run, 100, 0, 0, 0));
	CHECK(!take(&run, 100, 0, 0, 1));
	CHECK(!take(&run, 100, 0, 0, 2));
}

TEST(and_a_graph_has_many)
{
	struct stray_run run = {};

	stray__begin(true);
	CHECK(!take(&run, 100, 3, 7, 0));
	CHECK(!take(&run, 100, 3, 8, 0));
	CHECK(!take(&run, 100, 4, 9, 0)); /* of a graph within it */
	CHECK(!take(&run, 100, 3, 7, 0)); /* of a loop */
	CHECK(KERNEL(&run, 100));
	CHECK(take(&run, 100, 3, 8, 0));
}

TEST(buffers_of_a_thread_go_on_where_one_ended)
{
	struct stray_run a = {}, b = {}, next = {};

	stray__begin(false);
	CHECK(!KERNEL(&a, 100));
	CHECK(!KERNEL(&b, 105));
	stray__end_buffer(&a);
	stray__end_buffer(&b);
	stray__expect();
	CHECK(KERNEL(&next, 100));
	CHECK(KERNEL(&next, 100));
	stray__end_buffer(&next);
	next = (struct stray_run){};
	CHECK(KERNEL(&next, 105));
	CHECK(!KERNEL(&next, 106));
	/* Another recording knows nothing of them. */
	stray__begin(true);
	next = (struct stray_run){};
	CHECK(!KERNEL(&next, 105));
}

TEST(an_empty_buffer_leaves_nothing)
{
	struct stray_run empty = {}, run = {};

	stray__begin(true);
	stray__end_buffer(&empty);
	CHECK(!KERNEL(&run, 100));
}
