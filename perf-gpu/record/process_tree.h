/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records of the kernel are of processes that are recorded, or of descendants of
 * them, where it tells of every process there is. One thread.
 */
#ifndef PERF_GPU_RECORD_PROCESS_TREE_H
#define PERF_GPU_RECORD_PROCESS_TREE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process_tree;

/**
 * process_tree__new - begin with some processes
 * @ret: released by process_tree__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int process_tree__new(const pid_t *pids, size_t nr, struct process_tree **ret);

/* Is this record of one of them? Learns of children from FORK records. */
bool process_tree__has(struct process_tree *tree, const struct perf_event_header *event);

void process_tree__delete(struct process_tree *tree); /* NULL is fine */

#endif
