/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hits of probes on launching functions × CUPTI's records of API calls, where there is
 * nothing but time to go by: on one thread, a hit belongs to the call that ends first
 * after it, and if two hits are of one call, the later one has it.
 *
 * So a record or a hit that is lost costs that launch its kernels, and no other its own:
 * the hit whose record is lost is the first of two on the next call.
 *
 * Two steps: tell of every hit, then ask for the call of each.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_BY_TIME_H
#define PERF_GPU_JOIN_BY_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "sidecar/sidecar.h"

struct by_time;

/* A hit of a probe, as perf.data has it. */
struct probe_hit {
	uint32_t pid, tid;
	uint64_t time_ns;
};

/**
 * by_time__new - put a sidecar's API calls in order
 * @sidecar: its api_calls are read here only
 * @ret:     released by by_time__delete(); written on success only
 *
 * Of a call within a call, as the runtime's and the driver's are, the outer one counts.
 * Calls whose times CUPTI didn't know are left out.
 *
 * Return: 0 or -ENOMEM.
 */
int by_time__new(const struct sidecar *sidecar, struct by_time **ret);
void by_time__delete(struct by_time *by_time); /* NULL is fine */

void by_time__tell(struct by_time *by_time, const struct probe_hit *hit);

/**
 * by_time__call - the call that a hit is of
 *
 * Return: the call, or NULL if there is none, or a later hit has it.
 */
const struct sidecar_api_call *by_time__call(const struct by_time *by_time,
					     const struct probe_hit *hit);

/**
 * by_time__next - the next call that a hit is of
 * @cursor: 0 at first
 *
 * Return: the call, in no particular order, or NULL at the end.
 */
const struct sidecar_api_call *by_time__next(const struct by_time *by_time,
					     size_t *cursor);

#endif
