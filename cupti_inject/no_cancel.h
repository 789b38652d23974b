/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that wait are where pthread_cancel() ends a thread. The target's launches
 * make none; ours would end its thread within CUDA, with our locks held for ever. So
 * whatever reads or writes files on the target's threads does it between these two.
 */
#ifndef PERF_GPU_INJECT_NO_CANCEL_H
#define PERF_GPU_INJECT_NO_CANCEL_H

#include <pthread.h>

/* What to give to no_cancel__end(). May be nested. */
static inline int no_cancel__begin(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void no_cancel__end(int before)
{
	pthread_setcancelstate(before, NULL);
}

#endif
