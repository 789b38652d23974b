// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rings of the CPUs are read one after the other, so records of a process that moved
 * between CPUs come out of order: nothing here depends on it, nor on its exit and exec.
 */
#include "record/cuda_users.h"

#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/proc.h"

#define LIBCUDA "libcuda.so" /* .1 and the driver's version follow */
#define LIBRARY "libperf-gpu-inject.so"

struct process {
	uint32_t pid; /* first: key */
	char comm[16];
	bool has_cuda;
	bool has_library; /* or needs none */
};

static int compare_pids(const void *a, const void *b)
{
	const struct process *one = a, *other = b;

	return (one->pid > other->pid) - (one->pid < other->pid);
}

/* Its name now; it may be gone, since records are read a little later. */
static void read_comm(struct process *process)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/comm", process->pid);
	proc__read_line(path, process->comm, sizeof(process->comm));
}

/* NULL: there is no memory. */
static struct process *get_process(struct cuda_users *users, uint32_t pid)
{
	struct process key = {.pid = pid}, *process, **node;

	node = tfind(&key, &users->processes, compare_pids);
	if (node)
		return *node;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	if (!tsearch(process, &users->processes, compare_pids)) {
		free(process);
		return NULL;
	}
	return process;
}

void cuda_users__note(struct cuda_users *users, const struct perfdata_mmap2 *mmap2)
{
	const char *slash = strrchr(mmap2->path, '/');
	const char *name = slash ? slash + 1 : mmap2->path;
	bool is_cuda = !strncmp(name, LIBCUDA, strlen(LIBCUDA));
	bool is_library = !strcmp(name, LIBRARY);
	struct process *process;

	if (!is_cuda && !is_library)
		return;
	process = get_process(users, mmap2->pid);
	if (!process)
		return;
	process->has_cuda |= is_cuda;
	process->has_library |= is_library;
	if (!*process->comm && !process->has_library)
		read_comm(process);
}

void cuda_users__note_launch(struct cuda_users *users, uint32_t pid)
{
	struct process *process = get_process(users, pid);

	if (process)
		process->has_library = true;
}

static void count_missing(const void *node, VISIT visit, void *ret)
{
	const struct process *process = *(struct process *const *)node;
	struct cuda_users_missing *missing = ret;

	if ((visit != postorder && visit != leaf) || !process->has_cuda ||
	    process->has_library)
		return;
	if (!missing->nr_processes++) {
		missing->pid = process->pid;
		memcpy(missing->comm, process->comm, sizeof(missing->comm));
	}
}

struct cuda_users_missing cuda_users__missing(const struct cuda_users *users)
{
	struct cuda_users_missing missing = {};

	twalk_r(users->processes, count_missing, &missing);
	return missing;
}

void cuda_users__release(struct cuda_users *users)
{
	tdestroy(users->processes, free);
	users->processes = NULL;
}
