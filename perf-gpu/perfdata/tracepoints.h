/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of a perf.data's tracepoints, by libtraceevent, which knows what the
 * kernel writes. One thread.
 */
#ifndef PERF_GPU_PERFDATA_TRACEPOINTS_H
#define PERF_GPU_PERFDATA_TRACEPOINTS_H

#include <stddef.h>
#include <stdint.h>

struct tracepoints;

/**
 * tracepoints__new - read HEADER_TRACING_DATA
 * @data, @bytes: of the feature; where it is broken it ends
 * @ret: released by tracepoints__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int tracepoints__new(const void *data, size_t bytes, struct tracepoints **ret);
void tracepoints__delete(struct tracepoints *tracepoints); /* NULL is fine */

struct tracepoint;

/* The tracepoint of an event, by its attr's config; NULL if it isn't known. */
const struct tracepoint *tracepoints__find(const struct tracepoints *tracepoints,
					   uint64_t config);

/* As in "SYSTEM:NAME" */
const char *tracepoint__system(const struct tracepoint *tracepoint);
const char *tracepoint__name(const struct tracepoint *tracepoint);

/**
 * tracepoint__number - a field of a sample
 * @field: its name
 * @raw, @raw_bytes: of the sample; @raw may be NULL, to ask for the field alone
 * @ret:   written on success only
 *
 * Return: 0; -ENOENT if it has no such field, -EINVAL if the sample is too short for it.
 */
int tracepoint__number(const struct tracepoint *tracepoint, const char *field,
		       const void *raw, uint32_t raw_bytes, uint64_t *ret);

#endif
