/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that looks through the GPU records while samples are joined and written: what
 * is made of all of them at once, as how GPUs spent their time, needs nothing else.
 *
 *	sidecar_thread__new(sidecar, find, data, &thread)
 *	...                                  find(view, data) runs meanwhile
 *	err = sidecar_thread__wait(thread)   data is the caller's again
 *	sidecar_thread__delete(thread)
 *
 * These functions are for one thread, the caller's.
 */
#ifndef PERF_GPU_SIDECAR_SIDECAR_THREAD_H
#define PERF_GPU_SIDECAR_SIDECAR_THREAD_H

#include "sidecar/sidecar.h"

struct sidecar_thread;

/* What the thread does. Return: for sidecar_thread__wait() */
typedef int sidecar_thread_fn(const struct sidecar *sidecar, void *data);

/**
 * sidecar_thread__new - begin; the thread takes no signal
 * @sidecar: must not change, but may be read, until the thread is waited for
 * @data:    the thread's until then
 * @ret:     released by sidecar_thread__delete(); written on success only
 *
 * Where there is no thread to be had, all is done here.
 *
 * Return: 0 or -ENOMEM.
 */
int sidecar_thread__new(const struct sidecar *sidecar, sidecar_thread_fn *fn, void *data,
			struct sidecar_thread **ret);

/* What the function has returned, when it has. */
int sidecar_thread__wait(struct sidecar_thread *thread);

/* Waits, too. NULL is fine. */
void sidecar_thread__delete(struct sidecar_thread *thread);

#endif
