// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/graph_nodes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gpu_log.h"

/* What has a stack in perf.data: a sample, by its key. */
struct maker {
	uint32_t log;
	bool is_launch; /* key is a correlation id; else the node that was added */
	uint64_t key;
};

struct graph_nodes {
	const struct sidecar *sidecar;
	/* into sidecar->graph_nodes, by node and the first launch they are of */
	const struct sidecar_graph_node **steps;
	struct maker
		*ends; /* of each of sidecar->graph_nodes: where it is from at last */
	struct maker *makers; /* in order */
	size_t nr_makers;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The first correlation id that a record is of */
static uint64_t first_id(const struct sidecar_graph_node *step)
{
	if (step->origin != GPU_LOG_NODE_UPDATED)
		return 0;
	return step->correlation_id < UINT64_MAX ? step->correlation_id + 1 : UINT64_MAX;
}

static int compare_steps(const void *a, const void *b)
{
	const struct sidecar_graph_node *x = *(const struct sidecar_graph_node *const *)a;
	const struct sidecar_graph_node *y = *(const struct sidecar_graph_node *const *)b;
	int order = compare_u64(x->log, y->log);

	if (!order)
		order = compare_u64(x->node, y->node);
	if (!order)
		order = compare_u64(first_id(x), first_id(y));
	return order ? order : (x > y) - (x < y);
}

static int compare_makers(const void *a, const void *b)
{
	const struct maker *x = a, *y = b;
	int order = compare_u64(x->log, y->log);

	if (!order)
		order = compare_u64(x->is_launch, y->is_launch);
	return order ? order : compare_u64(x->key, y->key);
}

/* How many steps are of nodes before this one, or of it and not later than @id. */
static size_t count_until(const struct graph_nodes *nodes, uint32_t log, uint64_t node,
			  uint64_t id)
{
	size_t low = 0, high = nodes->sidecar->nr_graph_nodes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sidecar_graph_node *step = nodes->steps[middle];
		int order = compare_u64(step->log, log);

		if (!order)
			order = compare_u64(step->node, node);
		if (!order)
			order = compare_u64(first_id(step), id);
		if (order <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What is said of a node for a launch; NULL if nothing is. */
static const struct sidecar_graph_node *find_step(const struct graph_nodes *nodes,
						  uint32_t log, uint64_t node,
						  uint64_t correlation_id)
{
	size_t nr = count_until(nodes, log, node, correlation_id);
	const struct sidecar_graph_node *step = nr ? nodes->steps[nr - 1] : NULL;

	return step && step->log == log && step->node == node ? step : NULL;
}

/*
 * The end of the way that begins with a step of which it is known for all before it:
 * copies of copies can be in a chain as long as the log.
 */
static struct maker find_end(const struct graph_nodes *nodes,
			     const struct sidecar_graph_node *step)
{
	const struct sidecar_graph_node *next;

	if (step->origin != GPU_LOG_NODE_CAPTURED) {
		next = find_step(nodes, step->log, step->original, 0);
		if (next && next < step)
			return nodes->ends[next - nodes->sidecar->graph_nodes];
		/* One behind it breaks the format, and is followed no further. */
		if (!next || next->origin != GPU_LOG_NODE_CAPTURED)
			return (struct maker){.log = step->log, .key = step->original};
		step = next;
	}
	return (struct maker){
		.log = step->log, .is_launch = true, .key = step->correlation_id};
}

static int find_ends(struct graph_nodes *nodes)
{
	const struct sidecar *sidecar = nodes->sidecar;

	nodes->ends = calloc(sidecar->nr_graph_nodes + 1, sizeof(*nodes->ends));
	if (!nodes->ends)
		return -ENOMEM;
	for (size_t i = 0; i < sidecar->nr_graph_nodes; i++)
		nodes->ends[i] = find_end(nodes, &sidecar->graph_nodes[i]);
	return 0;
}

/* Where a node is from, by what is said of it; @step may be NULL: nothing is. */
static struct maker follow(const struct graph_nodes *nodes, uint32_t log, uint64_t node,
			   const struct sidecar_graph_node *step)
{
	return step ? nodes->ends[step - nodes->sidecar->graph_nodes]
		    : (struct maker){.log = log, .key = node};
}

/* Sort, and leave each once. Return: how many there are. */
static size_t settle(struct maker *makers, size_t nr_makers)
{
	size_t nr = 0;

	qsort(makers, nr_makers, sizeof(*makers), compare_makers);
	for (size_t i = 0; i < nr_makers; i++) {
		if (!nr || compare_makers(&makers[nr - 1], &makers[i]))
			makers[nr++] = makers[i];
	}
	return nr;
}

/* The nodes that activities are of, where it is told where nodes come from; each once. */
static int list_nodes(const struct sidecar *sidecar, struct maker **ret, size_t *ret_nr)
{
	/* One more: malloc(0) may give NULL. */
	struct maker *nodes = calloc(sidecar->nr_shapes + 1, sizeof(*nodes));
	size_t nr = 0;

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < sidecar->nr_shapes; i++) {
		const struct sidecar_shape *shape = &sidecar->shapes[i];

		if (shape->graph_node && sidecar->logs[shape->log].tells_graph_nodes)
			nodes[nr++] = (struct maker){.log = shape->log,
						     .key = shape->graph_node};
	}
	*ret_nr = settle(nodes, nr);
	*ret = nodes;
	return 0;
}

/* All that a node may come from at one time or another. Return: how many there are. */
static size_t list_makers(const struct graph_nodes *nodes, const struct maker *of,
			  struct maker *ret)
{
	size_t nr = 0;

	for (size_t i = count_until(nodes, of->log, of->key, UINT64_MAX); i-- > 0;) {
		const struct sidecar_graph_node *step = nodes->steps[i];

		if (step->log != of->log || step->node != of->key)
			break;
		ret[nr++] = follow(nodes, of->log, of->key, step);
	}
	ret[nr] = follow(nodes, of->log, of->key, NULL);
	return nr + 1;
}

static int find_makers(struct graph_nodes *nodes)
{
	struct maker *ran = NULL, *makers;
	size_t nr_ran, nr = 0;
	int err;

	err = list_nodes(nodes->sidecar, &ran, &nr_ran);
	if (err)
		return err;
	/* A step is of one node. */
	makers = calloc(nr_ran + nodes->sidecar->nr_graph_nodes + 1, sizeof(*makers));
	if (!makers) {
		free(ran);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr_ran; i++)
		nr += list_makers(nodes, &ran[i], makers + nr);
	free(ran);
	nodes->makers = makers;
	nodes->nr_makers = settle(makers, nr);
	return 0;
}

int graph_nodes__new(const struct sidecar *sidecar, struct graph_nodes **ret)
{
	struct graph_nodes *nodes = calloc(1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	nodes->sidecar = sidecar;
	nodes->steps = calloc(sidecar->nr_graph_nodes + 1, sizeof(*nodes->steps));
	if (!nodes->steps)
		goto no_memory;
	for (size_t i = 0; i < sidecar->nr_graph_nodes; i++)
		nodes->steps[i] = &sidecar->graph_nodes[i];
	qsort(nodes->steps, sidecar->nr_graph_nodes, sizeof(*nodes->steps),
	      compare_steps);
	if (find_ends(nodes) || find_makers(nodes))
		goto no_memory;
	*ret = nodes;
	return 0;
no_memory:
	graph_nodes__delete(nodes);
	return -ENOMEM;
}

void graph_nodes__delete(struct graph_nodes *nodes)
{
	if (!nodes)
		return;
	free(nodes->steps);
	free(nodes->ends);
	free(nodes->makers);
	free(nodes);
}

size_t graph_nodes__nr_makers(const struct graph_nodes *nodes)
{
	return nodes->nr_makers;
}

static ssize_t find(const struct graph_nodes *nodes, const struct maker *maker)
{
	const struct maker *found = bsearch(maker, nodes->makers, nodes->nr_makers,
					    sizeof(*maker), compare_makers);

	return found ? found - nodes->makers : -ENOENT;
}

ssize_t graph_nodes__find_maker(const struct graph_nodes *nodes, uint32_t log,
				uint32_t api, uint64_t key)
{
	const struct maker maker = {
		.log = log, .is_launch = !(api & GPU_LOG_API_GRAPH_NODE), .key = key};

	return find(nodes, &maker);
}

ssize_t graph_nodes__maker_of(const struct graph_nodes *nodes,
			      const struct sidecar_activity *activity)
{
	uint64_t node = nodes->sidecar->shapes[activity->shape].graph_node;
	struct maker maker;

	if (!node)
		return -ENOENT;
	if (!nodes->sidecar->logs[activity->log].tells_graph_nodes)
		return -ENODATA;
	maker = follow(nodes, activity->log, node,
		       find_step(nodes, activity->log, node, activity->correlation_id));
	return find(nodes, &maker);
}
