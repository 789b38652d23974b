// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whom a recording would meet: profilers and debuggers in processes that run now, and
 * DCGM. Of other users' processes there is nothing to be seen without rights; how many they
 * are is said.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "holder.h"
#include "record/api_probe.h"
#include "record/proc_maps.h"
#include "util/proc.h"

/* Of a kind so many are named, others counted. */
#define MAX_NAMED 8

struct process {
	pid_t pid;
	char comm[32];
	bool has_cuda;
	const struct holder_library *library; /* one in use before one that could be */
	char file[128]; /* of it */
};

struct scan {
	struct report *report;
	size_t nr_cuda, nr_unseen;
	size_t nr_holders, nr_traced; /* those that are named, and others */
	size_t nr_possible; /* have a profiler that may not be in use */
	char possible[128]; /* whose, of the first */
};

static const char *plural(size_t nr)
{
	return nr == 1 ? "process" : "processes";
}

static const char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* proc_maps__read() */
static int look_at_mapping(void *ctx, const struct gpu_log_map *map)
{
	const struct holder_library *library = holder__of_library(map->path);
	struct process *process = ctx;

	process->has_cuda |= api_probe__is_libcuda(map->path);
	if (!library ||
	    (process->library && process->library->is_in_use >= library->is_in_use))
		return 0;
	process->library = library;
	snprintf(process->file, sizeof(process->file), "%s", name_of_file(map->path));
	return 0;
}

static void report_holder(struct scan *scan, const struct process *process)
{
	if (!process->library->is_in_use) {
		if (!scan->nr_possible++)
			snprintf(scan->possible, sizeof(scan->possible), "%s",
				 process->library->holder);
		return;
	}
	if (scan->nr_holders++ < MAX_NAMED)
		report__line(scan->report, VERDICT_NOTE, "profiler",
			     "%s (pid %d) has %s: %s is loaded", process->comm,
			     (int)process->pid, process->library->holder, process->file);
}

static void report_tracer(struct scan *scan, const struct process *process)
{
	char tracer[64];

	if (!holder__of_tracer(process->pid, tracer, sizeof(tracer)))
		return;
	if (scan->nr_traced++ < MAX_NAMED)
		report__line(scan->report, VERDICT_NOTE, "debugger",
			     "%s (pid %d) is traced by %s: cuda-gdb takes CUPTI's place, "
			     "others don't",
			     process->comm, (int)process->pid, tracer);
}

/* By its name: services that take what a profiler could want */
static void report_service(struct scan *scan, const struct process *process)
{
	if (!strcmp(process->comm, "nv-hostengine") ||
	    !strcmp(process->comm, "dcgm-exporter"))
		report__line(scan->report, VERDICT_NOTE, "DCGM",
			     "%s (pid %d) runs: it reads the GPU's counters, which "
			     "record doesn't, and takes no place of CUPTI's",
			     process->comm, (int)process->pid);
}

static void look_at(struct scan *scan, pid_t pid)
{
	struct process process = {.pid = pid};
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (proc__read_line(path, process.comm, sizeof(process.comm)))
		return;
	report_service(scan, &process);
	err = proc_maps__read(pid, look_at_mapping, &process);
	scan->nr_unseen += err == -EACCES || err == -EPERM;
	if (err || !process.has_cuda)
		return;
	scan->nr_cuda++;
	if (process.library)
		report_holder(scan, &process);
	report_tracer(scan, &process);
}

static void report_counts(const struct scan *scan)
{
	struct report *report = scan->report;
	size_t nr_more;

	if (!scan->nr_holders && !scan->nr_traced)
		report__line(report, VERDICT_OK, "profilers",
			     "none, nor a debugger, in %zu %s that %s CUDA now",
			     scan->nr_cuda, plural(scan->nr_cuda),
			     scan->nr_cuda == 1 ? "uses" : "use");
	nr_more = (scan->nr_holders > MAX_NAMED ? scan->nr_holders - MAX_NAMED : 0) +
		  (scan->nr_traced > MAX_NAMED ? scan->nr_traced - MAX_NAMED : 0);
	if (nr_more)
		report__line(report, VERDICT_NOTE, "profilers", "%zu more", nr_more);
	if (scan->nr_holders)
		report__line(report, VERDICT_NOTE, "profilers",
			     "where another has CUPTI, record takes the stacks of "
			     "launches alone; --share leaves it to him");
	if (scan->nr_possible)
		report__line(report, VERDICT_NOTE, "profilers",
			     "%zu %s could use %s: in one that is recorded, it finds "
			     "CUPTI taken, unless --share is given",
			     scan->nr_possible, plural(scan->nr_possible),
			     scan->possible);
	if (scan->nr_unseen)
		report__detail(report, "%zu %s of other users can't be looked at",
			       scan->nr_unseen, plural(scan->nr_unseen));
}

void check__others(struct report *report)
{
	struct scan scan = {.report = report};
	const struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name)) {
			pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

			if (pid != getpid())
				look_at(&scan, pid);
		}
	if (dir)
		closedir(dir);
	report_counts(&scan);
}
