// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names stand in slots, which the signal handler reads: a slot has a whole name or none at
 * any moment.
 */
#include "util/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/owner.h"
#include "util/progress.h"

/* At once; a command writes three files and a folder at most. */
#define NR_SLOTS 16

/* Those that end a program, and that somebody may send; not a fault of our own */
static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};

#define NR_ENDING (sizeof(ending_signals) / sizeof(*ending_signals))

static _Atomic(char *) slots[NR_SLOTS];
static atomic_int maker; /* the process whose files they are; 0: no handler yet */

static void for_all(int (*remove_it)(const char *path))
{
	for (size_t i = 0; i < NR_SLOTS; i++) {
		const char *path = atomic_load(&slots[i]);

		if (path)
			remove_it(path);
	}
}

static void end_by_signal(int signal)
{
	if (getpid() == atomic_load(&maker)) {
		progress__clear_for_good();
		for_all(unlink);
		for_all(rmdir); /* once it is empty */
	}
	raise(signal); /* SA_RESETHAND: it is as if there had been no handler */
}

static void stay_alive(int signal)
{
	(void)signal;
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;

	if (sigaction(signal, NULL, &action) || action.sa_handler != SIG_DFL)
		return;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static void begin(void)
{
	int nobody = 0;

	if (!atomic_compare_exchange_strong(&maker, &nobody, getpid()))
		return;
	for (size_t i = 0; i < NR_ENDING; i++)
		handle(ending_signals[i], end_by_signal, (int)SA_RESETHAND);
	/* The write fails then, which is said. Unlike SIG_IGN it is nothing for a child. */
	handle(SIGXFSZ, stay_alive, SA_RESTART);
}

/* With all slots in use, or no memory, a signal leaves it: it is whole nonetheless. */
static void add(const char *path)
{
	char *copy = strdup(path);

	for (size_t i = 0; i < NR_SLOTS && copy; i++) {
		if (!atomic_load(&slots[i])) {
			atomic_store(&slots[i], copy);
			return;
		}
	}
	free(copy);
}

static void forget(const char *path)
{
	for (size_t i = 0; i < NR_SLOTS; i++) {
		char *found = atomic_load(&slots[i]);

		if (found && !strcmp(found, path)) {
			atomic_store(&slots[i], NULL);
			free(found);
			return;
		}
	}
}

void temporary__hold(sigset_t *ret_mask)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NR_ENDING; i++)
		sigaddset(&set, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &set, ret_mask);
}

void temporary__release(const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
}

bool temporary__must_end(void)
{
	struct sigaction action;
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < NR_ENDING; i++)
		if (sigismember(&pending, ending_signals[i]) > 0 &&
		    !sigaction(ending_signals[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			return true;
	return false;
}

int temporary__make(char *template)
{
	sigset_t mask;
	int fd;

	begin();
	temporary__hold(&mask);
	fd = mkostemp(template, O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		fd = -errno;
	else
		add(template);
	temporary__release(&mask);
	if (fd >= 0)
		owner__give(fd);
	return fd;
}

int temporary__rename(const char *temporary, const char *path)
{
	sigset_t mask;
	int err = 0;

	temporary__hold(&mask);
	if (rename(temporary, path))
		err = -errno;
	else
		forget(temporary);
	temporary__release(&mask);
	return err;
}

int temporary__replace(const char *temporary, const char *path, bool *ret_has_old)
{
	sigset_t mask;
	int err = 0;

	*ret_has_old = !renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE);
	if (*ret_has_old)
		return 0;
	/* There is none, or the file system can't, as NFS: the old one is gone then. */
	temporary__hold(&mask);
	if ((errno != ENOENT && errno != EINVAL && errno != ENOSYS) ||
	    rename(temporary, path))
		err = -errno;
	else
		forget(temporary);
	temporary__release(&mask);
	return err;
}

void temporary__take_back(const char *temporary, const char *path, bool has_old)
{
	if (!has_old || renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE))
		remove(path);
}

void temporary__keep(const char *temporary)
{
	forget(temporary);
}

void temporary__remove(const char *temporary)
{
	unlink(temporary);
	forget(temporary);
}

int temporary__make_folder(const char *path)
{
	sigset_t mask;
	int err = 0;

	begin();
	temporary__hold(&mask);
	if (mkdir(path, 0755))
		err = -errno;
	else
		add(path);
	temporary__release(&mask);
	if (!err)
		owner__give_folder(path);
	return err;
}

void temporary__keep_folder(const char *path)
{
	forget(path);
}

void temporary__remove_folder(const char *path)
{
	rmdir(path);
	forget(path);
}
