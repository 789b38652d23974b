/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes of several pid namespaces in one perf.data, which say their pids themselves:
 * those of another namespace than the recorder's get higher ones, a round number for each
 * namespace, so that no two have the same. (The kernel says pids as the recorder sees
 * them.) One thread.
 */
#ifndef PERF_GPU_RECORD_PID_NAMESPACES_H
#define PERF_GPU_RECORD_PID_NAMESPACES_H

#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/*
 * As many as there is room for in a pid_t, below the tids that inject and script make up;
 * more begin again, and are told.
 */
#define PID_NAMESPACES_MAX 199

struct pid_namespaces {
	uint64_t own; /* the recorder's; 0: not known */
	uint64_t others[PID_NAMESPACES_MAX]; /* in the order they were met */
	size_t nr_others;
	uint64_t nr_too_many; /* processes of those there is no room for */
};

void pid_namespaces__init(struct pid_namespaces *namespaces);

/**
 * pid_namespaces__offset - by how much the pids of a namespace are higher
 * @pid_namespace: inode; 0, of who doesn't know it, is taken for the recorder's
 */
uint32_t pid_namespaces__offset(struct pid_namespaces *namespaces,
				uint64_t pid_namespace);

/* Tell the user, if there was another than the recorder's. */
void pid_namespaces__tell(const struct pid_namespaces *namespaces);

#endif
