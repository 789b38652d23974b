// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of the closing lines. */
#include "unit.h"
#include "util/format.h"

TEST(file_size)
{
	struct format_buf buf;

	CHECK_STR(format__file_size(0, &buf), "0.0 KB");
	CHECK_STR(format__file_size(464, &buf), "0.5 KB");
	CHECK_STR(format__file_size(42120, &buf), "41.1 KB");
	CHECK_STR(format__file_size(104857, &buf), "102.4 KB");
	CHECK_STR(format__file_size(104858, &buf), "0.1 MB");
	CHECK_STR(format__file_size(7340032, &buf), "7.0 MB");
}

TEST(plural_is_of_all_but_one)
{
	CHECK_STR(format__plural(0, "gap", "gaps"), "gaps");
	CHECK_STR(format__plural(1, "gap", "gaps"), "gap");
	CHECK_STR(format__plural(2, "gap", "gaps"), "gaps");
}

TEST(percent_is_rounded_down)
{
	struct format_buf buf;

	CHECK_STR(format__percent(999999, 1000000, &buf), "99.9 %");
	CHECK_STR(format__percent(1, 1, &buf), "100.0 %");
}
