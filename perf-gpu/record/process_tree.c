// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/process_tree.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's PID_MAX_LIMIT on 64-bit machines */
#define MAX_PIDS (4u << 20)

struct process_tree {
	uint64_t is_in[MAX_PIDS / 64];
};

/* What COMM, FORK, EXIT and MMAP2 records begin with */
struct task_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t second; /* of a FORK: the parent's pid */
};

static bool is_in(const struct process_tree *tree, uint32_t pid)
{
	return pid < MAX_PIDS && tree->is_in[pid / 64] >> pid % 64 & 1;
}

static void set(struct process_tree *tree, uint32_t pid, bool on)
{
	if (pid >= MAX_PIDS)
		return;
	tree->is_in[pid / 64] &= ~(1ull << pid % 64);
	tree->is_in[pid / 64] |= (uint64_t)on << pid % 64;
}

int process_tree__new(const pid_t *pids, size_t nr, struct process_tree **ret)
{
	struct process_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		set(tree, (uint32_t)pids[i], true);
	*ret = tree;
	return 0;
}

bool process_tree__has(struct process_tree *tree, const struct perf_event_header *event)
{
	struct task_record record;

	if (event->size < sizeof(record))
		return false;
	memcpy(&record, event, sizeof(record));
	switch (event->type) {
	case PERF_RECORD_FORK:
		/* A thread's has its own process as the parent. */
		if (record.pid != record.second)
			set(tree, record.pid, is_in(tree, record.second));
		break;
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		break;
	default:
		return false;
	}
	return is_in(tree, record.pid);
}

void process_tree__delete(struct process_tree *tree)
{
	free(tree);
}
