/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uprobes on the launch marker, with the BPF program of bpf/launch.bpf.c.
 *
 * Attached through a uprobe_multi link where the kernel has it (Linux 6.6; it is
 * content with CAP_BPF and CAP_PERFMON), else through perf events. One thread.
 */
#ifndef PERF_GPU_RECORD_PROBE_H
#define PERF_GPU_RECORD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/failure.h"

struct probe;

struct probe_config {
	const char *library; /* that has the marker; NULL: the self-test only */
	uint64_t session; /* others' markers are ignored */
	bool reads_frames; /* the marker's arguments lead to the stack */
	uint32_t wakeup_bytes; /* a frame ring with so many wakes its reader */
};

/* What the self-test, a probe in this very process, has shown. */
struct probe_facts {
	bool is_uprobe_multi;
	bool is_quick_nop5; /* the kernel turns a probe on a 5-byte nop into a call */
};

/**
 * probe__open - load the program, test it on this process, and attach it
 * @config:  copied
 * @ret:     released by probe__close(); written on success only
 * @failure: written on failure only; nothing is printed
 *
 * Return: 0 or a negative errno: -EPERM capabilities are missing, -ENOSYS the
 * kernel can't, -ENODATA probes are never hit, others of libbpf.
 */
int probe__open(const struct probe_config *config, struct probe **ret,
		struct failure *failure);

const struct probe_facts *probe__facts(const struct probe *probe);

/*
 * The maps that receive each CPU's ring: the ARRAY_OF_MAPS for a program that reads
 * frames, the PERF_EVENT_ARRAY for the other.
 */
int probe__frame_rings_fd(const struct probe *probe);
int probe__sample_rings_fd(const struct probe *probe);

/* Stop; counters stay readable. */
void probe__detach(struct probe *probe);

/*
 * What BPF has counted: launches and nodes of graphs without room, and samples without
 * their stack.
 */
uint64_t probe__nr_lost_ring(const struct probe *probe);
uint64_t probe__nr_lost_nodes(const struct probe *probe);
uint64_t probe__nr_lost_stack(const struct probe *probe);

void probe__close(struct probe *probe); /* NULL is fine */

#endif
