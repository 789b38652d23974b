// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/log.h"

static const int taken_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

int signals__open(struct signals *ret)
{
	struct signals signals = {};
	sigset_t set;
	int err;

	sigemptyset(&set);
	/* Blocked, an ignored signal would arrive after all. */
	for (size_t i = 0; i < sizeof(taken_signals) / sizeof(*taken_signals); i++)
		if (!is_ignored(taken_signals[i]))
			sigaddset(&set, taken_signals[i]);
	/* Ignored or not: a word to the recorder, as perf has it. */
	sigaddset(&set, SIGUSR2);
	/* Scripts end perf in the background by kill -INT, where shells have it ignored. */
	signals.is_int_ignored = is_ignored(SIGINT);
	sigaddset(&set, SIGINT);
	signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals.fd < 0) {
		err = -errno;
		pr_err("can't watch for signals: signalfd: %s", strerror(-err));
		return err;
	}
	sigprocmask(SIG_BLOCK, &set, &signals.caller_mask);
	*ret = signals;
	return 0;
}

bool signals__read(struct signals *signals, int *ret_pass_on)
{
	struct signalfd_siginfo info;

	if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*ret_pass_on = 0;
	if (info.ssi_signo == SIGUSR2) {
		signals->is_asked_to_switch = true;
		return true;
	}
	if (info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL &&
	    signals->is_int_ignored)
		return true;
	if (!signals->end_signal && info.ssi_signo != SIGPIPE &&
	    info.ssi_signo != SIGXFSZ)
		signals->end_signal = (int)info.ssi_signo;
	if (info.ssi_code == SI_KERNEL || info.ssi_signo == SIGPIPE ||
	    info.ssi_signo == SIGXFSZ)
		*ret_pass_on = 0;
	else if (info.ssi_signo == SIGINT)
		/* perf too ends its command with SIGTERM when it is interrupted. */
		*ret_pass_on = SIGTERM;
	else
		*ret_pass_on = (int)info.ssi_signo;
	return true;
}

int signals__end_signal(struct signals *signals)
{
	while (signals__read(signals, &(int){0}))
		;
	return signals->end_signal;
}

void signals__close(struct signals *signals)
{
	if (signals->fd < 0)
		return;
	/* One that came after the command's end has nobody to go to. */
	while (signals__read(signals, &(int){0}))
		;
	close(signals->fd);
	signals->fd = -1;
}
