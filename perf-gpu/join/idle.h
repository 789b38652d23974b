/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When GPUs had nothing to do, and what was late for them.
 *
 * A GPU works while any stream of any process runs a kernel, a copy or a memset on it:
 * what it does is the union of these, and a gap is what lies between. It is charged to
 * the activity that ended it:
 *
 *   stream 7   ▐████▌                 ▐██▌
 *   stream 8      ▐█████▌         ▐███████████▌
 *                         └─ gap ─┘ charged to stream 8's second
 *
 * Of several that begin in the same nanosecond it is the one that was launched last,
 * since without it the gap would have been no shorter: the one with the highest
 * correlation id, as these are given at the calls' entry. If they are of several
 * processes, the one whose log comes last in the sidecar has it; if they are of one
 * launch (of a graph), the one that comes last there.
 *
 * Invariant, for each GPU, unless its sums are more than 64 bits hold:
 * busy_ns + idle_ns = last_ns - first_ns.
 *
 * What has no time, and copies that no GPU makes, are not looked at. Only what is in the
 * sidecar is known of: what a GPU did for others, or while recording was paused, is idle
 * time.
 *
 * Pure: no I/O, no globals. One thread. O(n log n) for n activities.
 */
#ifndef PERF_GPU_JOIN_IDLE_H
#define PERF_GPU_JOIN_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "join/devices.h"
#include "sidecar/sidecar.h"

struct idle_gap {
	uint64_t start_ns;
	uint64_t end_ns; /* greater */
	size_t activity; /* what ended it: its place (sidecar/activities.h) */
	size_t gpu; /* index in devices */
};

/* A GPU's time, from its first activity to its last */
struct idle_gpu {
	uint64_t nr_activities; /* 0: all others are 0, too */
	uint64_t first_ns, last_ns; /* start of the first, end of the last one's */
	uint64_t busy_ns, idle_ns;
	uint64_t nr_gaps;
	uint64_t begin_ns; /* start of the first log of those that used it */
};

struct idle {
	struct idle_gap *gaps; /* by GPU, then time */
	size_t nr_gaps;
	struct idle_gpu *gpus; /* by index in devices */
	size_t nr_gpus;
};

/**
 * idle__find - find the gaps of all GPUs
 * @ret: released by idle__release(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int idle__find(const struct sidecar *sidecar, const struct devices *devices,
	       struct idle *ret);
void idle__release(struct idle *idle);

#endif
