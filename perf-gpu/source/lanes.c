// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/lanes.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/sample.h"
#include "util/log.h"

struct lane {
	uint32_t pid; /* first, with the next three: key */
	int64_t device, context, stream;
	uint32_t tid;
};

struct held_sample {
	uint64_t sequence; /* of those of the same time, the first comes first */
	struct gpu_sample sample; /* its frames are below */
	struct gpu_labels labels;
	struct sidecar_activity activity;
	char *nvtx;
	struct gpu_frame frames[];
};

struct lanes {
	struct lanes_target target;
	void *tree; /* tsearch(3), of struct lane */
	uint32_t next_tid;
	uint64_t next_sequence;
	/* A binary heap: none is earlier than its parent, at (i - 1) / 2. */
	struct held_sample **heap;
	size_t nr, nr_allocated;
};

int lanes__new(const struct lanes_target *target, struct lanes **ret)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes)
		return -ENOMEM;
	lanes->target = *target;
	lanes->next_tid = LANES_FIRST_TID;
	*ret = lanes;
	return 0;
}

static void held_sample__delete(struct held_sample *held)
{
	free(held->nvtx);
	free(held);
}

void lanes__delete(struct lanes *lanes)
{
	if (!lanes)
		return;
	for (size_t i = 0; i < lanes->nr; i++)
		held_sample__delete(lanes->heap[i]);
	free(lanes->heap);
	tdestroy(lanes->tree, free);
	free(lanes);
}

bool lanes__take(const struct gpu_sample *sample)
{
	if (sample->event != GPU_LOG_EVENT_KERNEL &&
	    sample->event != GPU_LOG_EVENT_MEMCPY &&
	    sample->event != GPU_LOG_EVENT_MEMSET)
		return false;
	return sample->labels && sample->labels->stream >= 0;
}

/* --- the heap ----------------------------------------------------------------------------- */

static bool is_before(const struct held_sample *a, const struct held_sample *b)
{
	if (a->sample.time_ns != b->sample.time_ns)
		return a->sample.time_ns < b->sample.time_ns;
	return a->sequence < b->sequence;
}

static int heap__add(struct lanes *lanes, struct held_sample *held)
{
	size_t i;

	if (lanes->nr == lanes->nr_allocated) {
		size_t nr = lanes->nr ? 2 * lanes->nr : 1024;
		struct held_sample **heap = reallocarray(lanes->heap, nr, sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		lanes->heap = heap;
		lanes->nr_allocated = nr;
	}
	for (i = lanes->nr++; i && is_before(held, lanes->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		lanes->heap[i] = lanes->heap[(i - 1) / 2];
	lanes->heap[i] = held;
	return 0;
}

/* The first, of one at least */
static struct held_sample *heap__take(struct lanes *lanes)
{
	struct held_sample **heap = lanes->heap;
	struct held_sample *first = heap[0], *last = heap[--lanes->nr];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < lanes->nr) {
		if (child + 1 < lanes->nr && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

/* --- lanes ---------------------------------------------------------------------------------- */

static int compare_lanes(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return (x->stream > y->stream) - (x->stream < y->stream);
}

static int no_memory(void)
{
	pr_err("no memory to print the samples of each stream (--threads)");
	return -ENOMEM;
}

/* Whoever reads the output gets the lane's name, as it would a thread's. */
static int tell_name(struct lanes *lanes, const struct lane *lane,
		     const struct gpu_sample *sample)
{
	const struct lanes_target *target = &lanes->target;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[48];
		uint64_t id[6];
	} record = {
		.header = {.type = PERF_RECORD_COMM}, .pid = lane->pid, .tid = lane->tid};
	const struct perfdata_sample id = {
		.pid = lane->pid,
		.tid = lane->tid,
		.time_ns = sample->time_ns,
		.cpu = sample->cpu,
	};
	int err;

	if (lane->device < 0)
		snprintf(record.comm, sizeof(record.comm), "GPU stream %u",
			 (unsigned int)lane->stream);
	else
		snprintf(record.comm, sizeof(record.comm), "GPU%u stream %u",
			 (unsigned int)lane->device, (unsigned int)lane->stream);
	record.header.size =
		(uint16_t)(offsetof(typeof(record), id) +
			   perfdata_sample__write_id(target->attr, &id, record.id));
	err = machine__process(target->machine, &record.header);
	return err ? no_memory() : sink__record(target->sink, &record.header);
}

/* The number of a sample's lane; it is made if it is new. 0, -ENOMEM or the sink's, printed. */
static int find_lane(struct lanes *lanes, const struct gpu_sample *sample,
		     uint32_t *ret_tid)
{
	const struct lane key = {
		.pid = sample->pid,
		.device = sample->labels->device,
		.context = sample->labels->context,
		.stream = sample->labels->stream,
	};
	struct lane *lane, **found = tfind(&key, &lanes->tree, compare_lanes);

	if (found) {
		*ret_tid = (*found)->tid;
		return 0;
	}
	lane = malloc(sizeof(*lane));
	if (!lane)
		return no_memory();
	*lane = key;
	lane->tid = lanes->next_tid++;
	if (!tsearch(lane, &lanes->tree, compare_lanes)) {
		free(lane);
		return no_memory();
	}
	*ret_tid = lane->tid;
	return tell_name(lanes, lane, sample);
}

int lanes__hold(struct lanes *lanes, const struct gpu_sample *sample, uint64_t start_ns)
{
	struct held_sample *held =
		malloc(sizeof(*held) + sample->nr_frames * sizeof(*held->frames));
	int err;

	if (!held)
		return -ENOMEM;
	held->sequence = lanes->next_sequence++;
	held->sample = *sample;
	held->sample.stack_id = 0; /* maps may have changed by then */
	held->labels = *sample->labels;
	held->nvtx = NULL;
	if (sample->activity) {
		held->activity = *sample->activity;
		held->sample.activity = &held->activity;
	}
	memcpy(held->frames, sample->frames, sample->nr_frames * sizeof(*held->frames));
	/* Clocks are a little apart, but nothing runs before it is launched. */
	if (start_ns > sample->time_ns)
		held->sample.time_ns = start_ns;
	err = 0;
	if (held->labels.nvtx && !(held->nvtx = strdup(held->labels.nvtx)))
		err = -ENOMEM;
	if (!err)
		err = heap__add(lanes, held);
	if (err)
		held_sample__delete(held);
	return err;
}

static int feed_one(struct lanes *lanes, struct held_sample *held)
{
	struct sink *sink = lanes->target.sink;
	int err;

	held->labels.nvtx = held->nvtx;
	held->sample.labels = &held->labels;
	held->sample.frames = held->frames;
	err = find_lane(lanes, &held->sample, &held->sample.tid);
	return err ? err : sink->ops->sample(sink, &held->sample);
}

int lanes__feed(struct lanes *lanes, uint64_t time_ns)
{
	int err = 0;

	while (!err && lanes->nr &&
	       (lanes->heap[0]->sample.time_ns < time_ns || time_ns == UINT64_MAX)) {
		struct held_sample *held = heap__take(lanes);

		err = feed_one(lanes, held);
		held_sample__delete(held);
	}
	return err;
}
