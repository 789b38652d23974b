// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/gpu_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_log.h"
#include "sidecar/activities.h"
#include "sidecar/table.h"
#include "util/hash_index.h"
#include "util/runs.h"
#include "util/sum.h"

struct span {
	uint64_t start_ns, end_ns;
	uint32_t stream, kind;
	size_t gpu; /* index in devices */
};

/* Of spans by their start, the last connected piece of what they cover */
struct cover {
	uint64_t start_ns, end_ns; /* 0: nothing yet */
};

/* Cover a span, too; the part of it that is new begins at the return value. */
static uint64_t cover__add(struct cover *cover, const struct span *span)
{
	uint64_t from = span->start_ns > cover->end_ns ? span->start_ns : cover->end_ns;

	if (span->end_ns <= from)
		return span->end_ns;
	if (span->start_ns > cover->end_ns || !cover->end_ns)
		cover->start_ns = span->start_ns;
	cover->end_ns = span->end_ns;
	return from;
}

/* How much of [from, to) is covered, where nothing before @from's piece matters */
static uint64_t cover__common(const struct cover *cover, uint64_t from, uint64_t to)
{
	uint64_t start = from > cover->start_ns ? from : cover->start_ns;
	uint64_t end = to < cover->end_ns ? to : cover->end_ns;

	return end > start ? end - start : 0;
}

/* A kernel or a copy: @own is what such ones cover, @other the others. */
static void add_kind(struct gpu_time *gpu, const struct span *span, struct cover *own,
		     const struct cover *other, uint64_t *own_ns)
{
	uint64_t from = cover__add(own, span);

	/*
	 * Each moment is counted once: when the later of the two that cover it comes.
	 * Pieces of @other before the last one end before this span begins.
	 */
	sum__add(own_ns, span->end_ns - from);
	sum__add(&gpu->overlap_ns, cover__common(other, from, span->end_ns));
}

static void add_span(struct gpu_time *gpu, const struct span *span, struct cover *kernels,
		     struct cover *copies)
{
	if (!gpu->nr_activities++)
		gpu->first_ns = gpu->last_ns = span->start_ns;
	if (span->start_ns > gpu->last_ns) {
		gpu->nr_gaps++;
		sum__add(&gpu->idle_ns, span->start_ns - gpu->last_ns);
		gpu->last_ns = span->start_ns;
	}
	if (span->end_ns > gpu->last_ns) {
		sum__add(&gpu->busy_ns, span->end_ns - gpu->last_ns);
		gpu->last_ns = span->end_ns;
	}
	if (span->kind == GPU_LOG_KIND_KERNEL)
		add_kind(gpu, span, kernels, copies, &gpu->kernels_ns);
	else if (span->kind == GPU_LOG_KIND_MEMCPY)
		add_kind(gpu, span, copies, kernels, &gpu->copies_ns);
}

/* A GPU, or a stream of it, and what of it is covered */
struct lane {
	size_t gpu;
	int64_t stream; /* -1: all of the GPU's */
	struct gpu_time time;
	struct cover kernels, copies;
};

#define NO_GPU SIZE_MAX

/* What a shape's activities are, looked up once for all of them */
struct work {
	size_t gpu; /* index in devices; NO_GPU: they are no work of one */
	uint32_t stream, kind;
};

/* What is found */
struct finder {
	const struct sidecar *sidecar;
	struct devices *devices;
	struct work *works; /* by shape */
	bool by_stream;
	struct runs runs; /* of activities by start */
	struct lane *lanes;
	size_t nr;
	struct hash_index index; /* of lanes */
};

static struct work work_of(const struct finder *finder, const struct sidecar_shape *shape)
{
	struct work work = {.gpu = NO_GPU, .stream = shape->stream, .kind = shape->kind};
	ssize_t gpu;

	if (shape->kind != GPU_LOG_KIND_KERNEL && shape->kind != GPU_LOG_KIND_MEMCPY &&
	    shape->kind != GPU_LOG_KIND_MEMSET)
		return work;
	gpu = devices__find(finder->devices, shape->log, shape->device);
	if (gpu >= 0)
		work.gpu = (size_t)gpu;
	return work;
}

static int finder__list_works(struct finder *finder)
{
	size_t nr = finder->sidecar->nr_shapes;

	finder->works = calloc(nr + 1, sizeof(*finder->works));
	if (!finder->works)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		finder->works[i] = work_of(finder, &finder->sidecar->shapes[i]);
	return 0;
}

/* Is an activity work of a GPU, at a time that is known? */
static bool finder__make_span(const struct finder *finder,
			      const struct sidecar_activity *activity, struct span *ret)
{
	const struct work *work = &finder->works[activity->shape];

	if (work->gpu == NO_GPU || !activity->start_ns)
		return false;
	*ret = (struct span){
		.start_ns = activity->start_ns,
		.end_ns = activity->end_ns,
		.stream = work->stream,
		.kind = work->kind,
		.gpu = work->gpu,
	};
	return true;
}

static uint64_t next_span(void *data, uint64_t *place)
{
	const struct finder *finder = data;
	uint32_t log = sidecar__log_at(finder->sidecar, *place);
	struct sidecar_activity activity;
	uint64_t at = *place, before;
	struct span span;

	do {
		before = at;
		sidecar__activity_behind(finder->sidecar, log, &at, &activity);
		if (at == before)
			return 0;
	} while (!finder__make_span(finder, &activity, &span));
	*place = at;
	return span.start_ns;
}

static int finder__find_runs(struct finder *finder)
{
	struct activity_walk walk = {.sidecar = finder->sidecar};
	struct sidecar_activity activity;
	struct span span;
	uint64_t place;

	while (activity_walk__next(&walk, &activity, &place)) {
		if (activity_walk__is_first(&walk, place))
			runs__close(&finder->runs);
		if (finder__make_span(finder, &activity, &span) &&
		    runs__add(&finder->runs, span.start_ns, place))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t hash_of(size_t gpu, int64_t stream)
{
	return hash__mix(hash__mix(0, gpu), (uint64_t)stream);
}

static struct lane *finder__append(struct finder *finder, size_t gpu, int64_t stream)
{
	const struct sidecar_device *device = devices__description(finder->devices, gpu);
	struct lane *lane = table__grow(finder->lanes, finder->nr, sizeof(*lane));

	if (!lane)
		return NULL;
	finder->lanes = lane;
	if (hash_index__add(&finder->index, hash_of(gpu, stream), (uint32_t)finder->nr))
		return NULL;
	lane += finder->nr++;
	*lane = (struct lane){.gpu = gpu, .stream = stream};
	lane->time.number = devices__shown_number(finder->devices, gpu);
	lane->time.stream = stream;
	snprintf(lane->time.name, sizeof(lane->time.name), "%s",
		 device ? device->name : "");
	return lane;
}

static struct lane *finder__lane(struct finder *finder, size_t gpu, int64_t stream)
{
	struct hash_cursor cursor =
		hash_index__find(&finder->index, hash_of(gpu, stream));
	uint32_t i;

	while (hash_index__next(&finder->index, &cursor, &i))
		if (finder->lanes[i].gpu == gpu && finder->lanes[i].stream == stream)
			return &finder->lanes[i];
	return finder__append(finder, gpu, stream);
}

static int finder__add(struct finder *finder, const struct span *span)
{
	struct lane *lane = finder__lane(finder, span->gpu, -1);

	if (!lane)
		return -ENOMEM;
	add_span(&lane->time, span, &lane->kernels, &lane->copies);
	if (!finder->by_stream)
		return 0;
	lane = finder__lane(finder, span->gpu, span->stream);
	if (!lane)
		return -ENOMEM;
	add_span(&lane->time, span, &lane->kernels, &lane->copies);
	return 0;
}

/* All spans, by their start */
static int finder__run(struct finder *finder)
{
	struct sidecar_activity activity;
	uint64_t start_ns, place;
	struct runs_walk walk;
	struct span span;
	int err = finder__list_works(finder);

	if (!err)
		err = finder__find_runs(finder);
	if (err || runs_walk__begin(&walk, &finder->runs, next_span, finder))
		return -ENOMEM;
	while (!err && runs_walk__next(&walk, &start_ns, &place)) {
		sidecar__activity(finder->sidecar,
				  sidecar__log_at(finder->sidecar, place), place,
				  &activity);
		if (finder__make_span(finder, &activity, &span))
			err = finder__add(finder, &span);
	}
	runs_walk__end(&walk);
	return err;
}

/* GPUs first, then their streams */
static int compare_lanes(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	if ((x->stream < 0) != (y->stream < 0))
		return x->stream < 0 ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return (x->stream > y->stream) - (x->stream < y->stream);
}

static int finder__take(struct finder *finder, struct gpu_time **ret, size_t *ret_nr)
{
	struct gpu_time *gpus = calloc(finder->nr + 1, sizeof(*gpus));

	if (!gpus)
		return -ENOMEM;
	if (finder->nr)
		qsort(finder->lanes, finder->nr, sizeof(*finder->lanes), compare_lanes);
	for (size_t i = 0; i < finder->nr; i++)
		gpus[i] = finder->lanes[i].time;
	*ret = gpus;
	*ret_nr = finder->nr;
	return 0;
}

int gpu_time__find(const struct sidecar *sidecar, bool by_stream, struct gpu_time **ret,
		   size_t *ret_nr)
{
	struct finder finder = {.sidecar = sidecar, .by_stream = by_stream};
	int err;

	if (devices__new(sidecar, &finder.devices))
		return -ENOMEM;
	err = finder__run(&finder);
	if (!err)
		err = finder__take(&finder, ret, ret_nr);
	runs__release(&finder.runs);
	hash_index__release(&finder.index);
	free(finder.lanes);
	free(finder.works);
	devices__delete(finder.devices);
	return err;
}
