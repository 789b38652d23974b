// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/nvtx_ranges.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"

/* Open ranges, in the order of their beginnings */
struct range_list {
	const struct sidecar_nvtx **items;
	size_t nr, nr_allocated;
};

/* A thread; or, with tid 0, which none has, a process */
struct owner {
	uint32_t log, tid; /* first: key */
	struct range_list open;
};

struct nvtx_ranges {
	const struct sidecar_nvtx **by_time;
	size_t nr, nr_done;
	void *owners; /* tsearch(3) tree */
	struct range_list answer;
};

size_t nvtx_range__name(const struct sidecar_nvtx *range, char *ret, size_t bytes)
{
	return (size_t)snprintf(ret, bytes, "%.*s%s%.*s", NVTX_RANGE_MAX_DOMAIN_BYTES,
				range->domain, *range->domain ? ":" : "",
				NVTX_RANGE_MAX_BYTES, range->name);
}

static bool is_opening(const struct sidecar_nvtx *nvtx)
{
	return nvtx->operation == GPU_LOG_NVTX_PUSH ||
	       nvtx->operation == GPU_LOG_NVTX_START;
}

bool nvtx_ranges__are_in(const struct sidecar *sidecar)
{
	for (size_t i = 0; i < sidecar->nr_nvtx; i++) {
		if (is_opening(&sidecar->nvtx[i]))
			return true;
	}
	return false;
}

static int compare_times(const void *a, const void *b)
{
	const struct sidecar_nvtx *x = *(const struct sidecar_nvtx *const *)a;
	const struct sidecar_nvtx *y = *(const struct sidecar_nvtx *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x > y) - (x < y); /* as they were told */
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void delete_owner(void *data)
{
	struct owner *owner = data;

	free(owner->open.items);
	free(owner);
}

int nvtx_ranges__new(const struct sidecar *sidecar, struct nvtx_ranges **ret)
{
	struct nvtx_ranges *ranges = calloc(1, sizeof(*ranges));

	if (!ranges)
		return -ENOMEM;
	/* One more: calloc(0) may give NULL. */
	ranges->by_time = calloc(sidecar->nr_nvtx + 1, sizeof(*ranges->by_time));
	if (!ranges->by_time) {
		nvtx_ranges__delete(ranges);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sidecar->nr_nvtx; i++)
		if (sidecar->nvtx[i].operation != GPU_LOG_NVTX_MARK)
			ranges->by_time[ranges->nr++] = &sidecar->nvtx[i];
	qsort(ranges->by_time, ranges->nr, sizeof(*ranges->by_time), compare_times);
	*ret = ranges;
	return 0;
}

void nvtx_ranges__delete(struct nvtx_ranges *ranges)
{
	if (!ranges)
		return;
	tdestroy(ranges->owners, delete_owner);
	free(ranges->answer.items);
	free(ranges->by_time);
	free(ranges);
}

static int range_list__add(struct range_list *list, const struct sidecar_nvtx *range)
{
	if (list->nr == list->nr_allocated) {
		size_t nr = list->nr ? 2 * list->nr : 8;
		const struct sidecar_nvtx **items =
			reallocarray(list->items, nr, sizeof(*items));

		if (!items)
			return -ENOMEM;
		list->items = items;
		list->nr_allocated = nr;
	}
	list->items[list->nr++] = range;
	return 0;
}

static bool ends(const struct sidecar_nvtx *end, const struct sidecar_nvtx *range)
{
	if (end->operation == GPU_LOG_NVTX_END)
		return range->range == end->range;
	return !strcmp(range->domain, end->domain);
}

/* The last that is ended by it, if there is one */
static void range_list__remove(struct range_list *list, const struct sidecar_nvtx *end)
{
	size_t i = list->nr;

	while (i && !ends(end, list->items[i - 1]))
		i--;
	if (!i)
		return;
	memmove(&list->items[i - 1], &list->items[i],
		(list->nr - i) * sizeof(*list->items));
	list->nr--;
}

static struct owner *find_owner(const struct nvtx_ranges *ranges, uint32_t log,
				uint32_t tid)
{
	const struct owner key = {.log = log, .tid = tid};
	struct owner **found = tfind(&key, &ranges->owners, compare_owners);

	return found ? *found : NULL;
}

/* NULL without memory */
static struct owner *make_owner(struct nvtx_ranges *ranges, uint32_t log, uint32_t tid)
{
	struct owner *owner = find_owner(ranges, log, tid);

	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->log = log;
	owner->tid = tid;
	if (tsearch(owner, &ranges->owners, compare_owners))
		return owner;
	free(owner);
	return NULL;
}

static int apply(struct nvtx_ranges *ranges, const struct sidecar_nvtx *nvtx)
{
	bool is_of_process = nvtx->operation == GPU_LOG_NVTX_START ||
			     nvtx->operation == GPU_LOG_NVTX_END;
	size_t max =
		is_of_process ? NVTX_RANGES_MAX_OF_PROCESS : NVTX_RANGES_MAX_OF_THREAD;
	uint32_t tid = is_of_process ? 0 : nvtx->tid;
	struct owner *owner;

	switch (nvtx->operation) {
	case GPU_LOG_NVTX_PUSH:
	case GPU_LOG_NVTX_START:
		owner = make_owner(ranges, nvtx->log, tid);
		if (!owner)
			return -ENOMEM;
		return owner->open.nr < max ? range_list__add(&owner->open, nvtx) : 0;
	case GPU_LOG_NVTX_POP:
	case GPU_LOG_NVTX_END:
		owner = find_owner(ranges, nvtx->log, tid);
		if (owner)
			range_list__remove(&owner->open, nvtx);
		return 0;
	default:
		return 0; /* of a later writer */
	}
}

static int answer_with(struct nvtx_ranges *ranges, const struct owner *owner)
{
	int err = 0;

	for (size_t i = 0; owner && i < owner->open.nr && !err; i++)
		err = range_list__add(&ranges->answer, owner->open.items[i]);
	return err;
}

ssize_t nvtx_ranges__at(struct nvtx_ranges *ranges, uint32_t log, uint32_t tid,
			uint64_t time_ns, const struct sidecar_nvtx *const **ret)
{
	int err = 0;

	while (ranges->nr_done < ranges->nr &&
	       ranges->by_time[ranges->nr_done]->time_ns <= time_ns && !err)
		err = apply(ranges, ranges->by_time[ranges->nr_done++]);
	ranges->answer.nr = 0;
	if (!err)
		err = answer_with(ranges, find_owner(ranges, log, 0));
	if (!err && tid)
		err = answer_with(ranges, find_owner(ranges, log, tid));
	if (err)
		return err;
	*ret = ranges->answer.items;
	return (ssize_t)ranges->answer.nr;
}
