/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user that a command is run as, when that isn't the recorder's own (--run-as).
 * One thread.
 */
#ifndef PERF_GPU_RECORD_IDENTITY_H
#define PERF_GPU_RECORD_IDENTITY_H

#include <sys/types.h>

struct identity {
	char *name, *home, *shell;
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* all of the user's, gid among them */
	int nr_groups;
};

/**
 * identity__find - look a user up
 * @name: as in passwd(5)
 * @ret:  released by identity__release(); written on success only
 *
 * Return: 0 or a negative errno, printed: -ENOENT for no such user, -EPERM if the
 * recorder may not become another user.
 */
int identity__find(const char *name, struct identity *ret);

/**
 * identity__assume - become that user, for good, in a process that will execute a
 * command
 *
 * No capability is left. HOME, USER, LOGNAME and SHELL become the user's.
 *
 * Return: 0 or a negative errno, not printed: the process must go no further.
 */
int identity__assume(const struct identity *identity);

/**
 * identity__access - would the user get at a file?
 * @mode: as of access(2)
 *
 * Return: 0 or a negative errno, not printed.
 */
int identity__access(const struct identity *identity, const char *path, int mode);

void identity__release(struct identity *identity); /* all 0 is fine */

#endif
