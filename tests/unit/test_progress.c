// SPDX-License-Identifier: GPL-2.0-or-later
/* The line that tells how far a command is, on a terminal of the test's own. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "util/log.h"
#include "util/progress.h"

#define CLEAR "\r\033[K"

static int master = -1;

/* The terminal is the case's own: it is in the foreground. */
static void take_terminal(unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int slave;

	CHECK(!openpty(&master, &slave, NULL, NULL, &size));
	if (setsid() < 0) /* the leader of a group, as one that is debugged: */
		SKIP("no session of its own can be had");
	CHECK(!ioctl(slave, TIOCSCTTY, 0));
	dup2(slave, STDERR_FILENO);
	log__set_command("inject");
}

/* What the terminal gets, until it has @wanted; without it the case's time runs out. */
static const char *read_until(const char *wanted)
{
	static char text[4096];
	size_t nr = 0;

	text[0] = '\0';
	while (!strstr(text, wanted)) {
		ssize_t n = read(master, text + nr, sizeof(text) - 1 - nr);

		CHECK(n > 0);
		nr += (size_t)n;
		text[nr] = '\0';
	}
	return text;
}

static bool has_more(int ms)
{
	struct pollfd fd = {.fd = master, .events = POLLIN};

	return poll(&fd, 1, ms) > 0;
}

TEST(the_line_tells_the_share)
{
	take_terminal(80);
	progress__begin("reading", "perf.data", 200);
	progress__at(90);
	CHECK(strstr(read_until("]"),
		     CLEAR "[ perf-gpu inject: reading perf.data: 45 % ]"));
	progress__end();
	read_until(CLEAR);
	CHECK(!has_more(0));
}

TEST(what_has_no_total_has_no_share)
{
	take_terminal(80);
	progress__begin("sorting", NULL, 0);
	read_until("[ perf-gpu inject: sorting... ]");
	progress__end();
}

TEST(more_than_all_is_all)
{
	take_terminal(80);
	progress__begin("reading", "perf.data", 100);
	progress__at(1000);
	read_until("100 %");
	progress__end();
}

TEST(a_step_goes_on_behind_one_within_it)
{
	struct progress_step outer;

	take_terminal(80);
	progress__begin("joining", NULL, 100);
	progress__at(40);
	progress__begin_within("fetching symbols of", "/lib/x.so", &outer);
	read_until("fetching symbols of /lib/x.so... ]");
	progress__resume(&outer);
	read_until("joining: 40 % ]");
	progress__end();
}

TEST(a_message_has_a_line_of_its_own)
{
	const char *text;

	take_terminal(80);
	progress__begin("reading", "perf.data", 100);
	read_until("]");
	pr_warning("it is odd");
	text = read_until("odd");
	CHECK(strstr(text, CLEAR "perf-gpu inject: warning: it is odd"));
	read_until("reading"); /* and then it is there again */
	progress__end();
}

TEST(the_line_is_no_longer_than_the_terminal)
{
	take_terminal(20);
	progress__begin("reading", "a_path_that_is_much_longer_than_that", 100);
	read_until(CLEAR "[ perf-gpu inject: \r\033[K");
	progress__end();
}

TEST(names_are_not_obeyed)
{
	take_terminal(80);
	progress__begin("reading", "a\033[2Jb\xff", 100);
	read_until("reading a?[2Jb?: 0 %");
	progress__end();
}

TEST(nothing_once_something_is_written_to_a_pipe)
{
	int fds[2];

	take_terminal(80);
	CHECK(!pipe(fds));
	progress__begin("reading", "perf.data", 100);
	read_until("]");
	progress__yield_to(fds[1]);
	read_until(CLEAR);
	progress__begin("writing", NULL, 100);
	CHECK(!has_more(1500));
	progress__end();
}

TEST(a_regular_file_is_no_pipe)
{
	FILE *file = tmpfile();

	take_terminal(80);
	CHECK(file);
	progress__begin("reading", "perf.data", 100);
	progress__yield_to(fileno(file));
	read_until("]");
	progress__end();
	fclose(file);
}

TEST(quiet_is_quiet)
{
	take_terminal(80);
	log_verbosity = -1;
	progress__begin("reading", "perf.data", 100);
	CHECK(!has_more(1500));
	progress__end();
}

TEST(nothing_where_stderr_is_no_terminal)
{
	int fds[2];
	char c;

	CHECK(!pipe2(fds, O_NONBLOCK));
	dup2(fds[1], STDERR_FILENO);
	progress__begin("reading", "perf.data", 100);
	poll(NULL, 0, 1500);
	CHECK(read(fds[0], &c, 1) < 0 && errno == EAGAIN);
	progress__end();
}

TEST(nothing_in_the_background)
{
	pid_t child;
	int status;

	take_terminal(80);
	child = fork();
	if (!child) {
		setpgid(0, 0); /* the terminal is the parent's */
		signal(SIGTTOU, SIG_IGN);
		progress__begin("reading", "perf.data", 100);
		poll(NULL, 0, 1500);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK(!has_more(0));
}
