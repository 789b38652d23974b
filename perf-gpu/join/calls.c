// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/calls.h"

#include <errno.h>
#include <stdlib.h>

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_keys(const struct sidecar_api_call *x,
			const struct sidecar_api_call *y)
{
	int order = compare_u64(x->log, y->log);

	return order ? order : compare_u64(x->correlation_id, y->correlation_id);
}

/* Of one key, the outermost is first, and what has no time last. */
static int compare_calls(const void *a, const void *b)
{
	const struct sidecar_api_call *x = *(const struct sidecar_api_call *const *)a;
	const struct sidecar_api_call *y = *(const struct sidecar_api_call *const *)b;
	int order = compare_keys(x, y);

	if (!order)
		order = (y->start_ns != 0) - (x->start_ns != 0);
	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	if (!order)
		order = compare_u64(y->end_ns, x->end_ns);
	/* Of two at the same time, as a coarse clock has them: the runtime's */
	return order ? order : compare_u64(y->api, x->api);
}

int calls__init(const struct sidecar *sidecar, struct calls *ret)
{
	struct calls calls = {0};

	/* One more: calloc(0) may give NULL. */
	calls.items = calloc(sidecar->nr_api_calls + 1, sizeof(*calls.items));
	if (!calls.items)
		return -ENOMEM;
	for (size_t i = 0; i < sidecar->nr_api_calls; i++)
		calls.items[i] = &sidecar->api_calls[i];
	qsort(calls.items, sidecar->nr_api_calls, sizeof(*calls.items), compare_calls);
	for (size_t i = 0; i < sidecar->nr_api_calls; i++)
		if (!calls.nr || compare_keys(calls.items[calls.nr - 1], calls.items[i]))
			calls.items[calls.nr++] = calls.items[i];
	*ret = calls;
	return 0;
}

void calls__release(struct calls *calls)
{
	free(calls->items);
	*calls = (struct calls){0};
}

const struct sidecar_api_call *calls__find(const struct calls *calls, uint32_t log,
					   uint64_t correlation_id)
{
	const struct sidecar_api_call key = {.log = log,
					     .correlation_id = correlation_id};
	size_t low = 0, high = calls->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(calls->items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == calls->nr || compare_keys(calls->items[low], &key))
		return NULL;
	return calls->items[low];
}
