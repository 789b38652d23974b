/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Something that is done aside, in a thread that takes no signal, while its caller does
 * something else.
 *
 *	aside__start(&aside, work, data);
 *	...                                   nothing that has to do with @data
 *	err = aside__wait(&aside);            what work() has returned
 *
 * Both functions are for one thread.
 */
#ifndef PERF_GPU_UTIL_ASIDE_H
#define PERF_GPU_UTIL_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

struct aside {
	int (*work)(void *data);
	void *data;
	int ret;
	bool has_thread;
	pthread_t thread;
};

/* Where no thread can be had, it is done at once. */
void aside__start(struct aside *aside, int (*work)(void *data), void *data);

/* Wait for what was started, once. Return: what it returned. */
int aside__wait(struct aside *aside);

#endif
