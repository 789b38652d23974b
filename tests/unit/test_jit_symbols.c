// SPDX-License-Identifier: GPL-2.0-or-later
/* Names by address and time (symbol/jit_symbols.c) */
#include <errno.h>

#include "jit_build.h"
#include "unit.h"

static struct jit_symbols *new_symbols(void)
{
	struct jit_symbols *symbols;

	CHECK_EQ(jit_symbols__new(&symbols), 0);
	return symbols;
}

static void add_text(struct jit_symbols *symbols, uint64_t offset, const char *text)
{
	CHECK_EQ(jit_symbols__add_perf_map(symbols, offset, text, strlen(text)), 0);
}

static void add_code(struct jit_symbols *symbols, uint64_t time_ns, uint64_t address,
		     uint64_t bytes, const char *name)
{
	struct {
		struct gpu_log_jit_code code;
		char name[24];
	} one = {.code = {.time_ns = time_ns,
			  .address = address,
			  .bytes = bytes,
			  .nr_bytes = (uint32_t)strlen(name)}};
	size_t room = (sizeof(one.code) + strlen(name) + 1 + 7) & ~(size_t)7;

	strcpy(one.name, name);
	CHECK_EQ(jit_symbols__add_code(symbols, &one, room), 0);
}

TEST(without_symbols_nothing_is_found)
{
	struct jit_symbols *symbols = new_symbols();

	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0x1000, 1), "none");
	jit_symbols__delete(symbols);
	jit_symbols__delete(NULL);
}

TEST(the_last_one_before_the_time_counts)
{
	struct jit_symbols *symbols = new_symbols();

	add_code(symbols, 30, 0x1000, 0x100, "third");
	add_code(symbols, 10, 0x1000, 0x100, "first");
	add_code(symbols, 20, 0x1000, 0x80, "second");
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0x1000, 10), "first");
	CHECK_STR(jit_name(symbols, 0x1000, 29), "second");
	CHECK_STR(jit_name(symbols, 0x1080, 29), "first");
	CHECK_STR(jit_name(symbols, 0x1000, 30), "third");
	/* A runtime may be late to tell. */
	CHECK_STR(jit_name(symbols, 0x1000, 9), "first");
	jit_symbols__delete(symbols);
}

TEST(later_lines_of_a_map_count)
{
	struct jit_symbols *symbols = new_symbols();

	add_text(symbols, 0,
		 "1000 100 old\n1000 100 new\n1080 20 inside\n10f0 20 across\n");
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0x1000, 1), "new");
	CHECK_STR(jit_name(symbols, 0x1090, 1), "inside");
	CHECK_STR(jit_name(symbols, 0x10a0, 1), "new");
	CHECK_STR(jit_name(symbols, 0x110f, 1), "across");
	CHECK_STR(jit_name(symbols, 0x1110, 1), "none");
	CHECK_STR(jit_name(symbols, 0xfff, 1), "none");
	jit_symbols__delete(symbols);
}

TEST(a_dump_knows_more_than_a_map)
{
	struct jit_symbols *symbols = new_symbols();

	add_code(symbols, 10, 0x1000, 0x100, "dump");
	add_text(symbols, 0, "1000 200 map\n");
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0x1000, 20), "dump");
	CHECK_STR(jit_name(symbols, 0x1100, 20), "map");
	CHECK_STR(jit_name(symbols, 0x1000, 5), "map");
	jit_symbols__delete(symbols);
}

TEST(names_are_demangled)
{
	struct jit_symbols *symbols = new_symbols();
	const struct symbol *symbol;

	add_text(symbols, 0, "1000 100 _Z5thirdv\n2000 100 JS:*f /srv/a b.js:3:4\n");
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	for (int i = 0; i < 2; i++) {
		symbol = jit_symbols__find(symbols, 0x1000, 1);
		CHECK(symbol);
		CHECK_STR(symbol->demangled, "third");
		symbol = jit_symbols__find(symbols, 0x2000, 1);
		CHECK(symbol);
		CHECK_STR(symbol->demangled, "JS:*f /srv/a b.js:3:4");
	}
	jit_symbols__delete(symbols);
}

TEST(half_a_line_is_none)
{
	struct jit_symbols *symbols = new_symbols();

	add_text(symbols, 0, "1000 100 first\n2000 100 sec");
	/* 100 bytes are missing, the end of the first line here is of one of them. */
	add_text(symbols, 128, "00 80 cut\n3000 100 third\n4000 100 fou");
	add_text(symbols, 1000, "no line at all");
	add_text(symbols, 1014, "5000 80 of the same\n6000 100 sixth\n");
	/* Another file */
	add_text(symbols, 0, "7000 100 seventh\n");
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0, 1), "none");
	CHECK_STR(jit_name(symbols, 0x1000, 1), "first");
	CHECK_STR(jit_name(symbols, 0x2000, 1), "sec");
	CHECK_STR(jit_name(symbols, 0x3000, 1), "third");
	CHECK_STR(jit_name(symbols, 0x4000, 1), "fou");
	CHECK_STR(jit_name(symbols, 0x5000, 1), "none");
	CHECK_STR(jit_name(symbols, 0x6000, 1), "sixth");
	CHECK_STR(jit_name(symbols, 0x7000, 1), "seventh");
	jit_symbols__delete(symbols);
}

TEST(bytes_of_zero_end_a_line)
{
	struct jit_symbols *symbols = new_symbols();

	CHECK_EQ(jit_symbols__add_perf_map(symbols, 0, "1000 100 a\0\0\n2000 100 b\n",
					   24),
		 0);
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0x1000, 1), "a");
	CHECK_STR(jit_name(symbols, 0x2000, 1), "b");
	jit_symbols__delete(symbols);
}

TEST(code_that_is_not_whole_is_refused)
{
	struct {
		struct gpu_log_jit_code code;
		char name[8];
	} one = {.code = {.address = 0x1000, .bytes = 16, .nr_bytes = 3}, .name = "fun"};
	struct jit_symbols *symbols = new_symbols();

	CHECK_EQ(jit_symbols__add_code(symbols, &one, 39), -EINVAL);
	CHECK_EQ(jit_symbols__add_code(symbols, &one, 43), -EINVAL);
	one.code.nr_bytes = 8;
	CHECK_EQ(jit_symbols__add_code(symbols, &one, sizeof(one)), -EINVAL);
	one.code.nr_bytes = 2;
	CHECK_EQ(jit_symbols__add_code(symbols, &one, sizeof(one)), -EINVAL);
	one.code.nr_bytes = UINT32_MAX;
	CHECK_EQ(jit_symbols__add_code(symbols, &one, sizeof(one)), -EINVAL);
	one.code.nr_bytes = 3;
	one.code.bytes = UINT64_MAX;
	CHECK_EQ(jit_symbols__add_code(symbols, &one, sizeof(one)), 0);
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	CHECK_STR(jit_name(symbols, 0x1000, 1), "none");
	jit_symbols__delete(symbols);
}

/* Against a look at each */
TEST(the_tree_finds_what_a_search_finds)
{
	enum { NR = 300 };
	struct jit_symbols *symbols = new_symbols();
	struct {
		uint64_t start, bytes, time_ns;
	} all[NR];
	uint64_t seed = 7;

	for (int i = 0; i < NR; i++) {
		char name[16];

		seed = seed * 6364136223846793005 + 1442695040888963407;
		all[i].start = (seed >> 33) % 1000;
		all[i].bytes = 1 + (seed >> 20) % (i % 10 ? 20 : 400);
		all[i].time_ns = 1 + (seed >> 45) % 50;
		snprintf(name, sizeof(name), "%d", i);
		add_code(symbols, all[i].time_ns, all[i].start, all[i].bytes, name);
	}
	CHECK_EQ(jit_symbols__finish(symbols), 0);
	for (uint64_t address = 0; address < 1500; address++) {
		uint64_t time_ns = address % 60;
		const char *name = jit_name(symbols, address, time_ns);
		int best = -1;

		for (int i = 0; i < NR; i++) {
			if (address < all[i].start ||
			    address - all[i].start >= all[i].bytes ||
			    all[i].time_ns > time_ns)
				continue;
			if (best < 0 || all[i].time_ns >= all[best].time_ns)
				best = i;
		}
		if (best >= 0)
			CHECK_EQ(atoi(name), best);
	}
	jit_symbols__delete(symbols);
}
