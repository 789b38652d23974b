// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries that come nearly in order go out in order */
#include "record/time_window.h"
#include "unit.h"

static void push(struct time_window *window, uint64_t time_ns, uint32_t cpu)
{
	const struct time_entry entry = {.time_ns = time_ns, .cpu = cpu};

	CHECK_EQ(time_window__push(window, &entry), 0);
}

static void check_next(struct time_window *window, uint64_t time_ns, uint32_t cpu)
{
	struct time_entry entry;

	CHECK(time_window__pop(window, &entry));
	CHECK_EQ(entry.time_ns, time_ns);
	CHECK_EQ(entry.cpu, cpu);
}

TEST(an_empty_one_gives_nothing)
{
	struct time_window window = {};
	struct time_entry entry;

	CHECK(!time_window__pop(&window, &entry));
	time_window__release(&window);
}

TEST(late_ones_go_out_in_their_place)
{
	struct time_window window = {};

	push(&window, 10, 0);
	push(&window, 30, 1);
	push(&window, 20, 2);
	push(&window, 5, 3);
	push(&window, 40, 4);
	CHECK_EQ(time_window__nr(&window), 5);
	check_next(&window, 5, 3);
	check_next(&window, 10, 0);
	check_next(&window, 20, 2);
	push(&window, 35, 5); /* earlier than one that is still in */
	check_next(&window, 30, 1);
	check_next(&window, 35, 5);
	check_next(&window, 40, 4);
	CHECK_EQ(time_window__nr(&window), 0);
	time_window__release(&window);
}

/* A mapping and the launch that needs it can have one time. */
TEST(those_of_one_time_go_out_as_they_came)
{
	struct time_window window = {};

	push(&window, 10, 0);
	push(&window, 20, 1);
	push(&window, 20, 2);
	push(&window, 10, 3);
	push(&window, 10, 4);
	push(&window, 20, 5);
	check_next(&window, 10, 0);
	check_next(&window, 10, 3);
	check_next(&window, 10, 4);
	check_next(&window, 20, 1);
	check_next(&window, 20, 2);
	check_next(&window, 20, 5);
	time_window__release(&window);
}

/* As many as are held at most are early or late by. */
TEST(a_stream_is_put_in_order)
{
	struct time_window window = {};
	uint64_t random = 1, last_ns = 0;
	struct time_entry entry;

	for (uint64_t i = 0; i < 100000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		push(&window, 10 * i + (random >> 33) % 2000, 0);
		if (i < 300)
			continue;
		CHECK(time_window__pop(&window, &entry));
		CHECK(entry.time_ns >= last_ns);
		last_ns = entry.time_ns;
	}
	CHECK_EQ(time_window__nr(&window), 300);
	time_window__release(&window);
}
