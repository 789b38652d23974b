/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened when, on tracks, for viewers of timelines: a sink that feeds a writer, of
 * which there is one for each format.
 *
 *   process app 615                  what CPU threads did
 *     thread 615                       calls of the API (gpu-launch), or, where these weren't
 *                                      recorded, a slice without a length at each launch;
 *                                      waits (gpu-sync), allocations (gpu-alloc, instants)
 *     NVTX thread 615                  a thread's ranges; a track for each domain
 *     NVTX ranges                      the process's
 *   GPU 0 (NVIDIA H200)
 *     stream 7, app 615                kernels, copies, memsets
 *     unified memory                   migrations (gpu-fault)
 *     idle                             gaps without work (join/idle.h)
 *
 * Slices of a track don't overlap, but for NVTX's, which nest: of what does (kernels of a
 * CUDA graph in one stream) the later goes to a track of the same name beside it. Arrows
 * go from calls to what they put on a GPU.
 *
 * Memory grows with tracks and distinct stacks: events are written as they come, in the
 * order of their calls. One thread.
 */
#ifndef PERF_GPU_SINK_TIMELINE_H
#define PERF_GPU_SINK_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sidecar/sidecar.h"
#include "sink/sink.h"
#include "sink/stack_fold.h"

#define TIMELINE_NO_TRACK UINT32_MAX
#define TIMELINE_NO_STACK STACK_FOLD_NO_NODE

enum timeline_track_kind {
	TIMELINE_PROCESS, /* holds others; has pid */
	TIMELINE_THREAD, /* has pid, tid */
	TIMELINE_GPU, /* holds others */
	TIMELINE_LANE, /* anything else with slices */
};

struct timeline_track {
	uint32_t id; /* 0, 1, 2, ...: a track's parent is told before it */
	enum timeline_track_kind kind;
	uint32_t parent; /* a process or a GPU; TIMELINE_NO_TRACK of these */
	uint32_t pid, tid; /* of the process and the thread that it belongs to; or 0 */
	uint32_t number; /* of a GPU: what it is called by */
	const char *name; /* bytes from outside; valid as long as the timeline */
};

struct timeline_event {
	uint32_t track;
	const char *name; /* valid as long as the timeline */
	const char *category; /* "kernel", "memcpy", ...; a literal */
	uint64_t start_ns, end_ns;
	bool is_instant; /* has no length, and is no slice */
	uint32_t stack; /* the call's, in the fold; TIMELINE_NO_STACK */
	uint32_t
		leaf; /* the same with what it is about, if has_leaves and there is a stack */
	/* Arrows come from where this event has the same number; 0: none */
	uint64_t flow_in;
	uint64_t flow_out;
	uint32_t flow_track; /* with flow_in: where the arrow begins; ... */
	uint64_t flow_ns; /* ... and when */
	/* Of what was done; NULL: not told */
	const struct sidecar_activity *activity;
	const struct sidecar_shape *shape;
};

/* What return an int: 0 or a negative errno, printed. */
struct timeline_writer_ops {
	/* Events tell of leaf; else leaves are not in the fold */
	bool has_leaves;
	int (*start)(void *writer, const struct sink_input *input,
		     const struct stack_fold *fold);
	int (*track)(void *writer, const struct timeline_track *track);
	int (*event)(void *writer, const struct timeline_event *event);
	/* A range that nests within those of the track that have begun */
	int (*begin)(void *writer, const struct timeline_event *event);
	int (*end)(void *writer, uint32_t track, uint64_t time_ns);
	int (*finish)(void *writer);
	void (*delete)(void *writer);
};

/**
 * timeline__new - a sink for a writer
 * @writer: deleted with the sink, and if this fails
 * @ret:    released through ops->delete; written on success only
 *
 * Return: 0 or -ENOMEM, printed.
 */
int timeline__new(const struct timeline_writer_ops *ops, void *writer, struct sink **ret);

/* The words that a slice's details are told in, for all writers */
struct timeline_detail {
	const char *name;
	const char *text; /* NULL: it is number */
	uint64_t number;
};

#define TIMELINE_MAX_DETAILS 12

/* What there is to tell of an event: "bytes", "GB/s", "grid", ... Return: how many. */
size_t timeline_event__details(const struct timeline_event *event,
			       struct timeline_detail details[TIMELINE_MAX_DETAILS],
			       char text[512]);

/*
 * The same in two parts: what all events of a shape have alike, and, behind it, what each
 * has of its own.
 */
size_t timeline_shape__details(const struct sidecar_shape *shape,
			       struct timeline_detail details[TIMELINE_MAX_DETAILS],
			       char text[512]);
size_t timeline_event__own_details(const struct timeline_event *event,
				   struct timeline_detail details[TIMELINE_MAX_DETAILS],
				   char text[512]);

#endif
