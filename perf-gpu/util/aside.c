// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/aside.h"

#include <stddef.h>

#include "util/thread.h"

static void *run(void *data)
{
	struct aside *aside = data;

	aside->ret = aside->work(aside->data);
	return NULL;
}

void aside__start(struct aside *aside, int (*work)(void *data), void *data)
{
	*aside = (struct aside){.work = work, .data = data};
	aside->has_thread = !thread__start(&aside->thread, run, aside);
	if (!aside->has_thread)
		run(aside);
}

int aside__wait(struct aside *aside)
{
	if (aside->has_thread)
		pthread_join(aside->thread, NULL);
	return aside->ret;
}
