// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/survivors.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/format.h"
#include "util/log.h"
#include "util/proc.h"

/* A zombie has no environment any more. */
static bool has_variable(const char *pid, const char *wanted)
{
	char path[PATH_MAX], *variable = NULL;
	bool has_it = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!has_it && getdelim(&variable, &size, '\0', file) > 0)
		has_it = !strcmp(variable, wanted);
	free(variable);
	fclose(file);
	return has_it;
}

struct survivors survivors__find(const struct spool *spool)
{
	struct survivors survivors = {};
	char variable[PATH_MAX + 32], path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	snprintf(variable, sizeof(variable), "PERF_GPU_SPOOL=%s", spool->path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    !has_variable(entry->d_name, variable))
			continue;
		if (survivors.nr_processes++)
			continue;
		survivors.pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
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
