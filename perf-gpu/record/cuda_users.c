// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rings of the CPUs are read one after the other, so records of a process that moved
 * between CPUs come out of order: nothing here depends on it, nor on its exit and exec.
 */
#include "record/cuda_users.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/injection.h"
#include "record/proc_maps.h"
#include "util/proc.h"

#define LIBCUDA "libcuda.so" /* .1 and the driver's version follow */

struct process {
	uint32_t pid; /* first: key */
	char comm[16];
	bool has_cuda;
	bool is_unseen; /* it may not be looked at */
	bool has_library;
	bool is_launching; /* and that is recorded: it needs none, or has it */
	enum uninjected_why why; /* if it had none when it was looked at ... */
	char *other; /* ... but this; or NULL */
};

static int compare_pids(const void *a, const void *b)
{
	const struct process *one = a, *other = b;

	return (one->pid > other->pid) - (one->pid < other->pid);
}

/* What it is now; it may be gone, since records are read a little later. */
static void look(struct process *process, uint64_t address)
{
	char path[32], other[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%u/comm", process->pid);
	proc__read_line(path, process->comm, sizeof(process->comm));
	process->why = uninjected__look((pid_t)process->pid, address, other);
	free(process->other);
	process->other = *other ? strdup(other) : NULL;
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

/* It takes a set-uid program's word for nothing: the library is there, and does nothing. */
static bool is_injected(const struct process *process)
{
	return process->has_library && process->why != UNINJECTED_SECURE;
}

static void note(struct cuda_users *users, uint32_t pid, const char *path,
		 uint64_t address)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool is_cuda = !strncmp(name, LIBCUDA, strlen(LIBCUDA));
	bool is_library = injection__is_ours(name);
	struct process *process;

	if (!is_cuda && !is_library)
		return;
	process = get_process(users, pid);
	if (!process)
		return;
	process->has_library |= is_library;
	if (is_cuda && !process->has_cuda && !process->is_launching)
		look(process, address);
	process->has_cuda |= is_cuda;
}

void cuda_users__note(struct cuda_users *users, const struct perfdata_mmap2 *mmap2)
{
	note(users, mmap2->pid, mmap2->path, mmap2->addr);
}

struct looking {
	struct cuda_users *users;
	pid_t pid;
};

static int look_at_map(void *ctx, const struct gpu_log_map *map)
{
	const struct looking *looking = ctx;

	note(looking->users, (uint32_t)looking->pid, map->path, map->start);
	return 0;
}

void cuda_users__look(struct cuda_users *users, pid_t pid)
{
	struct looking looking = {.users = users, .pid = pid};
	struct process *process;
	int err;

	err = proc_maps__read(pid, look_at_map, &looking);
	process = err == -EACCES || err == -EPERM ? get_process(users, (uint32_t)pid)
						  : NULL;
	if (!process)
		return;
	process->is_unseen = true;
	look(process, UINT64_MAX);
}

void cuda_users__note_launch(struct cuda_users *users, uint32_t pid)
{
	struct process *process = get_process(users, pid);

	if (process)
		process->is_launching = true;
}

static void count_missing(const void *node, VISIT visit, void *ret)
{
	const struct process *process = *(struct process *const *)node;
	struct cuda_users_missing *missing = ret;

	if ((visit != postorder && visit != leaf) || process->is_launching ||
	    is_injected(process) ||
	    (missing->is_unseen ? !process->is_unseen : !process->has_cuda))
		return;
	/* One of which more is known rather than the first */
	if (missing->nr_processes++ && (missing->why || !process->why))
		return;
	missing->pid = process->pid;
	memcpy(missing->comm, process->comm, sizeof(missing->comm));
	missing->why = process->why;
	missing->other = process->other;
}

struct cuda_users_missing cuda_users__missing(const struct cuda_users *users)
{
	struct cuda_users_missing missing = {};

	twalk_r(users->processes, count_missing, &missing);
	if (missing.nr_processes)
		return missing;
	missing.is_unseen = true;
	twalk_r(users->processes, count_missing, &missing);
	return missing;
}

static void release(void *node)
{
	struct process *process = node;

	free(process->other);
	free(process);
}

void cuda_users__release(struct cuda_users *users)
{
	tdestroy(users->processes, release);
	users->processes = NULL;
}
