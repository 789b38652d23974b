/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes have loaded libcuda, but not our library with it: the driver loads that
 * when CUDA is initialized, and passes over in silence one that it can't find, as in a
 * container, or may not take, as in a set-uid program. Known from the kernel's records of
 * mappings, or from /proc. One thread.
 */
#ifndef PERF_GPU_RECORD_CUDA_USERS_H
#define PERF_GPU_RECORD_CUDA_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata/format.h"
#include "record/uninjected.h"

/* All 0 is none. */
struct cuda_users {
	void *processes; /* a tree of tsearch(3), by pid */
};

/* Those that have libcuda and no library; if there is none, those that may not be looked at */
struct cuda_users_missing {
	uint64_t nr_processes;
	uint32_t pid; /* of one; the first that something is known of, by pid */
	char comm[16]; /* its name; "": it was gone */
	enum uninjected_why why;
	const char *other; /* uninjected__look()'s; until cuda_users__release() */
	bool is_unseen; /* whether they have libcuda isn't known: UNINJECTED_UNREADABLE */
};

/* Take a mapping, whose path ends. What there is no memory for is not counted. */
void cuda_users__note(struct cuda_users *users, const struct perfdata_mmap2 *mmap2);

/* The same of a process that runs, by all its mappings. */
void cuda_users__look(struct cuda_users *users, pid_t pid);

/* A launch of it is recorded in another way. */
void cuda_users__note_launch(struct cuda_users *users, uint32_t pid);

struct cuda_users_missing cuda_users__missing(const struct cuda_users *users);

void cuda_users__release(struct cuda_users *users);

#endif
