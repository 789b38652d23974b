// SPDX-License-Identifier: GPL-2.0-or-later
/* --switch-output and --overwrite, in perf's words */
#include "record/switch_options.h"

#include <errno.h>

#include "unit.h"

#define S 1000000000ull

TEST(a_signal_a_size_or_a_time)
{
	static const struct {
		const char *text;
		uint64_t bytes, ns;
	} good[] = {
		{NULL, 0, 0},		{"signal", 0, 0},
		{"100B", 100, 0},	{"3K", 3 << 10, 0},
		{"100M", 100 << 20, 0}, {"2G", 2ull << 30, 0},
		{"30s", 0, 30 * S},	{"5m", 0, 300 * S},
		{"1h", 0, 3600 * S},	{"2d", 0, 2 * 86400 * S},
	};
	static const char *const bad[] = {"",
					  "signals",
					  "5",
					  "M",
					  "0s",
					  "-1s",
					  "1x",
					  "1 s",
					  "1sM",
					  "s1",
					  "1.5s",
					  "99999999999999999999s",
					  "99999999999999d",
					  "+1s"};
	struct switch_options options;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		options = (struct switch_options){0};
		CHECK_EQ(switch_options__parse(good[i].text, &options), 0);
		CHECK(options.is_switched);
		CHECK_EQ(options.bytes, good[i].bytes);
		CHECK_EQ(options.ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		options = (struct switch_options){0};
		CHECK_EQ(switch_options__parse(bad[i], &options), -EINVAL);
		CHECK(!options.is_switched);
	}
}

TEST(what_is_kept)
{
	struct switch_options options = {0};

	CHECK(!switch_options__any(&options));
	CHECK_EQ(switch_options__parse_overwrite(NULL, &options), 0);
	CHECK(switch_options__any(&options));
	CHECK_EQ(options.keep_ns, OVERWRITE_SECONDS * S);
	CHECK_EQ(options.keep_bytes, OVERWRITE_BYTES);
	CHECK_EQ(switch_options__parse_overwrite("30s", &options), 0);
	CHECK_EQ(options.keep_ns, 30 * S);
	CHECK_EQ(options.keep_bytes, OVERWRITE_BYTES);
	CHECK_EQ(switch_options__parse_overwrite("64M", &options), 0);
	CHECK(options.keep_ns > 365 * 86400 * S);
	CHECK_EQ(options.keep_bytes, 64 << 20);
	CHECK_EQ(switch_options__parse_overwrite("1G,2m", &options), 0);
	CHECK_EQ(options.keep_ns, 120 * S);
	CHECK_EQ(options.keep_bytes, 1 << 30);
	CHECK_EQ(switch_options__parse_overwrite("2m,1G", &options), 0);
	CHECK_EQ(options.keep_ns, 120 * S);
	CHECK_EQ(switch_options__parse_overwrite("1s,2s", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_overwrite("8M,9M", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_overwrite("1s,", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_overwrite("", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_overwrite("1M", &options), -ERANGE);
}

TEST(how_many_files)
{
	struct switch_options options = {0};

	CHECK_EQ(switch_options__parse_max_files("3", &options), 0);
	CHECK_EQ(options.max_files, 3);
	CHECK_EQ(switch_options__parse_max_files("0", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_max_files("-3", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_max_files("3x", &options), -EINVAL);
	CHECK_EQ(switch_options__parse_max_files("3000000000", &options), -EINVAL);
	CHECK_EQ(options.max_files, 3);
}
