/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses CUDA without us, where the kernel tells of no mappings (--stacks process, or of
 * those who have executed a set-uid program): the processes of the command are looked at
 * in /proc, until one of them has a log. The longer
 * the command runs, the more seldom: what is missed is a process of a small part of that
 * time. One thread.
 */
#ifndef PERF_GPU_RECORD_CUDA_WATCH_H
#define PERF_GPU_RECORD_CUDA_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/cuda_users.h"
#include "record/spool.h"

/* All 0 but the first three at the beginning */
struct cuda_watch {
	pid_t pid; /* of the command; 0: nothing is looked at */
	struct cuda_users *users; /* that are found */
	const struct spool *spool;
	uint64_t begin_ms, next_ms;
	bool is_over; /* there is a log */
	unsigned int nr_looks;
};

/* Look, if it is time to. @now_ms: by CLOCK_MONOTONIC */
void cuda_watch__look(struct cuda_watch *watch, uint64_t now_ms);

#endif
