// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kernels were launched while recording was off (cupti_inject/stray.c) */
#include "unit.h"

#include "../../cupti_inject/stray.h"

#define FIRST 100

/* A recording behind another */
static void begin_again(void)
{
	stray__begin(true);
	stray__before_on();
	stray__on_from(FIRST);
}

static uint64_t nr_strays(void)
{
	return stray__count() + stray__count_untold();
}

static bool take(struct stray_run *run, uint64_t id, uint32_t graph, uint32_t device)
{
	struct stray_work work = {.graph = graph, .device = device};

	return stray__is(run, &work, id, 1) != STRAY_NONE;
}

static bool take_copy(struct stray_run *run, uint64_t id, uint32_t graph)
{
	struct stray_work work = {.graph = graph, .is_copy = true};

	return stray__is(run, &work, id, 1) != STRAY_NONE;
}

#define KERNEL(run, id) take(run, id, 0, 0)

TEST(nothing_is_left_out_unless_they_are_expected)
{
	struct stray_run run = {};

	stray__begin(false);
	CHECK(!KERNEL(&run, 1));
	CHECK(!KERNEL(&run, 100));
	CHECK(KERNEL(&run, 100));
	CHECK_EQ(stray__count(), 0);
	CHECK_EQ(stray__count_untold(), 1);
}

TEST(what_was_launched_before_is_one)
{
	struct stray_run run = {};

	begin_again();
	CHECK(KERNEL(&run, 99));
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 101));
	CHECK(KERNEL(&run, 1));
	CHECK_EQ(nr_strays(), 2);
	begin_again();
	CHECK_EQ(nr_strays(), 0);
}

TEST(what_has_no_id_is_none)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!take(&run, 0, 7, 0));
	CHECK(!take(&run, 0, 7, 0));
	CHECK(!KERNEL(&run, 0));
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 0));
	CHECK(KERNEL(&run, 100));
	CHECK_EQ(nr_strays(), 1);
}

TEST(a_launch_has_one_kernel)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 101));
	CHECK(KERNEL(&run, 101));
	CHECK(take(&run, 101, 3, 0));
	CHECK(KERNEL(&run, 101));
	CHECK(!KERNEL(&run, 102));
	CHECK_EQ(nr_strays(), 3);
}

TEST(but_one_on_each_device)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!take(&run, 100, 0, 0));
	CHECK(!take(&run, 100, 0, 1));
	CHECK(!take(&run, 100, 0, 2));
}

TEST(and_a_graph_has_many)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!take(&run, 100, 3, 0));
	CHECK(!take(&run, 100, 3, 0));
	CHECK(!take(&run, 100, 4, 0)); /* of a graph within it */
	CHECK(!take(&run, 100, 3, 0)); /* of a loop */
	CHECK(KERNEL(&run, 100));
	CHECK(take(&run, 100, 3, 0));
}

TEST(a_call_may_make_several_copies)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!take_copy(&run, 100, 0));
	CHECK(!take_copy(&run, 100, 0));
	CHECK(take_copy(&run, 99, 0));
	CHECK(take_copy(&run, 99, 3));
	CHECK_EQ(nr_strays(), 2);
}

TEST(but_no_kernel_with_them)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!take_copy(&run, 100, 0));
	CHECK(KERNEL(&run, 100));
	CHECK(!KERNEL(&run, 101));
	CHECK(take_copy(&run, 101, 0));
	CHECK(take_copy(&run, 101, 3));
}

TEST(and_a_graph_has_both)
{
	struct stray_run run = {};

	begin_again();
	CHECK(!take_copy(&run, 100, 3));
	CHECK(!take(&run, 100, 3, 0));
	CHECK(!take_copy(&run, 100, 4));
	CHECK(take_copy(&run, 100, 0));
}

TEST(what_a_thread_did_is_known_by_its_id)
{
	begin_again();
	CHECK(stray__has_id_of_pause(99));
	CHECK(!stray__has_id_of_pause(0));
	CHECK(!stray__has_id_of_pause(100));
	CHECK_EQ(nr_strays(), 1);
	stray__begin(false);
	CHECK(!stray__has_id_of_pause(99));
}

TEST(buffers_of_a_thread_go_on_where_one_ended)
{
	struct stray_run a = {}, b = {}, next = {};

	stray__begin(false);
	CHECK(!KERNEL(&a, 100));
	CHECK(!KERNEL(&b, 105));
	stray__end_buffer(&a);
	stray__end_buffer(&b);
	stray__off_from(200, 2000);
	stray__before_on();
	stray__on_from(200);
	CHECK(KERNEL(&next, 100));
	CHECK(KERNEL(&next, 100));
	stray__end_buffer(&next);
	next = (struct stray_run){};
	CHECK(KERNEL(&next, 105));
	CHECK(!KERNEL(&next, 106));
	/* Another recording knows nothing of them. */
	begin_again();
	next = (struct stray_run){};
	CHECK(!KERNEL(&next, 105));
}

TEST(an_empty_buffer_leaves_nothing)
{
	struct stray_run empty = {}, run = {};

	begin_again();
	stray__end_buffer(&empty);
	CHECK(!KERNEL(&run, 100));
}

TEST(launches_are_off_from_an_id_on)
{
	struct stray_run run = {};

	stray__begin(false);
	CHECK(!stray__is_off(UINT64_MAX - 1));
	stray__off_from(100, 1000);
	CHECK(!stray__is_off(99));
	CHECK(stray__is_off(100));
	CHECK(!KERNEL(&run, 99));
	CHECK(KERNEL(&run, 100));
	CHECK(KERNEL(&run, 1000));
	stray__before_on();
	CHECK(!stray__is_off(100));
	CHECK(KERNEL(&run, 1001)); /* told of, and not yet recorded */
	stray__on_from(1010);
	CHECK(KERNEL(&run, 1009));
	CHECK(!KERNEL(&run, 1010));
	CHECK(KERNEL(&run, 101));
	CHECK(!KERNEL(&run, 98)); /* it ran for long */
	CHECK_EQ(nr_strays(), 5);
}

TEST(pauses_are_remembered)
{
	struct stray_run run = {};

	stray__begin(false);
	for (uint64_t i = 1; i <= 500; i++) {
		stray__off_from(100 * i, 1000 * i);
		stray__before_on();
		stray__on_from(100 * i + 50);
	}
	for (uint64_t i = 1; i <= 500; i++) {
		CHECK(!KERNEL(&run, 100 * i - 1));
		CHECK(KERNEL(&run, 100 * i));
		CHECK(KERNEL(&run, 100 * i + 49));
		CHECK(!KERNEL(&run, 100 * i + 50));
	}
}

TEST(what_nobody_told_of_has_no_launch)
{
	const struct stray_work kernel = {}, copy = {.is_copy = true},
				node = {.graph = 3};
	struct stray_run run = {};

	stray__begin(false);
	CHECK_EQ(stray__is(&run, &kernel, 100, 50), STRAY_NONE);
	CHECK_EQ(stray__is(&run, &kernel, 100, 60), STRAY_UNTOLD);
	CHECK_EQ(stray__is(&run, &kernel, 100, 0), STRAY_UNTOLD);
	CHECK_EQ(stray__is(&run, &kernel, 101, 70), STRAY_NONE);
	CHECK_EQ(stray__is(&run, &copy, 101, 80), STRAY_UNTOLD);
	CHECK_EQ(stray__is(&run, &node, 102, 90), STRAY_NONE);
	CHECK_EQ(stray__is(&run, &node, 102, 95), STRAY_NONE);
	CHECK_EQ(stray__is(&run, &kernel, 102, 99), STRAY_UNTOLD);
	CHECK_EQ(stray__count_untold(), 4);
	CHECK_EQ(stray__count(), 0);
}

TEST(when_it_began_tells_whether_recording_was_on)
{
	const struct stray_work kernel = {};
	struct stray_run run = {};

	stray__begin(false);
	stray__off_from(100, 1000);
	stray__before_on();
	stray__on_from(200);
	CHECK_EQ(stray__is(&run, &kernel, 99, 900), STRAY_NONE);
	CHECK_EQ(stray__is(&run, &kernel, 99, 1100), STRAY_OFF);
	CHECK_EQ(stray__is(&run, &kernel, 99, 3050), STRAY_OFF); /* was queued */
	CHECK_EQ(stray__is(&run, &kernel, 200, 3100), STRAY_NONE);
	CHECK_EQ(stray__is(&run, &kernel, 200, 3200), STRAY_UNTOLD);
	stray__off_from(300, 4000);
	CHECK_EQ(stray__is(&run, &kernel, 200, 3900), STRAY_UNTOLD);
	CHECK_EQ(stray__is(&run, &kernel, 200, 4000), STRAY_OFF);
	CHECK_EQ(stray__count_untold(), 2);
	CHECK_EQ(stray__count(), 3);
	stray__begin(true);
	CHECK_EQ(stray__count_untold(), 0);
}
