// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probe on the launch marker, perf_gpu_launch() of the injected library: for
 * each call, one record into a ring of the CPU it ran on.
 *
 * Invariants:
 *   - Nothing the target says is believed but for its own samples: the session
 *     must be ours, counts are bounded, memory is read by bpf_probe_read_user().
 *   - A uprobe's program can be preempted by another of the same CPU, so there is
 *     no scratch memory of the CPU: frames are read into the ring itself.
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
#include "recorder_pid.bpf.h"

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
/* Bytes in a frame ring at which its reader is woken */
const volatile __u32 wakeup_bytes;

/* Read by the loader */
__u64 nr_lost_ring; /* launches that found no room */
__u64 nr_lost_nodes; /* nodes of graphs that found none */
__u64 nr_lost_stack; /* samples that went out without their stack */
__u64 nr_selftest_hits;

/* One ring for each CPU, which the loader makes */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} sample_rings SEC(".maps");

struct frame_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* A ring for each CPU too: one for all would be a lock that launches wait for. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* the loader knows how many CPUs there are */
	__uint(key_size, sizeof(__u32));
	__array(values, struct frame_ring);
} frame_rings SEC(".maps");

static __always_inline void fill(struct pt_regs *ctx, struct launch_event *event)
{
	event->log_id = PT_REGS_PARM2(ctx);
	event->correlation_id = PT_REGS_PARM3(ctx);
	event->api = PT_REGS_PARM4(ctx);
	event->pad = 0;
	if (event->api == LAUNCH_API_TAKEN)
		event->correlation_id = bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void count_lost(struct pt_regs *ctx)
{
	if ((__u32)PT_REGS_PARM4(ctx) & LAUNCH_API_GRAPH_NODE)
		__sync_fetch_and_add(&nr_lost_nodes, 1);
	else
		__sync_fetch_and_add(&nr_lost_ring, 1);
}

/* --call-graph fp and dwarf: the stack is the kernel's part of the sample. */
SEC("uprobe")
int launch_sample(struct pt_regs *ctx)
{
	struct launch_event event;

	if (PT_REGS_PARM1(ctx) != session)
		return 0;
	fill(ctx, &event);
	if (bpf_perf_event_output(ctx, &sample_rings, BPF_F_CURRENT_CPU, &event,
				  sizeof(event)))
		count_lost(ctx);
	return 0;
}

/*
 * Wake the reader once, when its ring fills up to the mark. A wake-up at every
 * record would cost more than all the rest; the reader looks by itself, too.
 */
static __always_inline __u64 wakeup_flag(struct pt_regs *ctx, void *ring,
					 __u64 record_bytes)
{
	__u64 bytes = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	/* The process waits. */
	if ((__u32)PT_REGS_PARM4(ctx) == LAUNCH_API_TAKEN)
		return BPF_RB_FORCE_WAKEUP;
	if (bytes >= wakeup_bytes && bytes < wakeup_bytes + record_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/* ROOM is a constant: the verifier wants to know a reservation's size. */
static __always_inline int emit_frames(struct pt_regs *ctx, void *ring, __u64 nr_frames,
				       const __u64 room)
{
	const __u64 record_bytes = sizeof(struct launch_frames) + room * sizeof(__u64);
	__u64 id = current_pid_tgid();
	struct launch_frames *out;
	__u64 bytes;

	out = bpf_ringbuf_reserve(ring, record_bytes, 0);
	if (!out) {
		count_lost(ctx);
		return 0;
	}
	out->time_ns = bpf_ktime_get_ns();
	out->pid = id >> 32;
	out->tid = (__u32)id;
	out->cpu = bpf_get_smp_processor_id();
	fill(ctx, &out->event);
	bytes = nr_frames * sizeof(__u64);
	/* The verifier wants to see the bound again, on the very register. */
	if (bytes > room * sizeof(__u64))
		bytes = room * sizeof(__u64);
	if (bytes &&
	    bpf_probe_read_user(out->frames, bytes, (void *)PT_REGS_PARM5(ctx))) {
		__sync_fetch_and_add(&nr_lost_stack, 1);
		bytes = 0;
	}
	out->nr_frames = bytes / sizeof(__u64);
	bpf_ringbuf_submit(out, wakeup_flag(ctx, ring, record_bytes));
	return 0;
}

/* --call-graph unwind: the stack is an array in the target's memory. */
SEC("uprobe")
int launch_frames(struct pt_regs *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 nr_frames = MARKER_NR_FRAMES(ctx);
	void *ring;

	if (PT_REGS_PARM1(ctx) != session)
		return 0;
	ring = bpf_map_lookup_elem(&frame_rings, &cpu);
	if (!ring) {
		/* The CPU came online after the rings were made. */
		count_lost(ctx);
		return 0;
	}
	if (nr_frames > max_frames)
		nr_frames = max_frames;
	if (nr_frames <= 16)
		return emit_frames(ctx, ring, nr_frames, 16);
	if (nr_frames <= 32)
		return emit_frames(ctx, ring, nr_frames, 32);
	if (nr_frames <= 64)
		return emit_frames(ctx, ring, nr_frames, 64);
	return emit_frames(ctx, ring, nr_frames, LAUNCH_MAX_FRAMES);
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
