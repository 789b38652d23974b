// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/thread.h"

#include <signal.h>
#include <stddef.h>

int thread__start(pthread_t *ret, void *(*run)(void *data), void *data)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret, NULL, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}
