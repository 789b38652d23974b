// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that wait for a stream, an event or a context, and the records of it. */
#include "driver.h"

#define TYPE(name_) CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_##name_

/* Queries are told as what they ask whether it would wait. */
static const CUpti_ActivitySynchronizationType types[NR_WAITS] = {
	[WAIT_EVENT] = TYPE(EVENT_SYNCHRONIZE),
	[WAIT_STREAM_WAIT_EVENT] = TYPE(STREAM_WAIT_EVENT),
	[WAIT_STREAM] = TYPE(STREAM_SYNCHRONIZE),
	[WAIT_CONTEXT] = TYPE(CONTEXT_SYNCHRONIZE),
	[WAIT_EVENT_QUERY] = TYPE(EVENT_SYNCHRONIZE),
	[WAIT_STREAM_QUERY] = TYPE(STREAM_SYNCHRONIZE),
};

void wait__tell(enum wait which, const struct wait_about *about, uint64_t start_ns,
		CUresult result)
{
	const struct fake_wait wait = {
		.type = types[which],
		.is_query = which == WAIT_EVENT_QUERY || which == WAIT_STREAM_QUERY,
		.result = result,
		.start_ns = start_ns,
		.end_ns = clock_ns(),
		.correlation_id = driver_thread()->common.correlation_id,
		.context = about->context,
		.stream = about->stream,
		.event = about->event,
		.event_sync = about->event_sync,
	};

	if (fork_page__is_forked())
		return;
	truth__add_wait(which, wait.end_ns - wait.start_ns);
	if (fake_tools__wants(&tools, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION))
		atomic_load(&tools.hooks)->wait(&wait);
}

void wait__for(enum wait which, const struct wait_about *about, uint64_t until_ns)
{
	uint64_t start_ns = clock_ns();

	/* What a forked child has is its parent's, which it can't wait for. */
	if (fork_page__is_forked())
		return;
	wait_until(until_ns);
	wait__tell(which, about, start_ns, CUDA_SUCCESS);
}
