// SPDX-License-Identifier: GPL-2.0-or-later
/* CPython's layouts by version, and its line tables */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../cupti_inject/python_layout.h"
#include "../../cupti_inject/python_line.h"

static void check_lines(enum python_line_format format, const uint8_t *table,
			size_t nr_bytes, const int32_t *wanted, size_t nr_wanted)
{
	/* At the end of its memory, for sanitizers to see what is read behind it */
	uint8_t *copy = malloc(nr_bytes);

	CHECK(copy);
	memcpy(copy, table, nr_bytes);
	for (size_t i = 0; i < nr_wanted; i++)
		CHECK_EQ(python_line__find(format, copy, nr_bytes, (int64_t)i * 2),
			 wanted[i]);
	CHECK_EQ(python_line__find(format, copy, nr_bytes, -2), 0);
	free(copy);
}

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* The tables are those that CPython made of such functions. */

TEST(lnotab_of_3_8)
{
	/* def f(x):          a = 1; if x: (line 3) b = 2; (line 4) return x */
	static const uint8_t table[] = {0, 1, 4, 1, 4, 1, 4, 1};
	static const int32_t wanted[] = {1, 1, 2, 2, 3, 3, 4, 4};
	/* 300 bytes, 200 lines down, and 1 up */
	static const uint8_t far[] = {0, 127, 0, 73, 255, 0, 45, 255};

	check_lines(PYTHON_LNOTAB, table, sizeof(table), wanted, NR(wanted));
	CHECK_EQ(python_line__find(PYTHON_LNOTAB, far, sizeof(far), 0), 200);
	CHECK_EQ(python_line__find(PYTHON_LNOTAB, far, sizeof(far), 298), 200);
	CHECK_EQ(python_line__find(PYTHON_LNOTAB, far, sizeof(far), 300), 199);
	CHECK_EQ(python_line__find(PYTHON_LNOTAB, far, 0, 300), 0);
	CHECK_EQ(python_line__find(PYTHON_LNOTAB, far, 1, 300), 0);
}

TEST(ranges_of_3_10)
{
	static const uint8_t table[] = {4, 1, 2, 128, 2, 1, 4, 255};
	static const int32_t wanted[] = {1, 1, PYTHON_NO_LINE, 2, 1, 1, PYTHON_NO_LINE};

	check_lines(PYTHON_LINE_RANGES, table, sizeof(table), wanted, NR(wanted));
}

TEST(locations_of_3_11)
{
	/* def f(): (13) / launch() (14), from dis of CPython 3.11 */
	static const uint8_t table[] = {0x80, 0x00, 0xdd, 0x04, 0x0a, 0x81, 0x48, 0x84,
					0x48, 0x80, 0x48, 0x80, 0x48, 0x80, 0x48};
	static const int32_t wanted[] = {0, 1, 1, 1, 1, 1, 1, 1, 1,
					 1, 1, 1, 1, 1, 1, 1, 1, PYTHON_NO_LINE};
	/* long: 100 lines up, then no location, then no columns: 70,000 down */
	static const uint8_t jumps[] = {0xf0, 0x49, 0x03, 0x00, 0x01, 0x01,
					0xf8, 0xe9, 0x60, 0x4b, 0x22};

	check_lines(PYTHON_LOCATIONS, table, sizeof(table), wanted, NR(wanted));
	CHECK_EQ(python_line__find(PYTHON_LOCATIONS, jumps, sizeof(jumps), 0), -100);
	CHECK_EQ(python_line__find(PYTHON_LOCATIONS, jumps, sizeof(jumps), 2),
		 PYTHON_NO_LINE);
	CHECK_EQ(python_line__find(PYTHON_LOCATIONS, jumps, sizeof(jumps), 4),
		 -100 + 70000);
}

TEST(garbage_gives_some_line)
{
	uint8_t table[64];

	srandom(1);
	for (int round = 0; round < 200000; round++) {
		size_t nr_bytes = (size_t)random() % sizeof(table);

		for (size_t i = 0; i < nr_bytes; i++)
			table[i] = (uint8_t)random();
		for (int format = PYTHON_LNOTAB; format <= PYTHON_LOCATIONS; format++)
			python_line__find((enum python_line_format)format, table,
					  nr_bytes, random() % 512);
	}
}

/* ---- layouts ---- */

TEST(versions_that_are_known)
{
	struct python_layout layout;

	CHECK_EQ(python_layout__of("3.8.18 (main)", NULL, &layout), 0);
	CHECK_EQ(layout.group_end, PYTHON_EACH_FRAME);
	CHECK(!python_layout__has_addresses(&layout));
	CHECK_EQ(python_layout__of("3.10.0rc1", NULL, &layout), 0);
	CHECK(python_layout__has_addresses(&layout));
	CHECK_EQ(python_layout__of("3.11.2 (main, Mar 13 2023)", NULL, &layout), 0);
	CHECK_EQ(layout.minor, 11);
	CHECK_EQ(python_layout__of("3.12.1", NULL, &layout), 0);
	CHECK_EQ(layout.frame.shim_owner, 3);
}

TEST(versions_that_are_not)
{
	struct python_layout layout = {.minor = 77};

	CHECK_EQ(python_layout__of("2.7.18", NULL, &layout), -ENOTSUP);
	CHECK_EQ(python_layout__of("3.7.0", NULL, &layout), -ENOTSUP);
	CHECK_EQ(python_layout__of("3.13.0", NULL, &layout), -ENOTSUP);
	CHECK_EQ(python_layout__of("3.99.0", NULL, &layout), -ENOTSUP);
	CHECK_EQ(python_layout__of("", NULL, &layout), -ENOTSUP);
	CHECK_EQ(python_layout__of("PyPy", NULL, &layout), -ENOTSUP);
	CHECK_EQ(layout.minor, 77);
}

/* What CPython 3.13.0 says of itself, on x86-64 */
static void make_debug_offsets(uint64_t offsets[64])
{
	memset(offsets, 0, 64 * sizeof(*offsets));
	memcpy(offsets, "xdebugpy", 8);
	offsets[1] = 0x030d00f0;
	offsets[23] = 72; /* thread_state.current_frame */
	offsets[29] = 8; /* interpreter_frame.previous */
	offsets[30] = 0; /* executable */
	offsets[31] = 56; /* instr_ptr */
	offsets[33] = 70; /* owner */
	offsets[35] = 112; /* code_object.filename */
	offsets[37] = 128; /* qualname */
	offsets[38] = 136; /* linetable */
	offsets[39] = 68; /* firstlineno */
	offsets[41] = 96; /* localsplusnames */
	offsets[43] = 200; /* co_code_adaptive */
	offsets[44] = 16; /* pyobject.size */
	offsets[45] = 8; /* ob_type */
}

TEST(an_interpreter_says_its_layout)
{
	struct python_layout layout;
	uint64_t offsets[64];

	make_debug_offsets(offsets);
	CHECK_EQ(python_layout__of("3.13.0", offsets, &layout), 0);
	CHECK_EQ(layout.thread.frame, 72);
	CHECK_EQ(layout.frame.bytes, 71);
	CHECK_EQ(layout.code.version, 92);
	CHECK_EQ(layout.code.bytes, 200);
	CHECK_EQ(layout.ascii_bytes, 40);
	CHECK_EQ(layout.compact_bytes, 56);
}

TEST(what_an_interpreter_says_is_not_trusted)
{
	struct python_layout layout;
	uint64_t offsets[64];

	make_debug_offsets(offsets);
	offsets[0]++;
	CHECK_EQ(python_layout__of("3.13.0", offsets, &layout), -ENOTSUP);
	make_debug_offsets(offsets);
	CHECK_EQ(python_layout__of("3.14.0", offsets, &layout), -ENOTSUP);
	make_debug_offsets(offsets);
	offsets[38] = 0x5500000000;
	CHECK_EQ(python_layout__of("3.13.0", offsets, &layout), -ENOTSUP);
}
