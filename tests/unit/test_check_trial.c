// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

#include "util/proc.h"
#include "check/trial.h"
#include "util/log.h"

static int add_one(void *result)
{
	*(int *)result += 1;
	return 0;
}

TEST(trial_returns_its_result)
{
	struct trial trial;
	int value = 41;

	CHECK(trial__run(add_one, &value, sizeof(value), &trial));
	CHECK_EQ(value, 42);
	CHECK_STR(trial__error(&trial), "");
}

static int crash(void *result)
{
	*(int *)result = 1;
	raise(SIGSEGV);
	*(int *)result = 2;
	return 0;
}

TEST(trial_survives_a_crash)
{
	struct trial trial;
	int step = 0;

	/* A sanitizer would take the signal. */
	signal(SIGSEGV, SIG_DFL);
	CHECK(!trial__run(crash, &step, sizeof(step), &trial));
	CHECK_EQ(step, 1);
	CHECK_STR(trial.death, "died of signal 11 (Segmentation fault)");
}

static int fail_with_message(void *unused)
{
	(void)unused;
	log__set_command("check");
	pr_err("can't open /nonexistent: %s", "No such file or directory");
	return -ENOENT;
}

TEST(trial_catches_what_is_printed)
{
	struct trial trial;
	char unused;

	CHECK(!trial__run(fail_with_message, &unused, sizeof(unused), &trial));
	CHECK_STR(trial.death, "exited with status 1");
	CHECK_STR(trial__error(&trial),
		  "can't open /nonexistent: No such file or directory");
}

static int print_much(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100000; i++)
		puts("more than a pipe holds");
	return 0;
}

TEST(trial_does_not_block_on_output)
{
	struct trial trial;
	char unused;

	CHECK(trial__run(print_much, &unused, sizeof(unused), &trial));
	CHECK_EQ(strlen(trial.output), sizeof(trial.output) - 1);
}

static int leave_a_child(void *result)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	*(pid_t *)result = pid;
	return 0;
}

TEST(trial_does_not_wait_for_grandchildren)
{
	struct trial trial;
	pid_t pid = 0;

	CHECK(trial__run(leave_a_child, &pid, sizeof(pid), &trial));
	CHECK(pid > 0);
	kill(pid, SIGKILL);
}

TEST(proc_reads_values)
{
	char text[64], shorter[4], name[16], start[4];

	CHECK_EQ(prctl(PR_GET_NAME, name), 0); /* an emulator's, in one */
	memcpy(start, name, 3);
	start[3] = '\0';

	CHECK_EQ(proc__read_value("/proc/self/status", "Name", text, sizeof(text)), 0);
	CHECK_STR(text, name);
	CHECK_EQ(proc__read_value("/proc/self/status", "Name", shorter, sizeof(shorter)),
		 0);
	CHECK_STR(shorter, start);
	CHECK_EQ(proc__read_value("/proc/self/status", "Nam", text, sizeof(text)),
		 -ENODATA);
	CHECK_EQ(proc__read_line("/nonexistent", text, sizeof(text)), -ENOENT);
	CHECK_EQ(proc__read_line("/dev/null", text, sizeof(text)), -ENODATA);
}
