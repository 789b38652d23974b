/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which numbers processes and threads have: a bit for each of 2^32, in pages that are
 * there only where a bit is set. One thread.
 */
#ifndef PERF_GPU_UTIL_PID_SET_H
#define PERF_GPU_UTIL_PID_SET_H

#include <stdbool.h>
#include <stdint.h>

#define PID_SET_NR_PAGES (1u << 16)

struct pid_set {
	uint64_t *pages[PID_SET_NR_PAGES]; /* NULL: no bit is set */
	uint32_t highest; /* 0: it is empty */
};

/* Add a number; 0 is nobody's, and none. Return: 0 or -ENOMEM. */
int pid_set__add(struct pid_set *set, uint32_t pid);

bool pid_set__has(const struct pid_set *set, uint32_t pid);

/* Add all of another one's, each @offset higher. Return: 0 or -ENOMEM. */
int pid_set__add_all(struct pid_set *set, const struct pid_set *from, uint32_t offset);

/* Does a number stand in both? */
bool pid_set__meets(const struct pid_set *set, const struct pid_set *other);

/* Free the pages; the set is empty. */
void pid_set__release(struct pid_set *set);

#endif
