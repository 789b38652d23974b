// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands of record --control, however they are cut into reads */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/control_fd.h"
#include "util/log.h"

struct fixture {
	struct control_fd control;
	int writer, ack_reader;
};

static void open_fixture(struct fixture *fixture)
{
	int commands[2], acks[2];
	char text[64];

	log_verbosity = -1;
	CHECK_EQ(pipe(commands), 0);
	CHECK_EQ(pipe(acks), 0);
	snprintf(text, sizeof(text), "fd:%d,%d", commands[0], acks[1]);
	CHECK_EQ(control_fd__open(text, &fixture->control), 0);
	fixture->writer = commands[1];
	fixture->ack_reader = acks[0];
}

static void send_text(struct fixture *fixture, const char *text, size_t bytes)
{
	CHECK_EQ(write(fixture->writer, text, bytes), (ssize_t)bytes);
	control_fd__read(&fixture->control);
}

#define SEND(fixture, text) send_text(fixture, text, strlen(text))

TEST(commands_come_one_by_one)
{
	struct fixture f;

	open_fixture(&f);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
	SEND(&f, "enable\ndisable\n\nping\nsnapshot\nst");
	CHECK_EQ(control_fd__next(&f.control), COMMAND_ENABLE);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_DISABLE);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_PING);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_SNAPSHOT);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
	SEND(&f, "op");
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
	SEND(&f, "\n");
	CHECK_EQ(control_fd__next(&f.control), COMMAND_STOP);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
}

TEST(a_nul_ends_a_line_too)
{
	struct fixture f;

	open_fixture(&f);
	send_text(&f, "enable\0ping", 12);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_ENABLE);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_PING);
}

TEST(other_words_are_passed_over)
{
	struct fixture f;

	open_fixture(&f);
	SEND(&f, "enabled\n enable\nenable other\nsnapshots\nENABLE\nstop it\n"
		 "disable gpu-launch\n");
	CHECK_EQ(control_fd__next(&f.control), COMMAND_DISABLE);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
}

TEST(a_line_without_end_hides_no_command)
{
	struct fixture f;

	open_fixture(&f);
	for (int i = 0; i < 1000; i++) {
		SEND(&f, "enable");
		CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
	}
	/* The tail of a line that is too long is no command. */
	SEND(&f, "\n");
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
	SEND(&f, "ping\n");
	CHECK_EQ(control_fd__next(&f.control), COMMAND_PING);
}

TEST(answers_are_as_perf_has_them)
{
	struct fixture f;
	char text[8];

	open_fixture(&f);
	control_fd__acknowledge(&f.control);
	CHECK_EQ(read(f.ack_reader, text, sizeof(text)), 4);
	CHECK(!memcmp(text, "ack\n", 4));
}

TEST(who_reads_no_answers_is_not_waited_for)
{
	struct fixture f;

	open_fixture(&f);
	for (int i = 0; i < 100000; i++)
		control_fd__acknowledge(&f.control);
}

TEST(the_end_of_the_commands_is_seen)
{
	struct fixture f;

	open_fixture(&f);
	SEND(&f, "enable");
	close(f.writer);
	control_fd__read(&f.control);
	CHECK_EQ(f.control.fd, -1);
	CHECK_EQ(control_fd__next(&f.control), COMMAND_NONE);
}

TEST(fifos_need_no_partner)
{
	char dir[] = P_tmpdir "/perf-gpu-unit.XXXXXX", text[128];
	struct control_fd control;

	log_verbosity = -1;
	CHECK(mkdtemp(dir));
	CHECK_EQ(chdir(dir), 0);
	CHECK_EQ(control_fd__open("fifo:ctl", &control), -ENOENT);
	CHECK_EQ(mkfifo("ctl", 0600), 0);
	CHECK_EQ(mkfifo("ack", 0600), 0);
	snprintf(text, sizeof(text), "fifo:%s/ctl,ack", dir);
	CHECK_EQ(control_fd__open(text, &control), 0);
	control_fd__read(&control);
	CHECK(control.fd >= 0);
	CHECK_EQ(control_fd__next(&control), COMMAND_NONE);
	control_fd__acknowledge(&control);
	control_fd__close(&control);
	CHECK_EQ(unlink("ctl") | unlink("ack") | rmdir(dir), 0);
}

TEST(what_is_neither_is_refused)
{
	static const char *const texts[] = {
		"",	 "fd",	    "fd:",	"fd:-1",  "fd:0x0",
		"fd:0,", "fd:0,a",  "fd:0,1,2", "fd:0 ",  "fd:99999999999",
		"fifo:", "fifo:,a", "fifo:a,",	"pipe:a",
	};
	struct control_fd control = {.fd = 77};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK_EQ(control_fd__open(texts[i], &control), -EINVAL);
	CHECK_EQ(control.fd, 77);
}
