/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The activities of a sidecar in the order of the join, four bytes each: their places
 * (sidecar/activities.h), sorted by log, correlation id, start, event and place.
 *
 * Logs have them nearly in that order: runs are merged (util/runs.h). One thread.
 */
#ifndef PERF_GPU_JOIN_ACTIVITY_INDEX_H
#define PERF_GPU_JOIN_ACTIVITY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "join/occurrences.h"

struct activity_index;

/**
 * activity_index__new - put those in order that are occurrences
 * @occurrences: streamed; must outlive the index
 * @ret:         released by activity_index__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int activity_index__new(const struct occurrences *occurrences,
			struct activity_index **ret);
void activity_index__delete(struct activity_index *index); /* NULL is fine */

size_t activity_index__nr(const struct activity_index *index);

/**
 * activity_index__find - those of a key
 * @ret_first: of them, they follow each other; written if there are any
 *
 * It is quick if keys are asked for nearly in order. Return: how many there are.
 */
size_t activity_index__find(struct activity_index *index, uint32_t log,
			    uint64_t correlation_id, size_t *ret_first);

/* The one with a number below nr */
void activity_index__get(const struct activity_index *index, size_t i,
			 struct sidecar_activity *ret);
/* Its correlation id, and its log */
uint64_t activity_index__key(const struct activity_index *index, size_t i,
			     uint32_t *ret_log);

#endif
