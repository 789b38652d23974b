// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/synthesize.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "record/proc_maps.h"
#include "record/task_records.h"
#include "util/clock.h"
#include "util/proc.h"

struct synthesis {
	struct output *output;
	uint32_t pid;
	bool has_data;
	uint64_t time_ns;
};

/* A thread's name. One that has ended meanwhile had none that mattered. */
static int write_comm(const struct synthesis *to, uint32_t tid)
{
	const struct task task = {.pid = to->pid, .tid = tid};
	char path[64], comm[16];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", to->pid, tid);
	if (proc__read_line(path, comm, sizeof(comm)))
		return 0;
	return task_records__comm(to->output, task, comm, false, to->time_ns);
}

static int write_thread(const struct synthesis *to, uint32_t tid)
{
	const struct task main_thread = {.pid = to->pid, .tid = to->pid};
	const struct task task = {.pid = to->pid, .tid = tid};
	int err = 0;

	if (tid != to->pid)
		err = task_records__fork(to->output, task, main_thread, to->time_ns);
	return err ? err : write_comm(to, tid);
}

static int write_threads(const struct synthesis *to)
{
	struct dirent *entry;
	char path[64];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", to->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = write_thread(to,
					   (uint32_t)strtoul(entry->d_name, NULL, 10));
	closedir(dir);
	return err;
}

static int write_map(void *ctx, const struct gpu_log_map *map)
{
	const struct synthesis *to = ctx;

	if (!(map->prot & PROT_EXEC) && !to->has_data)
		return 0;
	return task_records__map(to->output, to->pid, map, to->time_ns);
}

int synthesize__process(struct output *output, pid_t pid, bool has_data)
{
	const struct synthesis to = {
		.output = output,
		.pid = (uint32_t)pid,
		.has_data = has_data,
		.time_ns = clock__now_ns(),
	};
	int err;

	err = write_threads(&to);
	if (!err)
		err = proc_maps__read(pid, write_map, (void *)&to);
	return err == -ENOENT || err == -ESRCH ? 0 : err;
}
