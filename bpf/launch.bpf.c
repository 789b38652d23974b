// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probe on the launch marker, perf_gpu_launch() of the injected library:
 * one BPF_OUTPUT sample into the perf ring of the CPU for each call.
 *
 * Invariants:
 *   - Nothing the target says is believed but for its own samples: the session
 *     must be ours, counts are bounded, memory is read by bpf_probe_read_user().
 *   - A uprobe's program can be preempted by another of the same CPU, so scratch
 *     memory belongs to the task, never to the CPU.
 *   - What can't be emitted is counted here, and only here: the kernel's LOST
 *     records tell of the same losses again, or of none.
 *
 * Compiled without vmlinux.h: it uses nothing of the kernel that moves.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "launch_event.h"

/* The sixth argument, which libbpf 1.1 has no PT_REGS_PARM6 for */
#if defined(__TARGET_ARCH_x86)
#define MARKER_NR_FRAMES(ctx) ((ctx)->r9)
#elif defined(__TARGET_ARCH_arm64)
#define MARKER_NR_FRAMES(ctx) (((const struct user_pt_regs *)(ctx))->regs[5])
#else
#error "which register holds the sixth argument?"
#endif

/* Set by the loader */
const volatile __u64 session;
const volatile __u32 max_frames = LAUNCH_MAX_FRAMES;

/* Read by the loader */
__u64 nr_lost_ring; /* samples that found no room */
__u64 nr_lost_stack; /* samples that went out without their stack */
__u64 nr_selftest_hits;

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} rings SEC(".maps");

struct launch_scratch {
	struct launch_event event;
	__u64 frames[LAUNCH_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct launch_scratch);
} scratch SEC(".maps");

static __always_inline void emit(struct pt_regs *ctx, void *data, __u64 bytes)
{
	if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, data, bytes))
		__sync_fetch_and_add(&nr_lost_ring, 1);
}

static __always_inline void fill(struct pt_regs *ctx, struct launch_event *event)
{
	event->log_id = PT_REGS_PARM2(ctx);
	event->correlation_id = PT_REGS_PARM3(ctx);
	event->api = PT_REGS_PARM4(ctx);
	event->nr_frames = 0;
}

/* --call-graph fp and dwarf: the stack is the kernel's part of the sample. */
SEC("uprobe")
int launch_plain(struct pt_regs *ctx)
{
	struct launch_event event;

	if (PT_REGS_PARM1(ctx) != session)
		return 0;
	fill(ctx, &event);
	emit(ctx, &event, sizeof(event));
	return 0;
}

/* --call-graph unwind: the stack is an array in the target's memory. */
SEC("uprobe")
int launch_frames(struct pt_regs *ctx)
{
	struct launch_scratch *out;
	struct launch_event bare;
	__u64 nr_frames = MARKER_NR_FRAMES(ctx);
	__u64 bytes;

	if (PT_REGS_PARM1(ctx) != session)
		return 0;
	out = bpf_task_storage_get(&scratch, bpf_get_current_task_btf(), NULL,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!out) {
		__sync_fetch_and_add(&nr_lost_stack, 1);
		fill(ctx, &bare);
		emit(ctx, &bare, sizeof(bare));
		return 0;
	}
	fill(ctx, &out->event);
	if (nr_frames > max_frames)
		nr_frames = max_frames;
	bytes = nr_frames * sizeof(__u64);
	/* The verifier wants to see the bound again, on the very register. */
	if (bytes > sizeof(out->frames))
		return 0;
	if (bytes &&
	    bpf_probe_read_user(out->frames, bytes, (void *)PT_REGS_PARM5(ctx))) {
		__sync_fetch_and_add(&nr_lost_stack, 1);
		bytes = 0;
	}
	out->event.nr_frames = bytes / sizeof(__u64);
	emit(ctx, out, sizeof(out->event) + bytes);
	return 0;
}

/* Does a probe work here, and how? The loader hits this one itself. */
SEC("uprobe")
int selftest(struct pt_regs *ctx)
{
	(void)ctx;
	__sync_fetch_and_add(&nr_selftest_hits, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
