/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has to be known of processes to understand a part of a recording that comes
 * later: who is there, what it is called and what it has mapped, as the kernel's records
 * of before say. One thread.
 *
 * It grows with the processes that are there; and never beyond TASK_STATE_MAX_BYTES,
 * beyond which new records are not known in a later part, and counted.
 */
#ifndef PERF_GPU_RECORD_TASK_STATE_H
#define PERF_GPU_RECORD_TASK_STATE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_STATE_MAX_BYTES (64u << 20)

/* All but attr 0: nobody is there. */
struct task_state {
	const struct perf_event_attr *attr; /* of the records */
	void *processes; /* a tree of tsearch(3), by pid */
	/* Records come from each CPU in order, but not in the order of all CPUs. */
	struct waiting_task *waiting;
	size_t nr_waiting, waiting_capacity;
	size_t nr_bytes; /* of records */
	uint64_t nr_forgotten; /* records there was no room for */
};

/* A record, with its sample_id, is of before from now on. @time_ns: its own */
void task_state__take(struct task_state *state, const struct perf_event_header *event,
		      uint64_t time_ns);

/* All records that are earlier than this have come. */
void task_state__settle(struct task_state *state, uint64_t time_ns);

/**
 * task_state__write - the records that say the same
 * @write: gets each, with @ctx: COMM and MMAP2, with the times that they had, and what
 *         isn't settled yet. Returns 0 or an error to end with
 *
 * Return: 0 or @write's error.
 */
int task_state__write(const struct task_state *state,
		      int (*write)(void *ctx, const struct perf_event_header *event),
		      void *ctx);

void task_state__release(struct task_state *state);

#endif
