// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages: their frame, and that nothing in them can drive a terminal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "util/log.h"

static char output[65536];
static int capture[2];

/* From here to the CHECK_STR(printed(), ...), stderr is a pipe. */
static void capture_stderr(void)
{
	CHECK_EQ(pipe(capture), 0);
	CHECK_EQ(dup2(capture[1], STDERR_FILENO), STDERR_FILENO);
	close(capture[1]);
}

static const char *printed(void)
{
	ssize_t nr_bytes;

	close(STDERR_FILENO);
	nr_bytes = read(capture[0], output, sizeof(output) - 1);
	CHECK(nr_bytes >= 0);
	output[nr_bytes] = '\0';
	return output;
}

TEST(error_names_the_command)
{
	capture_stderr();
	log__set_command("record");
	pr_err("%s: %s", "perf.data", "No space left on device");
	CHECK_STR(printed(), "perf-gpu record: perf.data: No space left on device\n");
}

TEST(error_of_perf_gpu_itself)
{
	capture_stderr();
	pr_err("no");
	CHECK_STR(printed(), "perf-gpu: no\n");
}

TEST(warning_and_info_have_their_frames)
{
	capture_stderr();
	log__set_command("inject");
	pr_warning("lost %d", 3);
	pr_info("%d kernels", 7);
	CHECK_STR(printed(), "perf-gpu inject: warning: lost 3\n"
			     "[ perf-gpu inject: 7 kernels ]\n");
}

TEST(quiet_leaves_errors)
{
	capture_stderr();
	log_verbosity = -1;
	pr_info("a");
	pr_warning("b");
	pr_debug("c");
	pr_err("d");
	CHECK_STR(printed(), "perf-gpu: d\n");
}

TEST(debug_needs_verbose)
{
	capture_stderr();
	pr_debug("a");
	log_verbosity = 1;
	pr_debug("b");
	CHECK_STR(printed(), "perf-gpu: b\n");
}

TEST(controls_are_shown)
{
	capture_stderr();
	pr_err("a\x1b[31mb\nc\td\r\x7f\x01");
	CHECK_STR(printed(), "perf-gpu: a\\x1b[31mb\\nc\\td\\x0d\\x7f\\x01\n");
}

TEST(utf8_passes)
{
	capture_stderr();
	pr_err("µ € \xf0\x9f\x98\x80");
	CHECK_STR(printed(), "perf-gpu: µ € \xf0\x9f\x98\x80\n");
}

/* Some terminals take U+009B, and a bare 9b byte, for the start of a sequence. */
TEST(hidden_controls_are_shown)
{
	capture_stderr();
	pr_err("\x9b|\xc2\x9b|\xc0\x9b|\xe0\x82\x9b|\xed\xa0\x80|\xf5\x80\x80\x80");
	CHECK_STR(printed(), "perf-gpu: \\x9b|\\xc2\\x9b|\\xc0\\x9b|\\xe0\\x82\\x9b|"
			     "\\xed\\xa0\\x80|\\xf5\\x80\\x80\\x80\n");
}

TEST(cut_utf8_is_shown)
{
	capture_stderr();
	pr_err("\xe2\x82");
	CHECK_STR(printed(), "perf-gpu: \\xe2\\x82\n");
}

TEST(long_message_is_whole)
{
	static char text[20000];

	capture_stderr();
	memset(text, 'x', sizeof(text) - 1);
	pr_err("%s", text);
	printed();
	CHECK_EQ(strlen(output), strlen("perf-gpu: \n") + sizeof(text) - 1);
}

TEST(errno_survives)
{
	close(STDERR_FILENO);
	errno = EXDEV;
	pr_err("nobody reads this");
	CHECK_EQ(errno, EXDEV);
}
