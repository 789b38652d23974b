// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/survivors.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/format.h"
#include "util/log.h"
#include "util/proc.h"

struct survivors survivors__find(const struct spool *spool)
{
	struct survivors survivors = {};
	char recorded_in[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 ||
		    proc__read_environment(pid, "PERF_GPU_SPOOL", recorded_in,
					   sizeof(recorded_in)) ||
		    strcmp(recorded_in, spool->path) != 0 || survivors.nr_processes++)
			continue;
		survivors.pid = (uint32_t)pid;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		proc__read_line(path, survivors.comm, sizeof(survivors.comm));
	}
	if (dir)
		closedir(dir);
	return survivors;
}

void survivors__print(const struct survivors *survivors)
{
	const uint64_t nr = survivors->nr_processes;
	struct format_buf count;

	if (!nr)
		return;
	pr_warning("the command has ended, but %s %s (%s, pid %u%s): what %s is not "
		   "recorded any further; keep %s in the foreground, or use "
		   "'perf-gpu wait' and record -p",
		   format__count(nr, &count),
		   format__plural(nr, "process that it started runs on",
				  "processes that it started run on"),
		   *survivors->comm ? survivors->comm : "which has ended", survivors->pid,
		   nr == 1 ? "" : " and others", format__plural(nr, "it does", "they do"),
		   format__plural(nr, "it", "them"));
}
