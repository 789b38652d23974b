/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that runs already and waits for a recorder (record -p): it has the injected
 * library, with a control page (cupti_inject/control_page.h) that is a memfd.
 *
 * The page is opened through /proc, so the kernel has the say whether the recorder's
 * user may; and it is the process's own user's, of the right size, and sealed, so that
 * nothing else can be put in its place and nothing the process does can hurt a recorder
 * that has more rights. One thread.
 */
#ifndef PERF_GPU_RECORD_ATTACH_H
#define PERF_GPU_RECORD_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

struct attached {
	pid_t pid;
	int pidfd; /* readable once it has ended */
	int page_fd; /* of its control page, locked for us */
	int number; /* which the process has for it; -1 if it has closed that */
	uid_t uid; /* of the files that it makes */
};

/**
 * attached__open - find a process's control page, and take it
 * @pid:     of the process
 * @library: which the process must have loaded
 * @ret:     released by attached__close(); written on success only
 *
 * Return: 0 or a negative errno, printed: -ESRCH no such process, -EPERM another user's,
 * -ENODEV it has no library, another, or one that doesn't wait, -EBUSY another recorder
 * has it.
 */
int attached__open(pid_t pid, const char *library, struct attached *ret);

/* Has it ended? */
bool attached__has_ended(const struct attached *attached);

/* Is it still the program that it was? Not after an exec. */
bool attached__has_page(const struct attached *attached);

/* Let it go; by then its page must say CONTROL_IDLE. */
void attached__close(struct attached *attached);

#endif
