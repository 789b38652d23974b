/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pids as the recorder sees them, as the side-band has them too. For BPF programs
 * that include linux/bpf.h and bpf_helpers.h.
 */
#ifndef PERF_GPU_RECORDER_PID_BPF_H
#define PERF_GPU_RECORDER_PID_BPF_H

/* Set by the loader: its pid namespace, if that isn't the initial one */
const volatile __u64 pidns_dev, pidns_ino;

/* As bpf_get_current_pid_tgid(), in the recorder's namespace. */
static __always_inline __u64 current_pid_tgid(void)
{
	struct bpf_pidns_info ids;

	/* A process of a namespace within ours has no other pid to be had here. */
	if (!pidns_ino ||
	    bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, &ids, sizeof(ids)))
		return bpf_get_current_pid_tgid();
	return (__u64)ids.tgid << 32 | ids.pid;
}

#endif
