/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Within which NVTX ranges a thread was at a time: those of its process that were
 * started and hadn't ended, by whichever thread, and those of the thread that were
 * pushed and hadn't been popped.
 *
 * A pop ends the thread's innermost range of the same domain; one that finds none, and
 * an end of a range that isn't open, are ignored. A range that nothing ends is open to
 * the end of the recording.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_NVTX_RANGES_H
#define PERF_GPU_JOIN_NVTX_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sidecar/sidecar.h"

/* More at once, of a thread or a process, are left out: the library has no more. */
#define NVTX_RANGES_MAX_OF_THREAD  1024
#define NVTX_RANGES_MAX_OF_PROCESS 65536

/* Of the names of a range and its domain that are shown */
#define NVTX_RANGE_MAX_BYTES	    3800
#define NVTX_RANGE_MAX_DOMAIN_BYTES 256

/**
 * nvtx_range__name - "domain:name" or "name"
 * @ret: as snprintf(3) has it, with room for @bytes
 *
 * A string of a log can be 64 KiB long, and be in each of many samples: what is longer
 * than anybody reads is cut.
 *
 * Return: as snprintf(3) has it.
 */
size_t nvtx_range__name(const struct sidecar_nvtx *range, char *ret, size_t bytes);

/* What opens ranges has any; marks are none. */
bool nvtx_ranges__are_in(const struct sidecar *sidecar);

struct nvtx_ranges;

/**
 * nvtx_ranges__new - before the first of them
 * @sidecar: must outlive them
 * @ret:     released by nvtx_ranges__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int nvtx_ranges__new(const struct sidecar *sidecar, struct nvtx_ranges **ret);
void nvtx_ranges__delete(struct nvtx_ranges *ranges); /* NULL is fine */

/**
 * nvtx_ranges__at - what is open
 * @log, @tid: whose; the thread as its process sees it
 * @time_ns:   what happens at this time has happened; not before that of the last call
 * @ret:       the process's ranges, by their start, then the thread's, the innermost
 *             last: what opened them. Valid until the next call.
 *
 * Return: how many, or -ENOMEM.
 */
ssize_t nvtx_ranges__at(struct nvtx_ranges *ranges, uint32_t log, uint32_t tid,
			uint64_t time_ns, const struct sidecar_nvtx *const **ret);

#endif
