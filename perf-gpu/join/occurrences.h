/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened, event by event: each occurrence becomes a sample, under the stack of
 * the call that has its key.
 *
 *   event       one for each                period                        key: that of
 *   gpu-kernel  kernel                      its duration                  its launch
 *   gpu-memcpy  copy                        its duration, or bytes        its call
 *   gpu-memset  memset                      likewise                      likewise
 *   gpu-sync    wait of a thread            its duration                  the call
 *   gpu-launch  call, the outermost         its duration                  the call
 *   gpu-queue   kernel that began after     from the call's end to the    its launch
 *               its call had returned       kernel's start
 *   gpu-idle    gap of a GPU (join/idle.h)  the gap's length              the call whose
 *                                                                         work ended it
 *   gpu-alloc   allocation; with --leaks,   its bytes                     the call
 *               if it was never freed
 *   gpu-fault   migration of unified        its bytes, or duration        the launch of the
 *               memory (join/faults.h)                                    kernel that ran
 *
 * The kernels of a graph have one launch, and all wait from the end of that call on.
 *
 * Invariant: the periods of an event's occurrences add up to its total, to the
 * nanosecond or byte.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_OCCURRENCES_H
#define PERF_GPU_JOIN_OCCURRENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "join/idle.h"
#include "sidecar/sidecar.h"

/* What the period is of events that have both a duration and bytes */
enum event_weight {
	EVENT_WEIGHT_DEFAULT, /* the event's own: gpu_event.unit */
	EVENT_WEIGHT_NS,
	EVENT_WEIGHT_BYTES,
};

struct occurrence {
	uint64_t correlation_id; /* with log: the key */
	uint64_t period; /* 0: nothing to show, or CUPTI didn't know the time */
	uint64_t start_ns; /* 0: unknown */
	uint32_t log; /* index in sidecar.logs */
	uint32_t event; /* enum gpu_log_event */
	/*
	 * What it is about: of gpu-queue the kernel, of gpu-idle what ended the gap; of
	 * gpu-launch, its call. In the sidecar.
	 */
	union {
		const struct sidecar_activity *activity;
		const struct sidecar_api_call *call;
	};
};

/* All of an event's occurrences */
struct event_total {
	uint64_t nr;
	uint64_t period; /* the sum */
	uint64_t nr_empty; /* of them, those with period 0 */
	/* where the event has both, whichever the period is; else 0 */
	uint64_t ns, bytes;
};

/*
 * Kernels, copies, memsets and waits, of which there are millions, needn't be kept: where
 * nothing else is asked for, and the sidecar has no table of activities, there are no items,
 * and each is made of its activity when it is wanted.
 */
struct occurrences {
	const struct sidecar *sidecar;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s */
	enum event_weight weight;
	bool is_streamed; /* there are no items */
	uint8_t *
		events_of_shapes; /* if so: enum gpu_log_event; GPU_LOG_NR_EVENTS: none */
	struct occurrence *items; /* in the sidecar's order, event by event */
	size_t nr;
	struct event_total totals[GPU_LOG_NR_EVENTS];
	uint64_t nr_unknown_frees; /* as struct leaks has it; with gpu-alloc */
	uint64_t nr_faults[GPU_LOG_FAULT_DTOD + 1]; /* by enum gpu_log_fault, of those
						       that are counted */
	uint64_t nr_without_call; /* gpu-queue: kernels whose call isn't known */
	struct devices *devices; /* with gpu-idle; else NULL */
	struct idle idle; /* likewise */
};

/* Can these events be streamed? Else sidecar__list_activities() has to be called first. */
bool occurrences__can_be_streamed(const struct sidecar *sidecar, uint32_t events);

/**
 * occurrences__find - make them of what was recorded
 * @sidecar:   must outlive them
 * @events:    GPU_LOG_EVENT_BIT()s: of which
 * @weight:    the periods of gpu-memcpy, gpu-memset and gpu-fault
 * @are_leaks: of gpu-alloc, only what was never freed
 * @ret:       released by occurrences__release(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int occurrences__find(const struct sidecar *sidecar, uint32_t events,
		      enum event_weight weight, bool are_leaks, struct occurrences *ret);
/* Is an activity an occurrence of one of the streamed events that are wanted? */
bool occurrences__is_wanted(const struct occurrences *occurrences,
			    const struct sidecar_activity *activity);

/**
 * occurrences__make - what an activity of a streamed event is
 * @activity: of any kind; must live as long as @ret
 *
 * Return: occurrences__is_wanted()
 */
bool occurrences__make(const struct occurrences *occurrences,
		       const struct sidecar_activity *activity, struct occurrence *ret);

void occurrences__release(struct occurrences *occurrences);

/* What an occurrence says of device, stream and so on; NULL of gpu-launch. */
const struct sidecar_shape *occurrence__shape(const struct occurrence *occurrence,
					      const struct sidecar *sidecar);

#endif
