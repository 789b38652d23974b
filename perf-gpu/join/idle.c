// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/idle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gpu_log.h"
#include "sidecar/activities.h"
#include "util/runs.h"
#include "util/sum.h"
#include "util/array.h"

/* An activity of the GPU that is looked at */
struct span {
	uint64_t start_ns, end_ns;
	uint32_t log;
	uint64_t correlation_id;
	uint64_t place;
};

struct finder {
	const struct sidecar *sidecar;
	const struct devices *devices;
	struct runs *runs; /* by GPU: its work, by start */
	struct idle idle;
	size_t nr_allocated_gaps;
	size_t gpu; /* that is looked at */
	struct span *ties; /* what begins at once there */
	size_t nr_ties, nr_allocated_ties;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of those that begin at once, the one that has the gap is first. */
static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int order = compare_u64(y->log, x->log);

	if (!order)
		order = compare_u64(y->correlation_id, x->correlation_id);
	return order ? order : compare_u64(y->place, x->place);
}

static bool is_work(const struct sidecar *sidecar,
		    const struct sidecar_activity *activity)
{
	switch (sidecar->shapes[activity->shape].kind) {
	case GPU_LOG_KIND_KERNEL:
	case GPU_LOG_KIND_MEMCPY:
	case GPU_LOG_KIND_MEMSET:
		return activity->start_ns != 0;
	default:
		return false;
	}
}

/* The GPU that an activity is work of; negative: it is none. */
static ssize_t gpu_of(const struct finder *finder,
		      const struct sidecar_activity *activity)
{
	if (!is_work(finder->sidecar, activity))
		return -ENOENT;
	return devices__find(finder->devices, activity->log,
			     finder->sidecar->shapes[activity->shape].device);
}

/* The next in its run of the GPU that is looked at (runs_next_fn) */
static uint64_t next_of_gpu(void *data, uint64_t *place)
{
	const struct finder *finder = data;
	uint32_t log = sidecar__log_at(finder->sidecar, *place);
	struct sidecar_activity activity;
	uint64_t at = *place, before;

	do {
		before = at;
		sidecar__activity_behind(finder->sidecar, log, &at, &activity);
	} while (at != before && gpu_of(finder, &activity) != (ssize_t)finder->gpu);
	if (at == before)
		return 0; /* the file has changed */
	*place = at;
	return activity.start_ns;
}

static int find_runs(struct finder *finder)
{
	struct activity_walk walk = {.sidecar = finder->sidecar};
	struct sidecar_activity activity;
	uint64_t place;

	while (activity_walk__next(&walk, &activity, &place)) {
		ssize_t gpu;

		if (activity_walk__is_first(&walk, place))
			for (size_t i = 0; i < finder->idle.nr_gpus; i++)
				runs__close(&finder->runs[i]);
		gpu = gpu_of(finder, &activity);
		if (gpu >= 0 && runs__add(&finder->runs[gpu], activity.start_ns, place))
			return -ENOMEM;
	}
	return 0;
}

static int add_gap(struct finder *finder, const struct span *span)
{
	struct idle *idle = &finder->idle;
	struct idle_gpu *gpu = &idle->gpus[finder->gpu];

	if (array__grow(&idle->gaps, idle->nr_gaps, &finder->nr_allocated_gaps,
			sizeof(*idle->gaps)))
		return -ENOMEM;
	idle->gaps[idle->nr_gaps++] = (struct idle_gap){
		.start_ns = gpu->last_ns,
		.end_ns = span->start_ns,
		.activity = (size_t)span->place,
		.gpu = finder->gpu,
	};
	gpu->nr_gaps++;
	sum__add(&gpu->idle_ns, span->start_ns - gpu->last_ns);
	gpu->last_ns = span->start_ns;
	return 0;
}

static int add_span(struct finder *finder, const struct span *span)
{
	struct idle_gpu *gpu = &finder->idle.gpus[finder->gpu];
	uint64_t log_start_ns = finder->sidecar->logs[span->log].start_ns;

	if (!gpu->nr_activities++) {
		gpu->first_ns = gpu->last_ns = span->start_ns;
		gpu->begin_ns = log_start_ns;
	}
	if (log_start_ns < gpu->begin_ns)
		gpu->begin_ns = log_start_ns;
	if (span->start_ns > gpu->last_ns && add_gap(finder, span))
		return -ENOMEM;
	if (span->end_ns > gpu->last_ns) {
		sum__add(&gpu->busy_ns, span->end_ns - gpu->last_ns);
		gpu->last_ns = span->end_ns;
	}
	return 0;
}

/* What began at once, in the order that decides on the gap before it */
static int add_ties(struct finder *finder)
{
	int err = 0;

	if (finder->nr_ties > 1)
		qsort(finder->ties, finder->nr_ties, sizeof(*finder->ties),
		      compare_spans);
	for (size_t i = 0; i < finder->nr_ties && !err; i++)
		err = add_span(finder, &finder->ties[i]);
	finder->nr_ties = 0;
	return err;
}

static int take(struct finder *finder, uint64_t place)
{
	uint32_t log = sidecar__log_at(finder->sidecar, place);
	struct sidecar_activity activity;
	struct span span;

	sidecar__activity(finder->sidecar, log, place, &activity);
	span = (struct span){
		.start_ns = activity.start_ns,
		.end_ns = activity.end_ns,
		.log = log,
		.correlation_id = activity.correlation_id,
		.place = place,
	};
	if (finder->nr_ties && finder->ties[0].start_ns != span.start_ns &&
	    add_ties(finder))
		return -ENOMEM;
	if (array__grow(&finder->ties, finder->nr_ties, &finder->nr_allocated_ties,
			sizeof(*finder->ties)))
		return -ENOMEM;
	finder->ties[finder->nr_ties++] = span;
	return 0;
}

static int find_gaps(struct finder *finder)
{
	struct runs_walk walk;
	uint64_t key, place;
	int err =
		runs_walk__begin(&walk, &finder->runs[finder->gpu], next_of_gpu, finder);

	if (err)
		return err;
	while (!err && runs_walk__next(&walk, &key, &place))
		err = take(finder, place);
	runs_walk__end(&walk);
	return err ? err : add_ties(finder);
}

int idle__find(const struct sidecar *sidecar, const struct devices *devices,
	       struct idle *ret)
{
	struct finder finder = {
		.sidecar = sidecar,
		.devices = devices,
		.idle.nr_gpus = devices__nr(devices),
	};
	int err = -ENOMEM;

	/* One more: calloc(0) may give NULL. */
	finder.idle.gpus = calloc(finder.idle.nr_gpus + 1, sizeof(*finder.idle.gpus));
	finder.runs = calloc(finder.idle.nr_gpus + 1, sizeof(*finder.runs));
	if (finder.idle.gpus && finder.runs)
		err = find_runs(&finder);
	for (; !err && finder.gpu < finder.idle.nr_gpus; finder.gpu++)
		err = find_gaps(&finder);
	for (size_t i = 0; finder.runs && i < finder.idle.nr_gpus; i++)
		runs__release(&finder.runs[i]);
	free(finder.runs);
	free(finder.ties);
	if (err)
		idle__release(&finder.idle);
	else
		*ret = finder.idle;
	return err;
}

void idle__release(struct idle *idle)
{
	free(idle->gaps);
	free(idle->gpus);
	*idle = (struct idle){0};
}
