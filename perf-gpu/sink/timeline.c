// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "join/calls.h"
#include "join/devices.h"
#include "join/idle.h"
#include "sidecar/sidecar_thread.h"
#include "sink/timeline_nvtx.h"
#include "sink/timeline_tracks.h"
#include "util/gpu_events.h"
#include "util/hash_index.h"
#include "util/log.h"

struct timeline {
	struct sink sink; /* first: what ops get is this */
	const struct timeline_writer_ops *ops;
	void *writer;
	const struct sidecar *sidecar;
	const struct machine *machine;
	struct frame_names *names;
	struct stack_fold *fold;
	struct timeline_tracks *tracks;
	struct devices *devices;
	struct calls calls;
	bool has_calls; /* calls are among the events, and so slices */
	uint32_t *pids; /* by log: as the recorder saw it */
	uint32_t leaf; /* in fold: of the sample at hand */
	uint64_t last_flow; /* of the launch at hand, which has its slice already */
	/* While samples come, a thread looks for these; NULL and none if they aren't known */
	struct sidecar_thread *finding_idle;
	struct idle idle;
};

static int no_memory(void)
{
	pr_err("no memory for the timeline; fewer events (-e) need less");
	return -ENOMEM;
}

/* --- tracks -------------------------------------------------------------------------- */

/* ", rank N" of a process in a job of several; else "" */
static void write_rank(const struct timeline *timeline, uint32_t pid, char *text,
		       size_t bytes)
{
	const struct sidecar *sidecar = timeline->sidecar;

	*text = '\0';
	for (size_t i = 0; i < sidecar->nr_logs && !*text; i++)
		if (timeline->pids[i] == pid && sidecar->logs[i].has_rank)
			snprintf(text, bytes, ", rank %" PRIu32, sidecar->logs[i].rank);
}

static int find_process(struct timeline *timeline, uint32_t pid, uint32_t *ret)
{
	const struct track_key key = {.of = TRACK_OF_PROCESS, .pid = pid};
	struct timeline_track new = {
		.kind = TIMELINE_PROCESS, .parent = TIMELINE_NO_TRACK, .pid = pid};
	char name[128], rank[24];
	const char *comm;

	if (timeline_tracks__has(timeline->tracks, &key, ret))
		return 0;
	comm = machine__comm(timeline->machine, pid, pid);
	write_rank(timeline, pid, rank, sizeof(rank));
	snprintf(name, sizeof(name), "%s%s", *comm ? comm : "process", rank);
	new.name = name;
	return timeline_tracks__find(timeline->tracks, &key, &new, ret);
}

static int find_thread(struct timeline *timeline, uint32_t pid, uint32_t tid,
		       uint32_t *ret)
{
	const struct track_key key = {.of = TRACK_OF_THREAD, .pid = pid, .tid = tid};
	struct timeline_track new = {.kind = TIMELINE_THREAD, .pid = pid, .tid = tid};
	const char *comm;
	int err;

	if (timeline_tracks__has(timeline->tracks, &key, ret))
		return 0;
	comm = machine__comm(timeline->machine, pid, tid);
	new.name = *comm ? comm : "thread";
	err = find_process(timeline, pid, &new.parent);
	return err ? err : timeline_tracks__find(timeline->tracks, &key, &new, ret);
}

static int find_gpu(struct timeline *timeline, size_t gpu, uint32_t *ret)
{
	const struct track_key key = {.of = TRACK_OF_GPU, .gpu = (uint32_t)gpu};
	const struct sidecar_device *device =
		devices__description(timeline->devices, gpu);
	struct timeline_track new = {.kind = TIMELINE_GPU, .parent = TIMELINE_NO_TRACK};
	char name[256];

	if (timeline_tracks__has(timeline->tracks, &key, ret))
		return 0;
	snprintf(name, sizeof(name), "GPU %" PRIu32 "%s%s%s",
		 devices__shown_number(timeline->devices, gpu), device ? " (" : "",
		 device ? device->name : "", device ? ")" : "");
	new.name = name;
	new.number = devices__shown_number(timeline->devices, gpu);
	return timeline_tracks__find(timeline->tracks, &key, &new, ret);
}

static void write_lane_name(const struct timeline *timeline,
			    const struct gpu_sample *sample, enum track_of of, char *name,
			    size_t bytes)
{
	const struct sidecar_shape *shape = sample->shape;
	char rank[24];
	int nr;

	if (of != TRACK_OF_STREAM) {
		snprintf(name, bytes, "%s",
			 of == TRACK_OF_MIGRATIONS ? "unified memory"
						   : "copies on the host");
		return;
	}
	write_rank(timeline, sample->pid, rank, sizeof(rank));
	nr = snprintf(name, bytes, "stream %" PRIu32 ", %s %" PRIu32 "%s", shape->stream,
		      machine__comm(timeline->machine, sample->pid, sample->pid),
		      sample->pid, rank);
	if (shape->context > 1 && nr > 0 && (size_t)nr < bytes)
		snprintf(name + nr, bytes - (size_t)nr, ", context %" PRIu32,
			 shape->context);
}

/* Tell of the lane, if it is new. @gpu: negative: it is the process's */
static int add_lane(struct timeline *timeline, const struct gpu_sample *sample,
		    const struct track_key *key, ssize_t gpu)
{
	struct timeline_track new = {.kind = TIMELINE_LANE, .pid = sample->pid};
	char name[128];
	uint32_t id;
	int err;

	if (timeline_tracks__has(timeline->tracks, key, &id))
		return 0;
	write_lane_name(timeline, sample, key->of, name, sizeof(name));
	new.name = name;
	err = gpu < 0 ? find_process(timeline, sample->pid, &new.parent)
		      : find_gpu(timeline, (size_t)gpu, &new.parent);
	return err ? err : timeline_tracks__find(timeline->tracks, key, &new, &id);
}

/* A lane of a GPU, or, for what no GPU does, of the process */
static int find_lane(struct timeline *timeline, const struct gpu_sample *sample,
		     uint32_t *ret)
{
	const struct sidecar_shape *shape = sample->shape;
	ssize_t gpu = devices__find(timeline->devices, shape->log, shape->device);
	struct track_key key = {.of = TRACK_OF_HOST_COPIES, .pid = sample->pid};
	int err;

	if (gpu >= 0 && sample->event == GPU_LOG_EVENT_FAULT) {
		key = (struct track_key){.of = TRACK_OF_MIGRATIONS, .gpu = (uint32_t)gpu};
	} else if (gpu >= 0) {
		key.of = TRACK_OF_STREAM;
		key.gpu = (uint32_t)gpu;
		key.context = shape->context;
		key.stream = shape->stream;
	}
	err = add_lane(timeline, sample, &key, gpu);
	return err ? err
		   : timeline_tracks__find_free(timeline->tracks, &key, NULL,
						sample->activity->start_ns,
						sample->activity->end_ns, ret);
}

/* --- events ------------------------------------------------------------------------------ */

/* "[GPU_Kernel]k" is "k" in a timeline, where its track tells what it is. */
static const char *short_name(const struct gpu_sample *sample)
{
	const char *leaf = gpu_events[sample->event].leaf;
	const char *name = sample->frames[0].name;

	return strncmp(name, leaf, strlen(leaf)) != 0 ? name : name + strlen(leaf);
}

static uint64_t flow_of(uint32_t log, uint64_t correlation_id)
{
	uint64_t flow = hash__mix(hash__mix(1, log), correlation_id);

	return flow ? flow : 1;
}

/* The thread of a call, in the recorder's numbers */
static uint32_t call_tid(const struct timeline *timeline,
			 const struct sidecar_api_call *call)
{
	uint32_t own = timeline->sidecar->logs[call->log].pid;
	uint32_t pid = timeline->pids[call->log];

	return call->tid + (pid > own ? pid - own : 0);
}

static int add_event(struct timeline *timeline, const struct timeline_event *event)
{
	return timeline->ops->event(timeline->writer, event);
}

static int add_call(struct timeline *timeline, const struct gpu_sample *sample,
		    uint32_t stack)
{
	const struct sidecar_api_call *call = sample->call;
	struct timeline_event event = {
		.name = short_name(sample),
		.category = "api",
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.stack = stack,
		.leaf = timeline->leaf,
		.flow_out = flow_of(call->log, call->correlation_id),
	};
	int err = find_thread(timeline, sample->pid,
			      sample->has_launch ? sample->tid : call_tid(timeline, call),
			      &event.track);

	return err ? err : add_event(timeline, &event);
}

/* Where no call was recorded: the moment of the launch, once for all that it did */
static int add_launch(struct timeline *timeline, const struct gpu_sample *sample,
		      uint32_t stack, uint64_t flow, uint32_t track)
{
	const struct timeline_event event = {
		.track = track,
		.name = sample->nr_frames > 1 && sample->frames[1].name
				? sample->frames[1].name
				: "launch",
		.category = "launch",
		.start_ns = sample->time_ns,
		.end_ns = sample->time_ns,
		.stack = stack,
		.leaf = timeline->leaf,
		.flow_out = flow,
	};

	if (flow == timeline->last_flow)
		return 0;
	timeline->last_flow = flow;
	return add_event(timeline, &event);
}

/* Where the arrow to what a GPU did comes from, if that is known */
static int add_flow(struct timeline *timeline, const struct gpu_sample *sample,
		    struct timeline_event *event)
{
	const struct sidecar_activity *activity = sample->activity;
	uint64_t flow = flow_of(activity->log, activity->correlation_id);
	const struct sidecar_api_call *call =
		calls__find(&timeline->calls, activity->log, activity->correlation_id);
	bool has_slice = timeline->has_calls && call && call->start_ns;
	uint32_t tid = sample->tid;
	int err;

	if (!has_slice && !sample->has_launch)
		return 0;
	if (!sample->has_launch)
		tid = call_tid(timeline, call);
	err = find_thread(timeline, sample->pid, tid, &event->flow_track);
	if (err)
		return err;
	event->flow_in = flow;
	event->flow_ns = has_slice ? call->start_ns : sample->time_ns;
	return has_slice ? 0
			 : add_launch(timeline, sample, event->stack, flow,
				      event->flow_track);
}

static int add_activity(struct timeline *timeline, const struct gpu_sample *sample,
			uint32_t stack, const char *category)
{
	struct timeline_event event = {
		.name = short_name(sample),
		.category = category,
		.start_ns = sample->activity->start_ns,
		.end_ns = sample->activity->end_ns,
		.stack = stack,
		.leaf = timeline->leaf,
		.activity = sample->activity,
		.shape = sample->shape,
	};
	int err = find_lane(timeline, sample, &event.track);

	if (!err && sample->event != GPU_LOG_EVENT_FAULT)
		err = add_flow(timeline, sample, &event);
	return err ? err : add_event(timeline, &event);
}

/* On the CPU: a wait, or an allocation, which has no length */
static int add_to_thread(struct timeline *timeline, const struct gpu_sample *sample,
			 uint32_t stack, const char *category)
{
	bool is_wait = sample->event == GPU_LOG_EVENT_SYNC;
	struct timeline_event event = {
		.name = short_name(sample),
		.category = category,
		.start_ns = sample->activity->start_ns,
		.end_ns = is_wait ? sample->activity->end_ns : sample->activity->start_ns,
		.is_instant = !is_wait,
		.stack = stack,
		.leaf = timeline->leaf,
		.activity = sample->activity,
		.shape = sample->shape,
	};
	int err = find_thread(timeline, sample->pid, sample->tid, &event.track);

	return err ? err : add_event(timeline, &event);
}

static int find_stack(struct timeline *timeline, const struct gpu_sample *sample,
		      uint32_t *ret)
{
	if (!timeline->ops->has_leaves)
		return stack_fold__stack(timeline->fold, sample, NULL, ret);
	if (stack_fold__add(timeline->fold, sample, NULL, &timeline->leaf))
		return -ENOMEM;
	*ret = stack_fold__node(timeline->fold, timeline->leaf)->parent;
	return 0;
}

static int timeline__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct timeline *timeline = (struct timeline *)sink;
	uint32_t log = sample->call ? sample->call->log : sample->activity->log;
	uint32_t stack;

	timeline->pids[log] = sample->pid;
	if (sample->event == GPU_LOG_EVENT_QUEUE || sample->event == GPU_LOG_EVENT_IDLE)
		return 0; /* lengths of arrows; join/idle.h tells of all gaps */
	if (find_stack(timeline, sample, &stack))
		return no_memory();
	switch (sample->event) {
	case GPU_LOG_EVENT_LAUNCH:
		return add_call(timeline, sample, stack);
	case GPU_LOG_EVENT_KERNEL:
		return add_activity(timeline, sample, stack, "kernel");
	case GPU_LOG_EVENT_MEMCPY:
		return add_activity(timeline, sample, stack, "memcpy");
	case GPU_LOG_EVENT_MEMSET:
		return add_activity(timeline, sample, stack, "memset");
	case GPU_LOG_EVENT_FAULT:
		return add_activity(timeline, sample, stack, "fault");
	case GPU_LOG_EVENT_SYNC:
		return add_to_thread(timeline, sample, stack, "sync");
	default:
		return add_to_thread(timeline, sample, stack, "alloc");
	}
}

/* --- what isn't made of samples ------------------------------------------------------------ */

/* Else what wasn't recorded would look like idle time. */
static bool knows_idle(const struct sidecar *sidecar)
{
	uint32_t kinds = gpu_log_kinds_of(GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_IDLE));

	for (size_t i = 0; i < sidecar->nr_logs; i++)
		if ((sidecar->logs[i].kinds & kinds) != kinds)
			return false;
	return true;
}

static int find_idle(const struct sidecar *sidecar, void *data)
{
	struct timeline *timeline = data;

	return idle__find(sidecar, timeline->devices, &timeline->idle);
}

static int add_gaps(struct timeline *timeline)
{
	struct timeline_event event = {
		.name = "idle", .category = "idle", .stack = TIMELINE_NO_STACK};

	if (timeline->finding_idle && sidecar_thread__wait(timeline->finding_idle))
		return no_memory();
	for (size_t i = 0; i < timeline->idle.nr_gaps; i++) {
		const struct idle_gap *gap = &timeline->idle.gaps[i];
		struct timeline_track new = {.kind = TIMELINE_LANE, .name = "idle"};
		struct track_key key = {.of = TRACK_OF_IDLE, .gpu = (uint32_t)gap->gpu};
		int err = find_gpu(timeline, gap->gpu, &new.parent);

		if (!err)
			err = timeline_tracks__find(timeline->tracks, &key, &new,
						    &event.track);
		event.start_ns = gap->start_ns;
		event.end_ns = gap->end_ns;
		if (!err)
			err = add_event(timeline, &event);
		if (err)
			return err;
	}
	return 0;
}

static int find_nvtx_process(void *data, uint32_t pid, uint32_t *ret)
{
	return find_process(data, pid, ret);
}

static int timeline__finish(struct sink *sink)
{
	struct timeline *timeline = (struct timeline *)sink;
	const struct timeline_nvtx_input nvtx = {
		.sidecar = timeline->sidecar,
		.pids = timeline->pids,
		.ops = timeline->ops,
		.writer = timeline->writer,
		.tracks = timeline->tracks,
		.find_process = find_nvtx_process,
		.data = timeline,
	};
	int err = add_gaps(timeline);

	if (!err)
		err = timeline_nvtx__add(&nvtx);
	return err ? err : timeline->ops->finish(timeline->writer);
}

/* --- the sink -------------------------------------------------------------------------- */

static int timeline__start(struct sink *sink, const struct sink_input *input)
{
	struct timeline *timeline = (struct timeline *)sink;
	const struct sidecar *sidecar = input->sidecar;

	timeline->sidecar = sidecar;
	timeline->machine = input->machine;
	timeline->has_calls = input->events & GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_LAUNCH);
	timeline->pids =
		calloc(sidecar->nr_logs ? sidecar->nr_logs : 1, sizeof(*timeline->pids));
	if (!timeline->pids || frame_names__new(input, &timeline->names) ||
	    stack_fold__new(timeline->names, &timeline->fold) ||
	    devices__new(sidecar, &timeline->devices) ||
	    calls__init(sidecar, &timeline->calls))
		return no_memory();
	if (knows_idle(sidecar) &&
	    sidecar_thread__new(sidecar, find_idle, timeline, &timeline->finding_idle))
		return no_memory();
	for (size_t i = 0; i < sidecar->nr_logs; i++)
		timeline->pids[i] = sidecar->logs[i].pid;
	return timeline->ops->start(timeline->writer, input, timeline->fold);
}

static void timeline__stop(struct sink *sink)
{
	struct timeline *timeline = (struct timeline *)sink;

	sidecar_thread__delete(timeline->finding_idle);
	timeline->finding_idle = NULL;
}

static void timeline__delete(struct sink *sink)
{
	struct timeline *timeline = (struct timeline *)sink;

	if (!timeline)
		return;
	timeline__stop(sink);
	timeline->ops->delete (timeline->writer);
	idle__release(&timeline->idle);
	calls__release(&timeline->calls);
	devices__delete(timeline->devices);
	timeline_tracks__delete(timeline->tracks);
	stack_fold__delete(timeline->fold);
	frame_names__delete(timeline->names);
	free(timeline->pids);
	free(timeline);
}

int timeline__new(const struct timeline_writer_ops *ops, void *writer, struct sink **ret)
{
	static const struct sink_ops sink_ops = {
		.start = timeline__start,
		.sample = timeline__sample,
		.finish = timeline__finish,
		.stop = timeline__stop,
		.delete = timeline__delete,
	};
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline) {
		ops->delete (writer);
		return no_memory();
	}
	timeline->sink.ops = &sink_ops;
	timeline->ops = ops;
	timeline->writer = writer;
	if (timeline_tracks__new(ops, writer, &timeline->tracks)) {
		timeline__delete(&timeline->sink);
		return -ENOMEM;
	}
	*ret = &timeline->sink;
	return 0;
}
