/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whoever makes a file longer than RLIMIT_FSIZE gets a signal, which ends the process: the
 * target's limit would be its end, for a file of ours. So whatever makes files longer does
 * it between these two: SIGXFSZ is blocked, and taken back if it was ours.
 */
#ifndef PERF_GPU_INJECT_NO_XFSZ_H
#define PERF_GPU_INJECT_NO_XFSZ_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

struct no_xfsz {
	sigset_t before;
	bool was_pending;
};

static inline struct no_xfsz no_xfsz__begin(void)
{
	struct no_xfsz state;
	sigset_t xfsz, pending;

	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &xfsz, &state.before);
	sigpending(&pending);
	state.was_pending = sigismember(&pending, SIGXFSZ);
	return state;
}

/* @err: an errno of what has been done since, which stays errno */
static inline void no_xfsz__end(const struct no_xfsz *state, int err)
{
	const struct timespec at_once = {};
	sigset_t xfsz;

	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	if (err == EFBIG && !state->was_pending)
		sigtimedwait(&xfsz, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &state->before, NULL);
	errno = err;
}

#endif
