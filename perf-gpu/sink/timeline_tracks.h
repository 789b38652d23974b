/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracks of a timeline: found by what they are of, and told when first met. */
#ifndef PERF_GPU_SINK_TIMELINE_TRACKS_H
#define PERF_GPU_SINK_TIMELINE_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/timeline.h"

/* What a track is of: fields that a kind has no use for are 0. */
struct track_key {
	enum track_of {
		TRACK_OF_PROCESS,
		TRACK_OF_THREAD,
		TRACK_OF_GPU,
		TRACK_OF_STREAM,
		TRACK_OF_HOST_COPIES,
		TRACK_OF_MIGRATIONS,
		TRACK_OF_IDLE,
		TRACK_OF_NVTX_THREAD,
		TRACK_OF_NVTX_PROCESS,
	} of;
	uint32_t gpu, pid, tid, context, stream;
	const char *domain; /* of NVTX: the pointer itself tells them apart */
	uint32_t sub; /* 0, and 1, 2, ... of those beside it */
};

struct timeline_tracks;

/* Return, here and below: 0 or a negative errno, printed. */
int timeline_tracks__new(const struct timeline_writer_ops *ops, void *writer,
			 struct timeline_tracks **ret);
void timeline_tracks__delete(struct timeline_tracks *tracks); /* NULL is fine */

/**
 * timeline_tracks__find - the track of a key
 * @name:   what it is called, if it is new; copied
 * @kind, @parent, @pid, @tid: as in struct timeline_track, likewise
 */
int timeline_tracks__find(struct timeline_tracks *tracks, const struct track_key *key,
			  const struct timeline_track *new, uint32_t *ret_track);

/* Is there a track of the key? Then its number. Names needn't be made for it again. */
bool timeline_tracks__has(const struct timeline_tracks *tracks,
			  const struct track_key *key, uint32_t *ret_track);

/*
 * The same, of those beside each other the first that is free from a time to another. @new may
 * be NULL if there is one with sub 0.
 */
int timeline_tracks__find_free(struct timeline_tracks *tracks, struct track_key *key,
			       const struct timeline_track *new, uint64_t start_ns,
			       uint64_t end_ns, uint32_t *ret_track);

#endif
