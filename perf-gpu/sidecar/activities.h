/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The activities of a sidecar, of which there are millions: they stay in the mapped file,
 * 32 or 40 bytes each, and are read from there. Whoever needs all of them at once makes a
 * table of them.
 *
 * An activity's place is a number by which it is read again; those of a log go up in the
 * order in which they stand in the file.
 *
 * One thread.
 */
#ifndef PERF_GPU_SIDECAR_ACTIVITIES_H
#define PERF_GPU_SIDECAR_ACTIVITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "sidecar/blocks.h"
#include "sidecar/sidecar.h"

_Static_assert(offsetof(struct gpu_log_kernel, correlation_id) ==
			       offsetof(struct gpu_log_activity, correlation_id) &&
		       offsetof(struct gpu_log_kernel, correlation_id) ==
			       offsetof(struct gpu_log_memory, correlation_id),
	       "sidecar__correlation_id()");

/**
 * sidecar__decode - what a record says
 * @log:    whose record it is; index in sidecar.logs
 * @record: of any type, as long as its type says
 * @ret:    written on success only
 *
 * Return: 0; -EINVAL if it breaks the format, -ENOENT if it is of no activity.
 */
int sidecar__decode(const struct sidecar *sidecar, uint32_t log,
		    const struct gpu_log_record *record, struct sidecar_activity *ret);

/* All that is 0 is before the first one, but for @sidecar. */
struct activity_walk {
	const struct sidecar *sidecar;
	size_t block; /* index of the one that is next */
	uint64_t place, end; /* of the next activity; behind those of its block */
	uint32_t log;
};

/**
 * activity_walk__next - the next activity, in the order of the file
 * @ret_place: may be NULL
 *
 * Return: false: there is none more.
 */
bool activity_walk__next(struct activity_walk *walk, struct sidecar_activity *ret,
			 uint64_t *ret_place);

/* Does an activity stand in another block than the one before it, or of another log? */
bool activity_walk__is_first(const struct activity_walk *walk, uint64_t place);

/* The activity at a place that a walk has given, of that log */
void sidecar__activity(const struct sidecar *sidecar, uint32_t log, uint64_t place,
		       struct sidecar_activity *ret);

/* The key of the one at a place, in a sidecar without a table */
static inline uint64_t sidecar__correlation_id(const struct sidecar *sidecar,
					       uint64_t place)
{
	/* Kernels, activities and memory all have it there. */
	return ((const struct gpu_log_kernel *)(sidecar->file->data + 8 * place))
		->correlation_id;
}

/* It will be asked for. */
static inline void sidecar__prefetch(const struct sidecar *sidecar, uint64_t place)
{
	__builtin_prefetch(sidecar->file->data + 8 * place);
}

/*
 * The one behind it in its block, which isn't the last there. Without one, @place is left
 * as it is.
 */
void sidecar__activity_behind(const struct sidecar *sidecar, uint32_t log,
			      uint64_t *place, struct sidecar_activity *ret);

/* The same, of any log: places tell which. */
uint32_t sidecar__log_at(const struct sidecar *sidecar, uint64_t place);

/* Make sidecar.activities, if it isn't there. 0 or -ENOMEM. */
int sidecar__list_activities(struct sidecar *sidecar);

#endif
