// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cuda_watch.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* A look at a process with a thousand mappings takes 1 ms. */
#define MIN_PERIOD_MS 100
#define MAX_PERIOD_MS 5000
#define PERIOD_PART   8 /* of the time that the command has run for, 1 in this */
/* Of one look; a command with more is hardly one without a log. */
#define MAX_PROCESSES 256

struct tree {
	pid_t pids[MAX_PROCESSES];
	size_t nr;
};

/* Of one thread: /proc/PID/task/TID/children, where the kernel has it */
static void add_children_of(struct tree *tree, pid_t pid, const char *tid)
{
	char path[96];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (tree->nr < MAX_PROCESSES && fscanf(file, "%d", &child) == 1)
		tree->pids[tree->nr++] = child;
	fclose(file);
}

static void add_children(struct tree *tree, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			add_children_of(tree, pid, entry->d_name);
	if (dir)
		closedir(dir);
}

void cuda_watch__look(struct cuda_watch *watch, uint64_t now_ms)
{
	struct tree tree = {.pids = {watch->pid}, .nr = 1};
	uint64_t period_ms;

	if (!watch->pid || watch->is_over || now_ms < watch->next_ms)
		return;
	/* At first there is nothing to be seen. */
	if (!watch->begin_ms) {
		watch->begin_ms = now_ms;
		watch->next_ms = now_ms + MIN_PERIOD_MS;
		return;
	}
	watch->is_over = !spool__is_empty(watch->spool);
	if (watch->is_over)
		return;
	for (size_t i = 0; i < tree.nr; i++) {
		cuda_users__look(watch->users, tree.pids[i]);
		add_children(&tree, tree.pids[i]);
	}
	watch->nr_looks++;
	period_ms = (now_ms - watch->begin_ms) / PERIOD_PART;
	if (period_ms < MIN_PERIOD_MS)
		period_ms = MIN_PERIOD_MS;
	if (period_ms > MAX_PERIOD_MS)
		period_ms = MAX_PERIOD_MS;
	watch->next_ms = now_ms + period_ms;
}
