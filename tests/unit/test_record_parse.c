// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments of record's options */
#include <errno.h>

#include "record/parse.h"
#include "unit.h"

#define PAGE 4096

TEST(call_graph_takes_perfs_words)
{
	struct stack_config stack;

	CHECK_EQ(parse__call_graph("unwind", &stack), 0);
	CHECK_EQ(stack.call_graph, CALL_GRAPH_UNWIND);
	CHECK_EQ(parse__call_graph("fp", &stack), 0);
	CHECK_EQ(stack.call_graph, CALL_GRAPH_FP);
	CHECK_EQ(parse__call_graph("dwarf", &stack), 0);
	CHECK_EQ(stack.call_graph, CALL_GRAPH_DWARF);
	CHECK_EQ(stack.dwarf_bytes, 8192);
}

TEST(dwarf_bytes_are_rounded_up_and_bounded)
{
	struct stack_config stack = {.dwarf_bytes = 1};

	CHECK_EQ(parse__call_graph("dwarf,1", &stack), 0);
	CHECK_EQ(stack.dwarf_bytes, 8);
	CHECK_EQ(parse__call_graph("dwarf,65528", &stack), 0);
	CHECK_EQ(stack.dwarf_bytes, 65528);
	CHECK_EQ(parse__call_graph("dwarf,65529", &stack), -ERANGE);
	CHECK_EQ(parse__call_graph("dwarf,0", &stack), -ERANGE);
	CHECK_EQ(parse__call_graph("dwarf,-8", &stack), -ERANGE);
	CHECK_EQ(parse__call_graph("dwarf,", &stack), -ERANGE);
	CHECK_EQ(parse__call_graph("dwarf,8k", &stack), -ERANGE);
	CHECK_EQ(parse__call_graph("dwarf,99999999999999999999999", &stack), -ERANGE);
	CHECK_EQ(stack.dwarf_bytes, 65528);
}

TEST(call_graph_leaves_the_other_choices_alone)
{
	struct stack_config stack = {.python = PYTHON_OFF, .max_frames = 3};

	CHECK_EQ(parse__call_graph("fp", &stack), 0);
	CHECK_EQ(stack.python, PYTHON_OFF);
	CHECK_EQ(stack.max_frames, 3);
}

TEST(max_stack_is_what_perf_can_do)
{
	unsigned int nr = 7;

	CHECK_EQ(parse__max_stack("0", &nr), -ERANGE);
	CHECK_EQ(parse__max_stack("128", &nr), -ERANGE);
	CHECK_EQ(parse__max_stack("99999999999999999999999", &nr), -ERANGE);
	CHECK_EQ(parse__max_stack("-1", &nr), -EINVAL);
	CHECK_EQ(parse__max_stack("", &nr), -EINVAL);
	CHECK_EQ(parse__max_stack("12x", &nr), -EINVAL);
	CHECK_EQ(nr, 7);
	CHECK_EQ(parse__max_stack("127", &nr), 0);
	CHECK_EQ(nr, 127);
	CHECK_EQ(parse__max_stack("1", &nr), 0);
	CHECK_EQ(nr, 1);
}

TEST(other_call_graphs_are_refused)
{
	struct stack_config stack;

	CHECK_EQ(parse__call_graph("lbr", &stack), -EINVAL);
	CHECK_EQ(parse__call_graph("", &stack), -EINVAL);
	CHECK_EQ(parse__call_graph("dwarf8192", &stack), -EINVAL);
}

TEST(mmap_pages_are_pages_or_a_size)
{
	size_t pages;

	CHECK_EQ(parse__mmap_pages("1", PAGE, &pages), 0);
	CHECK_EQ(pages, 1);
	CHECK_EQ(parse__mmap_pages("512", PAGE, &pages), 0);
	CHECK_EQ(pages, 512);
	CHECK_EQ(parse__mmap_pages("4096B", PAGE, &pages), 0);
	CHECK_EQ(pages, 1);
	CHECK_EQ(parse__mmap_pages("512K", PAGE, &pages), 0);
	CHECK_EQ(pages, 128);
	CHECK_EQ(parse__mmap_pages("4m", PAGE, &pages), 0);
	CHECK_EQ(pages, 1024);
	CHECK_EQ(parse__mmap_pages("1G", PAGE, &pages), 0);
	CHECK_EQ(pages, 262144);
}

TEST(mmap_pages_become_a_power_of_two)
{
	size_t pages;

	CHECK_EQ(parse__mmap_pages("3", PAGE, &pages), 0);
	CHECK_EQ(pages, 4);
	CHECK_EQ(parse__mmap_pages("1B", PAGE, &pages), 0);
	CHECK_EQ(pages, 1);
	CHECK_EQ(parse__mmap_pages("5000B", PAGE, &pages), 0);
	CHECK_EQ(pages, 2);
}

TEST(mmap_pages_that_are_none)
{
	size_t pages = 77;

	CHECK_EQ(parse__mmap_pages("0", PAGE, &pages), -EINVAL);
	CHECK_EQ(parse__mmap_pages("", PAGE, &pages), -EINVAL);
	CHECK_EQ(parse__mmap_pages("-1", PAGE, &pages), -EINVAL);
	CHECK_EQ(parse__mmap_pages(" 1", PAGE, &pages), -EINVAL);
	CHECK_EQ(parse__mmap_pages("4MB", PAGE, &pages), -EINVAL);
	CHECK_EQ(parse__mmap_pages("4Q", PAGE, &pages), -EINVAL);
	CHECK_EQ(parse__mmap_pages("2G", PAGE, &pages), -ERANGE);
	CHECK_EQ(parse__mmap_pages("18446744073709551615", PAGE, &pages), -ERANGE);
	CHECK_EQ(parse__mmap_pages("18446744073709551616", PAGE, &pages), -ERANGE);
	CHECK_EQ(pages, 77);
}

TEST(delays_are_milliseconds_or_none)
{
	int ms = 7;

	CHECK_EQ(parse__delay("-2", &ms), -EINVAL);
	CHECK_EQ(parse__delay("", &ms), -EINVAL);
	CHECK_EQ(parse__delay("1s", &ms), -EINVAL);
	CHECK_EQ(parse__delay("2147483648", &ms), -ERANGE);
	CHECK_EQ(ms, 7);
	CHECK_EQ(parse__delay("-1", &ms), 0);
	CHECK_EQ(ms, -1);
	CHECK_EQ(parse__delay("0", &ms), 0);
	CHECK_EQ(ms, 0);
	CHECK_EQ(parse__delay("2147483647", &ms), 0);
	CHECK_EQ(ms, 2147483647);
}

TEST(max_size_has_a_unit)
{
	uint64_t bytes = 7;

	CHECK_EQ(parse__max_size("", &bytes), -EINVAL);
	CHECK_EQ(parse__max_size("10", &bytes), -EINVAL);
	CHECK_EQ(parse__max_size("M", &bytes), -EINVAL);
	CHECK_EQ(parse__max_size("-1M", &bytes), -EINVAL);
	CHECK_EQ(parse__max_size("1MB", &bytes), -EINVAL);
	CHECK_EQ(parse__max_size("0K", &bytes), -ERANGE);
	CHECK_EQ(parse__max_size("8589934592G", &bytes), -ERANGE);
	CHECK_EQ(parse__max_size("99999999999999999999B", &bytes), -ERANGE);
	CHECK_EQ(bytes, 7);
	CHECK_EQ(parse__max_size("1B", &bytes), 0);
	CHECK_EQ(bytes, 1);
	CHECK_EQ(parse__max_size("3k", &bytes), 0);
	CHECK_EQ(bytes, 3072);
	CHECK_EQ(parse__max_size("8589934591G", &bytes), 0);
	CHECK(bytes == 8589934591ull << 30);
}

TEST(pids_have_commas_between_them)
{
	static const char *const bad[] = {"",		",",
					  "1,",		",1",
					  "1,,2",	"0",
					  "-1",		"1 2",
					  "1,x",	"a",
					  "1,0",	"1, 2",
					  "2147483648", "1,99999999999999999999"};
	size_t nr = 77;
	pid_t *pids;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(parse__pids(bad[i], &pids, &nr) < 0);
	CHECK_EQ(nr, 77);
	CHECK_EQ(parse__pids("1,22,2147483647,4", &pids, &nr), 0);
	CHECK_EQ(nr, 4);
	CHECK_EQ(pids[0], 1);
	CHECK_EQ(pids[1], 22);
	CHECK_EQ(pids[2], 2147483647);
	CHECK_EQ(pids[3], 4);
	free(pids);
}

TEST(a_duration_is_of_seconds_or_has_a_unit)
{
	uint64_t ms = 1;
	bool has_range = false;

	CHECK_EQ(parse__duration("0", &ms), -ERANGE);
	CHECK_EQ(parse__duration("367d", &ms), -ERANGE);
	CHECK_EQ(parse__duration("-1", &ms), -EINVAL);
	CHECK_EQ(parse__duration("10sec", &ms), -EINVAL);
	CHECK_EQ(ms, 1);
	CHECK_EQ(parse__duration("10", &ms), 0);
	CHECK_EQ(ms, 10000);
	CHECK_EQ(parse__duration("250ms", &ms), 0);
	CHECK_EQ(ms, 250);
	CHECK_EQ(parse__duration("3m", &ms), 0);
	CHECK_EQ(ms, 180000);

	CHECK_EQ(parse__capture_range("nvtx", &has_range), -EINVAL);
	CHECK_EQ(parse__capture_range("cudaProfilerApi", &has_range), 0);
	CHECK(has_range);
	CHECK_EQ(parse__capture_range("none", &has_range), 0);
	CHECK(!has_range);
}
