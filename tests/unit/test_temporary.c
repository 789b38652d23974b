// SPDX-License-Identifier: GPL-2.0-or-later
/* Temporary files: what is left of them when a signal comes. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "util/temporary.h"

static char folder[] = "/tmp/test-temporary.XXXXXX";
static char made[PATH_MAX], named[PATH_MAX], inner[PATH_MAX];

static void enter(void)
{
	CHECK(mkdtemp(folder));
	snprintf(made, sizeof(made), "%s/out.XXXXXX", folder);
	snprintf(named, sizeof(named), "%s/out", folder);
	snprintf(inner, sizeof(inner), "%s/folder", folder);
}

/* Fails if anything is left. */
static void leave(void)
{
	CHECK(!rmdir(folder));
}

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

/* How a process that does @work ends */
static int run(void (*work)(int), int signal)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		work(signal);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	return status;
}

static void make_and_end(int signal)
{
	char within[PATH_MAX];
	int fd = temporary__make(made);

	if (fd < 0 || write(fd, "half", 4) != 4 || temporary__make_folder(inner))
		_exit(1);
	snprintf(within, sizeof(within), "%s/folder/names.XXXXXX", folder);
	if (temporary__make(within) < 0)
		_exit(2);
	temporary__remove(made); /* the first slot is free: the next has it */
	strcpy(strrchr(made, '.'), ".XXXXXX");
	if (temporary__make(made) < 0)
		_exit(3);
	raise(signal);
}

TEST(each_signal_ends_it_and_leaves_nothing)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};

	enter();
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		int status = run(make_and_end, signals[i]);

		CHECK(WIFSIGNALED(status));
		CHECK_EQ(WTERMSIG(status), signals[i]);
		CHECK(!is_there(inner));
	}
	leave();
}

static void rename_and_end(int signal)
{
	if (temporary__make(made) < 0 || temporary__make_folder(inner) ||
	    temporary__rename(made, named))
		_exit(1);
	temporary__keep_folder(inner);
	raise(signal);
}

TEST(what_has_its_name_stays)
{
	enter();
	CHECK_EQ(WTERMSIG(run(rename_and_end, SIGTERM)), SIGTERM);
	CHECK(is_there(named));
	CHECK(is_there(inner));
	CHECK(!unlink(named) && !rmdir(inner));
	leave();
}

static void ignore_and_go_on(int sig)
{
	signal(sig, SIG_IGN);
	if (temporary__make(made) < 0)
		_exit(1);
	raise(sig);
	_exit(temporary__rename(made, named) ? 2 : 0);
}

TEST(an_ignored_signal_stays_ignored)
{
	enter();
	CHECK_EQ(run(ignore_and_go_on, SIGHUP), 0);
	CHECK(!unlink(named));
	leave();
}

static void hold_and_end(int signal)
{
	sigset_t mask;

	if (temporary__make(made) < 0)
		_exit(1);
	temporary__hold(&mask);
	raise(signal);
	if (temporary__rename(made, named))
		_exit(2);
	temporary__release(&mask);
	_exit(3); /* not reached */
}

TEST(what_is_done_as_a_whole_is_whole)
{
	enter();
	CHECK_EQ(WTERMSIG(run(hold_and_end, SIGINT)), SIGINT);
	CHECK(!unlink(named));
	leave();
}

static void fork_and_end(int signal)
{
	if (temporary__make(made) < 0)
		_exit(1);
	if (!fork()) {
		raise(signal);
		_exit(1);
	}
	wait(NULL);
	_exit(is_there(made) ? (temporary__remove(made), 0) : 2);
}

TEST(a_child_removes_nothing)
{
	enter();
	CHECK_EQ(run(fork_and_end, SIGTERM), 0);
	leave();
}

static void write_too_much(int unused)
{
	const struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
	int fd = temporary__make(made);

	(void)unused;
	if (fd < 0 || setrlimit(RLIMIT_FSIZE, &limit) || write(fd, "ab", 1) != 1)
		_exit(1);
	if (write(fd, "b", 1) != -1 || errno != EFBIG)
		_exit(2);
	temporary__remove(made);
}

TEST(too_large_a_file_is_an_error)
{
	enter();
	CHECK_EQ(run(write_too_much, 0), 0);
	leave();
}

TEST(a_folder_that_is_there_is_told)
{
	enter();
	CHECK_EQ(temporary__make_folder(folder), -EEXIST);
	CHECK_EQ(temporary__make_folder(inner), 0);
	temporary__remove_folder(inner);
	leave();
}

static void hold_and_ask(int signal)
{
	sigset_t mask;

	if (temporary__make_folder(inner))
		_exit(1);
	temporary__hold(&mask);
	if (temporary__must_end())
		_exit(2);
	raise(signal);
	if (!temporary__must_end() || !is_there(inner))
		_exit(3);
	temporary__release(&mask);
	_exit(4);
}

TEST(who_holds_signals_can_ask_for_them)
{
	int status;

	enter();
	status = run(hold_and_ask, SIGTERM);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGTERM);
	leave();
}

static void ignore_and_ask(int signal_nr)
{
	sigset_t mask;

	signal(signal_nr, SIG_IGN);
	temporary__hold(&mask);
	raise(signal_nr);
	_exit(temporary__must_end());
}

TEST(what_is_ignored_ends_nothing)
{
	enter();
	CHECK_EQ(run(ignore_and_ask, SIGHUP), 0);
	leave();
}
