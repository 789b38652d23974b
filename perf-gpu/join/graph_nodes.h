/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a graph's kernel, copy or memset to what made its node: it has the id of a node in
 * an executable graph, which is a copy of a node of a graph, which may be a copy too:
 *
 *   activity ── node ── cloned from ── cloned from ── maker
 *                └──── updated with, for later launches ──┘
 *
 * The maker is a launch that was captured, or a node added by the graph API: either
 * way a sample of perf.data that has a stack.
 *
 * Invariant: a node is said to be a copy behind all that is said of its original, so
 * following copies ends, whatever is in the file.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_GRAPH_NODES_H
#define PERF_GPU_JOIN_GRAPH_NODES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sidecar/sidecar.h"

struct graph_nodes;

/**
 * graph_nodes__new - find the makers of all nodes that kernels ran of
 * @sidecar: must outlive it
 * @ret:     released by graph_nodes__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int graph_nodes__new(const struct sidecar *sidecar, struct graph_nodes **ret);
void graph_nodes__delete(struct graph_nodes *nodes); /* NULL is fine */

/* How many makers there are; they have numbers from 0 on. */
size_t graph_nodes__nr_makers(const struct graph_nodes *nodes);

/**
 * graph_nodes__find_maker - is a sample the maker of a node that ran?
 * @log: index in sidecar.logs
 * @api, @key: the sample's; key is a correlation id, or a node with
 *             GPU_LOG_API_GRAPH_NODE in api
 *
 * Return: its number, or -ENOENT.
 */
ssize_t graph_nodes__find_maker(const struct graph_nodes *nodes, uint32_t log,
				uint32_t api, uint64_t key);

/**
 * graph_nodes__maker_of - what made the node of an activity
 * @activity: of the sidecar, of any kind
 *
 * Return: its number; there needn't be a sample of it. -ENOENT if it is of no graph, -ENODATA if the log doesn't tell where nodes come from.
 */
ssize_t graph_nodes__maker_of(const struct graph_nodes *nodes,
			      const struct sidecar_activity *activity);

#endif
