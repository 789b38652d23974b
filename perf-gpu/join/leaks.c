// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/leaks.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu_log.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_places(const struct sidecar_activity *x,
			  const struct sidecar_activity *y)
{
	int order = compare_u64(x->log, y->log);

	return order ? order : compare_u64(x->address, y->address);
}

/* What happened at one address, in its order; at one time, in the log's. */
static int compare_records(const void *a, const void *b)
{
	const struct sidecar_activity *x = *(const struct sidecar_activity *const *)a;
	const struct sidecar_activity *y = *(const struct sidecar_activity *const *)b;
	int order = compare_places(x, y);

	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	return order ? order : (x > y) - (x < y);
}

static bool is_static(const struct sidecar_shape *shape)
{
	return shape->dst_kind == GPU_LOG_MEMORY_DEVICE_STATIC ||
	       shape->dst_kind == GPU_LOG_MEMORY_MANAGED_STATIC;
}

/* The record of an allocation is a leak unless the next one is of the same place. */
static void look_at(const struct sidecar *sidecar, const struct sidecar_activity *record,
		    const struct sidecar_activity *before,
		    const struct sidecar_activity *next, struct leaks *leaks)
{
	const struct sidecar_shape *shape = &sidecar->shapes[record->shape];
	bool is_last = !next || compare_places(record, next);
	bool is_known = before && !compare_places(before, record) &&
			sidecar->shapes[before->shape].what == GPU_LOG_ALLOCATED;

	if (shape->what == GPU_LOG_FREED && !is_known)
		leaks->nr_unknown_frees++;
	if (shape->what != GPU_LOG_ALLOCATED || !is_last || is_static(shape))
		return;
	leaks->is_leak[record - sidecar->activities] = true;
	leaks->nr_leaks++;
}

int leaks__find(const struct sidecar *sidecar, struct leaks *ret)
{
	/* One more: calloc(0) may give NULL. */
	const struct sidecar_activity **records =
		calloc(sidecar->nr_activities + 1, sizeof(*records));
	struct leaks leaks = {0};
	size_t nr = 0;

	leaks.is_leak = calloc(sidecar->nr_activities + 1, sizeof(*leaks.is_leak));
	if (!records || !leaks.is_leak) {
		free(records);
		leaks__release(&leaks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sidecar->nr_activities; i++) {
		const struct sidecar_activity *activity = &sidecar->activities[i];

		if (sidecar->shapes[activity->shape].kind == GPU_LOG_KIND_MEMORY)
			records[nr++] = activity;
	}
	qsort(records, nr, sizeof(*records), compare_records);
	for (size_t i = 0; i < nr; i++)
		look_at(sidecar, records[i], i ? records[i - 1] : NULL,
			i + 1 < nr ? records[i + 1] : NULL, &leaks);
	free(records);
	*ret = leaks;
	return 0;
}

void leaks__release(struct leaks *leaks)
{
	free(leaks->is_leak);
	*leaks = (struct leaks){0};
}
