// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probes on the launch functions of libcuda (--probe api): for each call by a
 * recorded process, one sample into the ring of the CPU it ran on.
 *
 * A probe is on a file, so on every process that maps it. Which of them are recorded is
 * known here: the recorder's own children, and theirs from the moment of their fork; or
 * those that the recorder names.
 *
 * What can't be emitted is counted here, and only here: the kernel's LOST records tell
 * of the same losses again, or of none.
 *
 * Compiled without vmlinux.h: of the kernel's structures, two members are used, which
 * the loader finds in the running kernel.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "api_hit.h"
#include "recorder_pid.bpf.h"

#define MAX_PROCESSES (64 << 10)

struct task_struct {
	int pid;
	int tgid;
} __attribute__((preserve_access_index));

/* Set by the loader: whose children are recorded, as itself sees its pid */
const volatile __u32 recorder_pid;
/* Set by the loader: the recorder names each process, and children aren't recorded */
const volatile __u8 is_by_name;

/* Written by the loader at any time: nothing is recorded for now */
__u8 is_off;

/* Read by the loader */
__u64 nr_lost_ring; /* samples that found no room */
__u64 nr_lost_processes; /* that were too many to keep track of */

/* One ring for each CPU, which the loader makes */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} sample_rings SEC(".maps");

/* Recorded processes, by their pid in the initial namespace */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, __u32);
	__type(value, __u8);
} recorded SEC(".maps");

static __always_inline int is_recorded(__u32 pid)
{
	return bpf_map_lookup_elem(&recorded, &pid) != NULL;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(note_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 pid = child->tgid;
	__u8 value = 1;

	if (is_by_name || child->pid != child->tgid) /* a thread */
		return 0;
	/* The parent is who is running. */
	if (current_pid_tgid() >> 32 != recorder_pid && !is_recorded(parent->tgid))
		return 0;
	if (bpf_map_update_elem(&recorded, &pid, &value, BPF_ANY))
		__sync_fetch_and_add(&nr_lost_processes, 1);
	return 0;
}

/* The pid is free from here on. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(note_free, struct task_struct *task)
{
	__u32 pid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&recorded, &pid);
	return 0;
}

/* Another program: it names itself, if it has to. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(note_exec, struct task_struct *task)
{
	__u32 pid = task->tgid;

	if (is_by_name)
		bpf_map_delete_elem(&recorded, &pid);
	return 0;
}

static __always_inline __u64 caller_of(struct pt_regs *ctx)
{
	__u64 caller = 0;

#if defined(__TARGET_ARCH_x86)
	if (bpf_probe_read_user(&caller, sizeof(caller), (void *)PT_REGS_SP(ctx)))
		caller = 0;
#elif defined(__TARGET_ARCH_arm64)
	caller = PT_REGS_RET(ctx); /* the link register */
#else
#error "where is a function's return address at its entry?"
#endif
	return caller;
}

/* The stack is the kernel's part of the sample. */
SEC("uprobe")
int api_call(struct pt_regs *ctx)
{
	struct api_hit hit;

	if (is_off || !is_recorded(bpf_get_current_pid_tgid() >> 32))
		return 0;
	hit.caller = caller_of(ctx);
	if (bpf_perf_event_output(ctx, &sample_rings, BPF_F_CURRENT_CPU, &hit,
				  sizeof(hit)))
		__sync_fetch_and_add(&nr_lost_ring, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
