// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/timeline_nvtx.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_log.h"
#include "util/hash_index.h"
#include "util/log.h"

struct nvtx {
	const struct timeline_nvtx_input *input;
	uint32_t *depths; /* by track: how many pushed ranges are open */
	size_t nr_depths;
	struct hash_index starts; /* ids: indexes in sidecar.nvtx */
	bool *is_ended; /* by index in sidecar.nvtx, of starts */
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

static uint32_t pid_of(const struct nvtx *nvtx, const struct sidecar_nvtx *range)
{
	return nvtx->input->pids[range->log];
}

/* A thread's track of a domain. The sidecar has each text once a log. */
static int find_thread_track(struct nvtx *nvtx, const struct sidecar_nvtx *range,
			     uint32_t *ret)
{
	uint32_t pid = pid_of(nvtx, range);
	uint32_t own = nvtx->input->sidecar->logs[range->log].pid;
	uint32_t tid = range->tid + (pid > own ? pid - own : 0);
	struct timeline_track new = {.kind = TIMELINE_LANE, .pid = pid, .tid = tid};
	const struct track_key key = {
		.of = TRACK_OF_NVTX_THREAD,
		.pid = pid,
		.tid = tid,
		.domain = *range->domain ? range->domain : NULL,
	};
	char name[256];
	int err;

	snprintf(name, sizeof(name), "NVTX%s%s, thread %" PRIu32,
		 *range->domain ? " " : "", range->domain, tid);
	new.name = name;
	err = nvtx->input->find_process(nvtx->input->data, pid, &new.parent);
	return err ? err : timeline_tracks__find(nvtx->input->tracks, &key, &new, ret);
}

/* Room for the depth of a track */
static uint32_t *depth_of(struct nvtx *nvtx, uint32_t track)
{
	if (track >= nvtx->nr_depths) {
		size_t nr = 2 * (size_t)track + 64;
		uint32_t *depths = reallocarray(nvtx->depths, nr, sizeof(*depths));

		if (!depths)
			return NULL;
		for (size_t i = nvtx->nr_depths; i < nr; i++)
			depths[i] = 0;
		nvtx->depths = depths;
		nvtx->nr_depths = nr;
	}
	return &nvtx->depths[track];
}

static struct timeline_event event_of(const struct sidecar_nvtx *range)
{
	return (struct timeline_event){
		.name = range->name,
		.category = "nvtx",
		.start_ns = range->time_ns,
		.end_ns = range->time_ns,
		.stack = TIMELINE_NO_STACK,
	};
}

static int add_of_thread(struct nvtx *nvtx, const struct sidecar_nvtx *range)
{
	const struct timeline_writer_ops *ops = nvtx->input->ops;
	struct timeline_event event = event_of(range);
	uint32_t *depth;
	int err = find_thread_track(nvtx, range, &event.track);

	if (err)
		return err;
	depth = depth_of(nvtx, event.track);
	if (!depth)
		return no_memory();
	if (range->operation == GPU_LOG_NVTX_MARK) {
		event.is_instant = true;
		return ops->event(nvtx->input->writer, &event);
	}
	if (range->operation == GPU_LOG_NVTX_PUSH) {
		++*depth;
		return ops->begin(nvtx->input->writer, &event);
	}
	if (!*depth)
		return 0;
	--*depth;
	return ops->end(nvtx->input->writer, event.track, range->time_ns);
}

static uint64_t hash_of(const struct sidecar_nvtx *range)
{
	return hash__mix(hash__mix(1, range->log), range->range);
}

static const struct sidecar_nvtx *find_start(const struct nvtx *nvtx,
					     const struct sidecar_nvtx *end)
{
	struct hash_cursor cursor = hash_index__find(&nvtx->starts, hash_of(end));
	uint32_t id;

	while (hash_index__next(&nvtx->starts, &cursor, &id)) {
		const struct sidecar_nvtx *start = &nvtx->input->sidecar->nvtx[id];

		if (start->log == end->log && start->range == end->range)
			return start;
	}
	return NULL;
}

/* Of a process: beside each other, as they needn't nest; open if there is no end */
static int add_of_process(struct nvtx *nvtx, const struct sidecar_nvtx *start,
			  const struct sidecar_nvtx *end)
{
	const struct timeline_writer_ops *ops = nvtx->input->ops;
	struct track_key key = {.of = TRACK_OF_NVTX_PROCESS};
	struct timeline_track new = {.kind = TIMELINE_LANE, .name = "NVTX ranges"};
	struct timeline_event event = event_of(start);
	int err;

	event.end_ns = end ? end->time_ns : UINT64_MAX;
	key.pid = new.pid = pid_of(nvtx, start);
	err = nvtx->input->find_process(nvtx->input->data, key.pid, &new.parent);
	if (!err)
		err = timeline_tracks__find_free(nvtx->input->tracks, &key, &new,
						 event.start_ns, event.end_ns,
						 &event.track);
	if (err)
		return err;
	return end ? ops->event(nvtx->input->writer, &event)
		   : ops->begin(nvtx->input->writer, &event);
}

static int end_range(struct nvtx *nvtx, const struct sidecar_nvtx *end)
{
	const struct sidecar_nvtx *start = find_start(nvtx, end);

	if (!start || end->time_ns < start->time_ns)
		return 0;
	nvtx->is_ended[start - nvtx->input->sidecar->nvtx] = true;
	return add_of_process(nvtx, start, end);
}

static int add_open(struct nvtx *nvtx)
{
	const struct sidecar *sidecar = nvtx->input->sidecar;
	int err = 0;

	for (size_t i = 0; i < sidecar->nr_nvtx && !err; i++)
		if (sidecar->nvtx[i].operation == GPU_LOG_NVTX_START &&
		    !nvtx->is_ended[i])
			err = add_of_process(nvtx, &sidecar->nvtx[i], NULL);
	return err;
}

static int index_starts(struct nvtx *nvtx)
{
	const struct sidecar *sidecar = nvtx->input->sidecar;

	nvtx->is_ended = calloc(sidecar->nr_nvtx + 1, sizeof(*nvtx->is_ended));
	if (!nvtx->is_ended)
		return no_memory();
	for (size_t i = 0; i < sidecar->nr_nvtx && i < UINT32_MAX; i++)
		if (sidecar->nvtx[i].operation == GPU_LOG_NVTX_START &&
		    hash_index__add(&nvtx->starts, hash_of(&sidecar->nvtx[i]),
				    (uint32_t)i))
			return no_memory();
	return 0;
}

int timeline_nvtx__add(const struct timeline_nvtx_input *input)
{
	const struct sidecar *sidecar = input->sidecar;
	struct nvtx nvtx = {.input = input};
	int err = index_starts(&nvtx);

	for (size_t i = 0; i < sidecar->nr_nvtx && !err; i++) {
		const struct sidecar_nvtx *range = &sidecar->nvtx[i];

		if (range->operation == GPU_LOG_NVTX_END)
			err = end_range(&nvtx, range);
		else if (range->operation != GPU_LOG_NVTX_START)
			err = add_of_thread(&nvtx, range);
	}
	if (!err)
		err = add_open(&nvtx);
	hash_index__release(&nvtx.starts);
	free(nvtx.is_ended);
	free(nvtx.depths);
	return err;
}
