/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals to the recorder while a command runs: read from a file descriptor, so
 * that there is no handler, and passed on where the command hasn't got them.
 * One thread; one at a time.
 */
#ifndef PERF_GPU_RECORD_SIGNALS_H
#define PERF_GPU_RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
	int fd; /* readable when there is a signal */
	bool is_asked_to_switch; /* SIGUSR2 was read; whoever does it takes it back */
	int end_signal; /* SIGINT or the like, the first that was read; 0: none was */
	bool is_int_ignored; /* the terminal's: a ^C isn't for a job in the background */
	sigset_t caller_mask;
};

/**
 * signals__open - block SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGUSR2, and read them
 *
 * SIGPIPE and SIGXFSZ are blocked too: a failed write has its errno, and must not
 * end the recorder. A signal that it was started with as ignored (nohup) stays
 * so, but for a SIGINT that a process sends. The command must be started with @ret->caller_mask.
 *
 * Return: 0 or a negative errno, printed.
 */
int signals__open(struct signals *ret);

/**
 * signals__read - the next signal that came
 * @ret_pass_on: what to send to the command; 0 for nothing: a signal that the
 *               terminal sent has reached the command as well, which decides
 *
 * Return: true if there was one.
 */
bool signals__read(struct signals *signals, int *ret_pass_on);

/**
 * signals__end_signal - what asks the recorder to end, before there is a command to ask
 *
 * Reads all that came. What the terminal sends has not reached a command that is not forked
 * yet: it must not be started then.
 *
 * Return: the number of the first such signal, also of an earlier signals__read(); 0: none.
 */
int signals__end_signal(struct signals *signals);

/*
 * They stay blocked: all is done by then, and who still wants the end has it at once, with the
 * status that belongs to it.
 */
void signals__close(struct signals *signals);

#endif
