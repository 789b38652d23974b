/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF program on the launch marker hands to the recorder, in one of two
 * ways, and what the recorder leaves of it in perf.data.
 *
 *   --call-graph unwind       struct launch_frames and the frames, in a BPF ring
 *                             buffer of the CPU
 *   --call-graph fp, dwarf    struct launch_event, as the RAW part of a BPF_OUTPUT
 *                             sample, in the perf ring of the CPU: the kernel adds
 *                             the callchain, or registers and stack
 *   perf.data                 struct launch_event, as the RAW part of a sample
 *
 * Two ways, because a perf sample costs the target 640 ns and a BPF ring buffer
 * 100 ns (Linux 6.18 in a VM), and only the former can have the kernel's stack.
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

/* gpu_log.h's GPU_LOG_API_GRAPH_NODE: not a launch, but a node of a CUDA graph */
#define LAUNCH_API_GRAPH_NODE 0x80000000u

/*
 * gpu_log.h's GPU_LOG_API_TAKEN: not a launch, but a process that can't tell of any. In the
 * marker's ring alone, where BPF gives it its pid in the initial namespace, in the place of a
 * correlation id.
 */
#define LAUNCH_API_TAKEN 0x40000000u

/* gpu_log.h's GPU_LOG_API_EARLIER: in perf.data alone, a launch of before the file */
#define LAUNCH_API_EARLIER 0x20000000u

struct launch_event {
	/*
	 * gpu_log_block.log_id of the process. 0 in the marker's ring, which doesn't get
	 * into perf.data: it could not open its log, and correlation_id is the errno.
	 * 0 in perf.data: a hit of a probe on the API, of which only thread and time are
	 * known.
	 */
	LAUNCH_U64 log_id;
	LAUNCH_U64 correlation_id; /* gpu_log_kernel.correlation_id */
	LAUNCH_U32 api; /* GPU_LOG_API_ID() */
	LAUNCH_U32 pad;
};

_Static_assert(sizeof(struct launch_event) == 24, "on disk");

struct launch_frames {
	LAUNCH_U64 time_ns; /* CLOCK_MONOTONIC */
	LAUNCH_U32 pid, tid; /* of the recorder's pid namespace */
	LAUNCH_U32 cpu;
	LAUNCH_U32 nr_frames;
	struct launch_event event;
	/* Return addresses, leaf first; there may be room for more of them. */
	LAUNCH_U64 frames[];
};

_Static_assert(sizeof(struct launch_frames) == 48, "shared with the BPF program");

#endif
