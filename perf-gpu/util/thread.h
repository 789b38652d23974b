/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_UTIL_THREAD_H
#define PERF_GPU_UTIL_THREAD_H

#include <pthread.h>

/**
 * thread__start - start a thread that takes no signal
 * @ret: as pthread_create(3) has it
 *
 * Signals are for the thread that knows what to do then.
 *
 * Return: 0 or a negative errno of pthread_create(3).
 */
int thread__start(pthread_t *ret, void *(*run)(void *data), void *data);

#endif
