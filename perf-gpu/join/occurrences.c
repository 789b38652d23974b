// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/occurrences.h"

#include <errno.h>
#include <stdlib.h>

#include "api_name.h"
#include "join/calls.h"
#include "join/faults.h"
#include "join/leaks.h"
#include "sidecar/activities.h"
#include "sidecar/table.h"
#include "util/sum.h"

/* What occurrences are made of */
struct finder {
	bool are_leaks;
	struct occurrences found;
	struct calls calls;
	struct leaks leaks;
	struct faults faults;
};

static bool finder__wants(const struct finder *finder, enum gpu_log_event event)
{
	return finder->found.events & GPU_LOG_EVENT_BIT(event);
}

static int finder__add(struct finder *finder, const struct occurrence *new)
{
	struct occurrences *found = &finder->found;
	struct event_total *total = &found->totals[new->event];
	struct occurrence *place;

	if (!found->is_streamed) {
		place = TABLE_APPEND(found->items, found->nr);
		if (!place)
			return -ENOMEM;
		*place = *new;
	}
	total->nr++;
	sum__add(&total->period, new->period);
	total->nr_empty += !new->period;
	return 0;
}

static uint64_t duration_ns(const struct sidecar_activity *activity)
{
	return activity->end_ns - activity->start_ns;
}

static struct occurrence occurrence_of(enum gpu_log_event event,
				       const struct sidecar_activity *activity)
{
	return (struct occurrence){
		.event = event,
		.log = activity->log,
		.correlation_id = activity->correlation_id,
		.start_ns = activity->start_ns,
		.activity = activity,
	};
}

/* Of an activity with a duration and bytes, whose own unit is @weight */
static int finder__add_weighed(struct finder *finder, struct occurrence *new,
			       enum event_weight weight)
{
	struct event_total *total = &finder->found.totals[new->event];
	const struct sidecar_activity *activity = new->activity;

	if (finder->found.weight != EVENT_WEIGHT_DEFAULT)
		weight = finder->found.weight;
	new->period = weight == EVENT_WEIGHT_NS ? duration_ns(activity) : activity->bytes;
	sum__add(&total->ns, duration_ns(activity));
	sum__add(&total->bytes, activity->bytes);
	return finder__add(finder, new);
}

/* The events that an activity is, one of those below or none; else GPU_LOG_NR_EVENTS */
static uint32_t streamed_event(const struct sidecar_shape *shape)
{
	switch (shape->kind) {
	case GPU_LOG_KIND_KERNEL:
		return GPU_LOG_EVENT_KERNEL;
	case GPU_LOG_KIND_MEMCPY:
		return GPU_LOG_EVENT_MEMCPY;
	case GPU_LOG_KIND_MEMSET:
		return GPU_LOG_EVENT_MEMSET;
	case GPU_LOG_KIND_SYNC:
		return shape->what == GPU_LOG_SYNC_STREAM_WAIT_EVENT ? GPU_LOG_NR_EVENTS
								     : GPU_LOG_EVENT_SYNC;
	default:
		return GPU_LOG_NR_EVENTS;
	}
}

#define STREAMED_EVENTS                            \
	(GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_KERNEL) | \
	 GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMCPY) | \
	 GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_MEMSET) | \
	 GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_SYNC))

bool occurrences__can_be_streamed(const struct sidecar *sidecar, uint32_t events)
{
	/* The join has 32 bits for a place. */
	return !(events & ~STREAMED_EVENTS) && !sidecar->activities && sidecar->file &&
	       sidecar->file->bytes / 8 <= UINT32_MAX;
}

/* GPU_LOG_NR_EVENTS if it isn't one that is wanted */
static uint32_t wanted_event(const struct occurrences *occurrences, uint32_t shape)
{
	uint32_t event = streamed_event(&occurrences->sidecar->shapes[shape]);

	return occurrences->events & GPU_LOG_EVENT_BIT(event) & STREAMED_EVENTS
		       ? event
		       : GPU_LOG_NR_EVENTS;
}

/* The same; shapes are large, and are asked for several times for each activity. */
static uint32_t event_of(const struct occurrences *occurrences,
			 const struct sidecar_activity *activity)
{
	return occurrences->events_of_shapes
		       ? occurrences->events_of_shapes[activity->shape]
		       : wanted_event(occurrences, activity->shape);
}

static int list_events(struct occurrences *occurrences)
{
	size_t nr = occurrences->sidecar->nr_shapes;

	occurrences->events_of_shapes = malloc(nr + 1);
	if (!occurrences->events_of_shapes)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		occurrences->events_of_shapes[i] = (uint8_t)wanted_event(occurrences, i);
	return 0;
}

bool occurrences__is_wanted(const struct occurrences *occurrences,
			    const struct sidecar_activity *activity)
{
	return event_of(occurrences, activity) != GPU_LOG_NR_EVENTS;
}

bool occurrences__make(const struct occurrences *occurrences,
		       const struct sidecar_activity *activity, struct occurrence *ret)
{
	uint32_t event = event_of(occurrences, activity);
	bool has_bytes = event == GPU_LOG_EVENT_MEMCPY || event == GPU_LOG_EVENT_MEMSET;

	if (event == GPU_LOG_NR_EVENTS)
		return false;
	/* One by one: to read two that were just written at once takes the processor 5 ns. */
	ret->correlation_id = activity->correlation_id;
	ret->period = has_bytes && occurrences->weight == EVENT_WEIGHT_BYTES
			      ? activity->bytes
			      : duration_ns(activity);
	ret->start_ns = activity->start_ns;
	ret->log = activity->log;
	ret->event = event;
	ret->activity = activity;
	return true;
}

static int take_streamed(struct finder *finder, const struct sidecar_activity *activity)
{
	struct occurrence new;
	struct event_total *total;

	if (!occurrences__make(&finder->found, activity, &new))
		return 0;
	if (new.event == GPU_LOG_EVENT_MEMCPY || new.event == GPU_LOG_EVENT_MEMSET) {
		total = &finder->found.totals[new.event];
		sum__add(&total->ns, duration_ns(activity));
		sum__add(&total->bytes, activity->bytes);
	}
	return finder__add(finder, &new);
}

/* Of a kernel, that it waited */
static int take_wait(struct finder *finder, const struct sidecar_activity *kernel)
{
	struct occurrence wait = occurrence_of(GPU_LOG_EVENT_QUEUE, kernel);
	const struct sidecar_api_call *call;

	if (!finder__wants(finder, GPU_LOG_EVENT_QUEUE))
		return 0;
	call = calls__find(&finder->calls, kernel->log, kernel->correlation_id);
	if (!call || !call->end_ns || !kernel->start_ns) {
		finder->found.nr_without_call++;
		return 0;
	}
	if (kernel->start_ns <= call->end_ns)
		return 0;
	wait.period = kernel->start_ns - call->end_ns;
	return finder__add(finder, &wait);
}

static int take_memory(struct finder *finder, const struct sidecar_activity *memory)
{
	struct occurrence new = occurrence_of(GPU_LOG_EVENT_ALLOC, memory);
	const struct sidecar *sidecar = finder->found.sidecar;

	if (!finder__wants(finder, GPU_LOG_EVENT_ALLOC) ||
	    sidecar->shapes[memory->shape].what != GPU_LOG_ALLOCATED ||
	    (finder->are_leaks && !finder->leaks.is_leak[memory - sidecar->activities]))
		return 0;
	new.period = memory->bytes;
	return finder__add(finder, &new);
}

static int take_fault(struct finder *finder, const struct sidecar_activity *fault)
{
	const struct sidecar_shape *shape = &finder->found.sidecar->shapes[fault->shape];
	struct occurrence new = occurrence_of(GPU_LOG_EVENT_FAULT, fault);
	const struct sidecar_activity *kernel;

	if (!finder__wants(finder, GPU_LOG_EVENT_FAULT))
		return 0;
	if (!faults__is_migration(shape)) {
		if (shape->what <= GPU_LOG_FAULT_DTOD)
			sum__add(&finder->found.nr_faults[shape->what], fault->bytes);
		return 0;
	}
	kernel = finder->faults.kernels[fault - finder->found.sidecar->activities];
	new.correlation_id = kernel ? kernel->correlation_id : 0;
	return finder__add_weighed(finder, &new, EVENT_WEIGHT_BYTES);
}

static int take_activity(struct finder *finder, const struct sidecar_activity *activity)
{
	int err = take_streamed(finder, activity);

	if (err)
		return err;
	switch (finder->found.sidecar->shapes[activity->shape].kind) {
	case GPU_LOG_KIND_KERNEL:
		return take_wait(finder, activity);
	case GPU_LOG_KIND_MEMORY:
		return take_memory(finder, activity);
	case GPU_LOG_KIND_FAULT:
		return take_fault(finder, activity);
	default: /* all of it is streamed, or it is of a later writer */
		return 0;
	}
}

static int take_activities(struct finder *finder)
{
	const struct sidecar *sidecar = finder->found.sidecar;
	struct activity_walk walk = {.sidecar = sidecar};
	struct sidecar_activity activity;
	int err = 0;

	/* What isn't streamed points into the table. */
	if (!finder->found.is_streamed) {
		for (size_t i = 0; i < sidecar->nr_activities && !err; i++)
			err = take_activity(finder, &sidecar->activities[i]);
		return err;
	}
	while (!err && activity_walk__next(&walk, &activity, NULL))
		err = take_activity(finder, &activity);
	return err;
}

/*
 * With --probe api, there are calls of all functions that are joined, also of those that
 * wait or allocate. A function without a name launches: it is of an older perf-gpu.
 */
static bool puts_work(const struct finder *finder, const struct sidecar_api_call *call)
{
	const char *name = sidecar__api_name(finder->found.sidecar, call->log, call->api);

	return !name || api_name__kinds(name) & GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL);
}

static int take_calls(struct finder *finder)
{
	int err = 0;

	if (!finder__wants(finder, GPU_LOG_EVENT_LAUNCH))
		return 0;
	for (size_t i = 0; i < finder->calls.nr && !err; i++) {
		const struct sidecar_api_call *call = finder->calls.items[i];
		const struct occurrence new = {
			.event = GPU_LOG_EVENT_LAUNCH,
			.log = call->log,
			.correlation_id = call->correlation_id,
			.start_ns = call->start_ns,
			.period = call->end_ns - call->start_ns,
			.call = call,
		};

		if (puts_work(finder, call))
			err = finder__add(finder, &new);
	}
	return err;
}

static int take_gaps(struct finder *finder)
{
	struct occurrences *found = &finder->found;
	int err;

	if (!finder__wants(finder, GPU_LOG_EVENT_IDLE))
		return 0;
	err = devices__new(finder->found.sidecar, &found->devices);
	if (!err)
		err = idle__find(finder->found.sidecar, found->devices, &found->idle);
	for (size_t i = 0; i < found->idle.nr_gaps && !err; i++) {
		const struct idle_gap *gap = &found->idle.gaps[i];
		struct occurrence new =
			occurrence_of(GPU_LOG_EVENT_IDLE,
				      &finder->found.sidecar->activities[gap->activity]);

		new.period = gap->end_ns - gap->start_ns;
		err = finder__add(finder, &new);
	}
	return err;
}

/* What the events need to know beyond the records themselves */
static int finder__prepare(struct finder *finder)
{
	int err = 0;

	if (finder__wants(finder, GPU_LOG_EVENT_QUEUE) ||
	    finder__wants(finder, GPU_LOG_EVENT_LAUNCH))
		err = calls__init(finder->found.sidecar, &finder->calls);
	if (!err && finder__wants(finder, GPU_LOG_EVENT_ALLOC))
		err = leaks__find(finder->found.sidecar, &finder->leaks);
	if (!err && finder__wants(finder, GPU_LOG_EVENT_FAULT))
		err = faults__find(finder->found.sidecar, &finder->faults);
	finder->found.nr_unknown_frees = finder->leaks.nr_unknown_frees;
	return err;
}

int occurrences__find(const struct sidecar *sidecar, uint32_t events,
		      enum event_weight weight, bool are_leaks, struct occurrences *ret)
{
	struct finder finder = {
		.are_leaks = are_leaks,
		.found = {.sidecar = sidecar,
			  .events = events,
			  .weight = weight,
			  .is_streamed = occurrences__can_be_streamed(sidecar, events)},
	};
	int err = finder__prepare(&finder);

	if (!err && finder.found.is_streamed)
		err = list_events(&finder.found);
	if (!err)
		err = take_activities(&finder);
	if (!err)
		err = take_calls(&finder);
	if (!err)
		err = take_gaps(&finder);
	calls__release(&finder.calls);
	leaks__release(&finder.leaks);
	faults__release(&finder.faults);
	if (err)
		occurrences__release(&finder.found);
	else
		*ret = finder.found;
	return err;
}

void occurrences__release(struct occurrences *occurrences)
{
	free(occurrences->items);
	free(occurrences->events_of_shapes);
	idle__release(&occurrences->idle);
	devices__delete(occurrences->devices);
	*occurrences = (struct occurrences){0};
}

const struct sidecar_shape *occurrence__shape(const struct occurrence *occurrence,
					      const struct sidecar *sidecar)
{
	if (occurrence->event == GPU_LOG_EVENT_LAUNCH)
		return NULL;
	return &sidecar->shapes[occurrence->activity->shape];
}
