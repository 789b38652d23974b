// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sweep over the time of each GPU of each process. Kernels that have begun lie on a
 * stack, the last one on top; what has ended is taken off when it gets there, since
 * nothing that comes later can be within it.
 */
#include "join/faults.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu_log.h"

/* A kernel's start, or a migration's */
struct moment {
	const struct sidecar_activity *activity;
	uint32_t device;
	bool is_migration;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_places(const struct moment *x, const struct moment *y)
{
	int order = compare_u64(x->activity->log, y->activity->log);

	return order ? order : compare_u64(x->device, y->device);
}

/* Kernels come before the migrations of the same time: they run by then. */
static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	int order = compare_places(x, y);

	if (!order)
		order = compare_u64(x->activity->start_ns, y->activity->start_ns);
	if (!order)
		order = x->is_migration - y->is_migration;
	if (!order)
		order = compare_u64(x->activity->correlation_id,
				    y->activity->correlation_id);
	return order ? order : (x->activity > y->activity) - (x->activity < y->activity);
}

bool faults__is_migration(const struct sidecar_shape *shape)
{
	return shape->what == GPU_LOG_FAULT_HTOD || shape->what == GPU_LOG_FAULT_DTOH ||
	       shape->what == GPU_LOG_FAULT_DTOD;
}

/* The GPU that a migration is of: the one that it is said to be, else where it goes. */
static uint32_t device_of(const struct sidecar_shape *shape)
{
	if (shape->device != GPU_LOG_NO_DEVICE)
		return shape->device;
	if (shape->dst_device != GPU_LOG_NO_DEVICE)
		return shape->dst_device;
	return shape->src_device;
}

static size_t list_moments(const struct sidecar *sidecar, struct moment *ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < sidecar->nr_activities; i++) {
		const struct sidecar_activity *activity = &sidecar->activities[i];
		const struct sidecar_shape *shape = &sidecar->shapes[activity->shape];
		struct moment moment = {.activity = activity};

		if (!activity->start_ns)
			continue;
		if (shape->kind == GPU_LOG_KIND_KERNEL) {
			moment.device = shape->device;
		} else if (shape->kind == GPU_LOG_KIND_FAULT &&
			   faults__is_migration(shape)) {
			moment.device = device_of(shape);
			moment.is_migration = true;
		} else {
			continue;
		}
		ret[nr++] = moment;
	}
	return nr;
}

/* @running: room for all kernels */
static void sweep(const struct sidecar *sidecar, const struct moment *moments, size_t nr,
		  const struct sidecar_activity **running, struct faults *faults)
{
	size_t nr_running = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct moment *moment = &moments[i];
		const struct sidecar_activity *activity = moment->activity;

		if (i && compare_places(&moments[i - 1], moment))
			nr_running = 0;
		while (nr_running &&
		       running[nr_running - 1]->end_ns <= activity->start_ns)
			nr_running--;
		if (!moment->is_migration)
			running[nr_running++] = activity;
		else if (nr_running)
			faults->kernels[activity - sidecar->activities] =
				running[nr_running - 1];
	}
}

int faults__find(const struct sidecar *sidecar, struct faults *ret)
{
	/* One more: calloc(0) may give NULL. */
	const size_t nr_room = sidecar->nr_activities + 1;
	struct moment *moments = calloc(nr_room, sizeof(*moments));
	const struct sidecar_activity **running = calloc(nr_room, sizeof(*running));
	struct faults faults = {.kernels = calloc(nr_room, sizeof(*faults.kernels))};
	int err = -ENOMEM;
	size_t nr;

	if (!moments || !running || !faults.kernels)
		goto out;
	nr = list_moments(sidecar, moments);
	qsort(moments, nr, sizeof(*moments), compare_moments);
	sweep(sidecar, moments, nr, running, &faults);
	*ret = faults;
	faults.kernels = NULL;
	err = 0;
out:
	free(faults.kernels);
	free(running);
	free(moments);
	return err;
}

void faults__release(struct faults *faults)
{
	free(faults->kernels);
	faults->kernels = NULL;
}
