/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's records of processes and mappings (linux/perf_event.h), made where the
 * kernel isn't asked. Each returns 0 or a negative errno, printed. One thread.
 */
#ifndef PERF_GPU_RECORD_TASK_RECORDS_H
#define PERF_GPU_RECORD_TASK_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"
#include "record/output.h"

struct task {
	uint32_t pid, tid;
};

/* @comm: shorter than 16. @is_exec: what was mapped is no more. */
int task_records__comm(struct output *output, struct task task, const char *comm,
		       bool is_exec, uint64_t time_ns);

/* A thread of @parent's process, or a process, which has the same mappings */
int task_records__fork(struct output *output, struct task task, struct task parent,
		       uint64_t time_ns);

int task_records__exit(struct output *output, struct task task, struct task parent,
		       uint64_t time_ns);

/* @map: its path is shorter than PATH_MAX */
int task_records__map(struct output *output, uint32_t pid, const struct gpu_log_map *map,
		      uint64_t time_ns);

#endif
