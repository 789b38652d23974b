// SPDX-License-Identifier: GPL-2.0-or-later
#include "sidecar/sidecar_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sidecar/blocks.h"
#include "util/thread.h"

struct sidecar_thread {
	/*
	 * A view of its own: how much of the file was read, so that pages are given back,
	 * is counted in it.
	 */
	struct sidecar sidecar;
	struct sidecar_file file;
	sidecar_thread_fn *fn;
	void *data;
	pthread_t thread;
	bool is_running;
	int err; /* the thread's while it is running */
};

static void *run(void *data)
{
	struct sidecar_thread *thread = data;

	thread->err = thread->fn(&thread->sidecar, thread->data);
	return NULL;
}

int sidecar_thread__new(const struct sidecar *sidecar, sidecar_thread_fn *fn, void *data,
			struct sidecar_thread **ret)
{
	struct sidecar_thread *new = malloc(sizeof(*new));

	if (!new)
		return -ENOMEM;
	*new = (struct sidecar_thread){.sidecar = *sidecar, .fn = fn, .data = data};
	if (sidecar->file) {
		new->file = *sidecar->file;
		new->sidecar.file = &new->file;
	}
	new->is_running = !thread__start(&new->thread, run, new);
	if (!new->is_running)
		run(new);
	*ret = new;
	return 0;
}

int sidecar_thread__wait(struct sidecar_thread *thread)
{
	if (thread->is_running)
		pthread_join(thread->thread, NULL);
	thread->is_running = false;
	return thread->err;
}

void sidecar_thread__delete(struct sidecar_thread *thread)
{
	if (!thread)
		return;
	sidecar_thread__wait(thread);
	free(thread);
}
