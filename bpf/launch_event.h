/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF program on the launch marker hands to the recorder, as the RAW
 * part of a BPF_OUTPUT sample, and what the recorder leaves of it in perf.data.
 *
 *   in the ring:   struct launch_event, then nr_frames u64 return addresses,
 *                  leaf first (--call-graph unwind; nr_frames is 0 otherwise)
 *   in perf.data:  struct launch_event with nr_frames 0; the frames have
 *                  become the sample's callchain
 */
#ifndef PERF_GPU_LAUNCH_EVENT_H
#define PERF_GPU_LAUNCH_EVENT_H

#ifndef __bpf__
#include <assert.h>
#include <stdint.h>
#define LAUNCH_U64 uint64_t
#define LAUNCH_U32 uint32_t
#else
#define LAUNCH_U64 __u64
#define LAUNCH_U32 __u32
#endif

/* perf's PERF_MAX_STACK_DEPTH */
#define LAUNCH_MAX_FRAMES 127

struct launch_event {
	LAUNCH_U64 log_id; /* gpu_log_block.log_id of the process */
	LAUNCH_U64 correlation_id; /* gpu_log_kernel.correlation_id */
	LAUNCH_U32 api; /* GPU_LOG_API_ID() */
	LAUNCH_U32 nr_frames;
};

_Static_assert(sizeof(struct launch_event) == 24, "on disk");

#endif
