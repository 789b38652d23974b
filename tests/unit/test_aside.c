// SPDX-License-Identifier: GPL-2.0-or-later
/* What is done aside is done once it was waited for, also where there is no thread. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"
#include "util/aside.h"

struct sum {
	unsigned int nr, sum;
};

static int add_up(void *data)
{
	struct sum *sum = data;

	for (unsigned int i = 1; i <= sum->nr; i++)
		sum->sum += i;
	return -(int)sum->nr;
}

static void do_aside(void)
{
	struct sum sums[8] = {{0, 0}};
	struct aside asides[8];

	for (unsigned int i = 0; i < 8; i++) {
		sums[i].nr = i;
		aside__start(&asides[i], add_up, &sums[i]);
	}
	for (unsigned int i = 0; i < 8; i++) {
		CHECK_EQ(aside__wait(&asides[i]), -(int)i);
		CHECK_EQ(sums[i].sum, i * (i + 1) / 2);
	}
}

TEST(it_is_done_when_it_was_waited_for)
{
	for (int i = 0; i < 100; i++)
		do_aside();
}

static int find_mask(void *data)
{
	return pthread_sigmask(SIG_SETMASK, NULL, data);
}

TEST(its_thread_takes_no_signal)
{
	sigset_t mask, own;
	struct aside aside;

	aside__start(&aside, find_mask, &mask);
	CHECK_EQ(aside__wait(&aside), 0);
	CHECK(sigismember(&mask, SIGINT) && sigismember(&mask, SIGWINCH));
	pthread_sigmask(SIG_SETMASK, NULL, &own);
	CHECK(!sigismember(&own, SIGINT));
}

/* A user with as many threads as are allowed gets none more, but root always does. */
TEST(without_a_thread_it_is_done_as_well)
{
	struct rlimit before, none;

	if (!geteuid())
		CHECK_EQ(setresuid(65534, 65534, 65534), 0);
	prctl(PR_SET_DUMPABLE, 1); /* for who looks for leaks at the end */
	CHECK_EQ(getrlimit(RLIMIT_NPROC, &before), 0);
	none = before;
	none.rlim_cur = 0;
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
	do_aside();
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &before), 0);
}
