// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls, one for each correlation id, sorted by thread and end. */
#include "join/by_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct timed_call {
	struct sidecar_api_call call;
	uint32_t pid;
	uint64_t hit_ns; /* of the latest hit; 0: none */
};

struct by_time {
	struct timed_call *calls;
	size_t nr;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Calls within each other are neighbours then, the outermost first. */
static int compare_nesting(const void *a, const void *b)
{
	const struct timed_call *x = a, *y = b;
	int order = compare_u64(x->call.log, y->call.log);

	if (!order)
		order = compare_u64(x->call.correlation_id, y->call.correlation_id);
	if (!order)
		order = compare_u64(x->call.tid, y->call.tid);
	if (!order)
		order = compare_u64(x->call.start_ns, y->call.start_ns);
	/* Of two at the same time, as a coarse clock has them */
	if (!order)
		order = compare_u64(y->call.end_ns, x->call.end_ns);
	return order ? order : compare_u64(y->call.api, x->call.api);
}

static int compare_threads(const struct timed_call *x, const struct timed_call *y)
{
	int order = compare_u64(x->pid, y->pid);

	return order ? order : compare_u64(x->call.tid, y->call.tid);
}

static int compare_ends(const void *a, const void *b)
{
	const struct timed_call *x = a, *y = b;
	int order = compare_threads(x, y);

	if (!order)
		order = compare_u64(x->call.end_ns, y->call.end_ns);
	/* Whatever qsort() does with equals, the output must be the same again. */
	if (!order)
		order = compare_u64(x->call.log, y->call.log);
	return order ? order
		     : compare_u64(x->call.correlation_id, y->call.correlation_id);
}

static bool is_within(const struct timed_call *outer, const struct timed_call *call)
{
	return outer->call.log == call->call.log &&
	       outer->call.correlation_id == call->call.correlation_id &&
	       outer->call.tid == call->call.tid &&
	       call->call.end_ns <= outer->call.end_ns;
}

static void by_time__drop_inner(struct by_time *by_time)
{
	size_t nr = 0;

	for (size_t i = 0; i < by_time->nr; i++) {
		if (!nr || !is_within(&by_time->calls[nr - 1], &by_time->calls[i]))
			by_time->calls[nr++] = by_time->calls[i];
	}
	by_time->nr = nr;
}

int by_time__new(const struct sidecar *sidecar, struct by_time **ret)
{
	struct by_time *by_time = calloc(1, sizeof(*by_time));

	if (!by_time)
		return -ENOMEM;
	/* One more: calloc(0) may give NULL. */
	by_time->calls = calloc(sidecar->nr_api_calls + 1, sizeof(*by_time->calls));
	if (!by_time->calls) {
		free(by_time);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sidecar->nr_api_calls; i++) {
		const struct sidecar_api_call *call = &sidecar->api_calls[i];

		if (call->end_ns)
			by_time->calls[by_time->nr++] = (struct timed_call){
				.call = *call, .pid = sidecar->logs[call->log].pid};
	}
	qsort(by_time->calls, by_time->nr, sizeof(*by_time->calls), compare_nesting);
	by_time__drop_inner(by_time);
	qsort(by_time->calls, by_time->nr, sizeof(*by_time->calls), compare_ends);
	*ret = by_time;
	return 0;
}

void by_time__delete(struct by_time *by_time)
{
	if (!by_time)
		return;
	free(by_time->calls);
	free(by_time);
}

/* The call that ends first after a hit, on its thread, or NULL. */
static struct timed_call *by_time__find(const struct by_time *by_time,
					const struct probe_hit *hit)
{
	const struct timed_call key = {.pid = hit->pid, .call.tid = hit->tid};
	size_t low = 0, high = by_time->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct timed_call *call = &by_time->calls[middle];
		int order = compare_threads(call, &key);

		if (order < 0 || (!order && call->call.end_ns < hit->time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == by_time->nr || compare_threads(&by_time->calls[low], &key))
		return NULL;
	return &by_time->calls[low];
}

void by_time__tell(struct by_time *by_time, const struct probe_hit *hit)
{
	struct timed_call *call = by_time__find(by_time, hit);

	if (call && call->hit_ns < hit->time_ns)
		call->hit_ns = hit->time_ns;
}

const struct sidecar_api_call *by_time__call(const struct by_time *by_time,
					     const struct probe_hit *hit)
{
	const struct timed_call *call = by_time__find(by_time, hit);

	return call && call->hit_ns == hit->time_ns ? &call->call : NULL;
}

const struct sidecar_api_call *by_time__next(const struct by_time *by_time,
					     size_t *cursor)
{
	while (*cursor < by_time->nr) {
		const struct timed_call *call = &by_time->calls[(*cursor)++];

		if (call->hit_ns)
			return &call->call;
	}
	return NULL;
}
