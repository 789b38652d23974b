/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that is recorded: forked at once, so that probes and side-band
 * events can be put on its pid, but executed only when it is let go.
 *
 * Terminal, stdin and signal dispositions are the recorder's own, untouched; so is
 * the user, unless another is asked for. The rights to record are not handed on. One
 * thread; SIGPIPE is blocked (record/signals.h).
 */
#ifndef PERF_GPU_RECORD_WORKLOAD_H
#define PERF_GPU_RECORD_WORKLOAD_H

#include <signal.h>
#include <sys/types.h>

#include "record/identity.h"

struct workload;

/* Exit statuses of a command that could not be executed, the shell's */
#define WORKLOAD_STATUS_NOT_EXECUTABLE 126
#define WORKLOAD_STATUS_NOT_FOUND      127

/**
 * workload__fork - make the process, which waits
 * @argv:    NULL-terminated; argv[0] is searched in PATH. Kept by reference.
 * @environment: "NAME=value" strings to add, NULL-terminated
 * @mask:    signal mask that the command starts with
 * @identity: the user to run it as; NULL: the recorder's. Kept by reference.
 * @ret:     released by workload__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int workload__fork(const char *const *argv, char *const *environment,
		   const sigset_t *mask, const struct identity *identity,
		   struct workload **ret);

pid_t workload__pid(const struct workload *workload);

/* Readable once the process has ended. */
int workload__pidfd(const struct workload *workload);

/**
 * workload__start - let it execute the command; returns when it has, or can't
 * @ret_status: WORKLOAD_STATUS_* if it can't; untouched otherwise
 *
 * Return: 0 or a negative errno, printed; the process is then gone.
 */
int workload__start(struct workload *workload, int *ret_status);

/* Send it a signal, unless it has ended. */
void workload__signal(const struct workload *workload, int signal);

/* Ask it to end, by SIGTERM: if it does so, that is no failure of its. */
void workload__end(struct workload *workload);

/**
 * workload__wait - wait for its end
 * @ret_status: its exit status, or 128 + n if signal n ended it, which is said
 *
 * Return: 0 or a negative errno, printed.
 */
int workload__wait(struct workload *workload, int *ret_status);

/*
 * Release. A process that was never started is ended; one that runs is left
 * alone. NULL is fine.
 */
void workload__close(struct workload *workload);

#endif
