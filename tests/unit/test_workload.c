// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorded command: started late, ended early, and what it inherits */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "record/signals.h"
#include "record/workload.h"
#include "unit.h"
#include "util/log.h"

static char *const no_environment[] = {NULL};

/* Status of the command, which is run to its end */
static int run(const char *const *argv, char *const *environment)
{
	struct workload *workload;
	struct signals signals;
	int status = -1;

	log_verbosity = -1;
	CHECK_EQ(signals__open(&signals), 0);
	CHECK_EQ(workload__fork(argv, environment, &signals.caller_mask, NULL, &workload),
		 0);
	CHECK_EQ(workload__start(workload, &status), 0);
	CHECK_EQ(workload__wait(workload, &status), 0);
	workload__close(workload);
	signals__close(&signals);
	return status;
}

#define SH(script) ((const char *const[]){"sh", "-c", script, NULL})

TEST(status_passes_through)
{
	CHECK_EQ(run(SH("exit 0"), no_environment), 0);
	CHECK_EQ(run(SH("exit 7"), no_environment), 7);
	CHECK_EQ(run(SH("exit 255"), no_environment), 255);
	CHECK_EQ(run(SH("kill -KILL $$"), no_environment), 128 + SIGKILL);
}

TEST(environment_is_added)
{
	char *const environment[] = {(char[]){"PERF_GPU_TEST=a b"}, NULL};

	CHECK_EQ(run(SH("[ \"$PERF_GPU_TEST\" = 'a b' ] && [ -n \"$PATH\" ]"),
		     environment),
		 0);
	CHECK(!getenv("PERF_GPU_TEST"));
}

TEST(mask_and_dispositions_are_the_callers)
{
	signal(SIGHUP, SIG_IGN);
	/*
	 * Blocked and ignored signals, bit n - 1 for signal n. What was started by
	 * posix_spawn(), as make does it, ignores 32 and 33, the C library's own.
	 */
	CHECK_EQ(run(SH("grep -q '^SigBlk:.*0000000000000000$' /proc/self/status && "
			"grep -q '^SigIgn:.*[08]0000001$' /proc/self/status"),
		     no_environment),
		 0);
}

TEST(nothing_runs_before_its_start)
{
	const char *const argv[] = {"false", NULL};
	struct workload *workload;
	struct pollfd pollfd = {.events = POLLIN};
	sigset_t mask;

	sigemptyset(&mask);
	CHECK_EQ(workload__fork(argv, no_environment, &mask, NULL, &workload), 0);
	pollfd.fd = workload__pidfd(workload);
	CHECK_EQ(poll(&pollfd, 1, 50), 0);
	CHECK_EQ(kill(workload__pid(workload), 0), 0);
	workload__close(workload);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
}

static void check_not_run(const char *path, int wanted_err, int wanted_status)
{
	const char *const argv[] = {path, NULL};
	struct workload *workload;
	sigset_t mask;
	int status = -1;

	log_verbosity = -1;
	if (!freopen("/dev/null", "w", stderr))
		SKIP("no /dev/null");
	sigemptyset(&mask);
	CHECK_EQ(workload__fork(argv, no_environment, &mask, NULL, &workload), 0);
	CHECK_EQ(workload__start(workload, &status), wanted_err);
	CHECK_EQ(status, wanted_status);
	workload__close(workload);
}

TEST(what_cant_be_executed)
{
	check_not_run("perf-gpu-no-such-command", -ENOENT, WORKLOAD_STATUS_NOT_FOUND);
	check_not_run("/", -EACCES, WORKLOAD_STATUS_NOT_EXECUTABLE);
	check_not_run("/dev/null", -EACCES, WORKLOAD_STATUS_NOT_EXECUTABLE);
}

TEST(signals_are_passed_on_but_the_terminals)
{
	struct signals signals;
	int pass_on = -1;

	CHECK_EQ(signals__open(&signals), 0);
	CHECK(!signals__read(&signals, &pass_on));
	kill(getpid(), SIGTERM);
	CHECK(signals__read(&signals, &pass_on));
	CHECK_EQ(pass_on, SIGTERM);
	kill(getpid(), SIGINT);
	CHECK(signals__read(&signals, &pass_on));
	CHECK_EQ(pass_on, SIGTERM);
	kill(getpid(), SIGHUP);
	CHECK(signals__read(&signals, &pass_on));
	CHECK_EQ(pass_on, SIGHUP);
	kill(getpid(), SIGPIPE);
	CHECK(signals__read(&signals, &pass_on));
	CHECK_EQ(pass_on, 0);
	kill(getpid(), SIGTERM); /* nobody's any more */
	signals__close(&signals);
}
