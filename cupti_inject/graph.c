// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "marker.h"

static const struct cupti_table *cupti;
static struct log *process_log;
static uint32_t wanted; /* GPU_LOG_KIND_BIT()s */

#define NODE_KINDS                                                                       \
	(GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL) | GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY) | \
	 GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET))

/* Functions that add a node; what their names have behind GraphAdd */
static const struct {
	const char *begin;
	uint32_t kinds; /* that the node may be of */
} adders[] = {
	{"KernelNode", GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL)},
	{"MemcpyNode", GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY)},
	{"MemsetNode", GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET)},
	{"Node", NODE_KINDS},
	{"ChildGraphNode", NODE_KINDS},
};

static bool adds_node(const char *name, uint32_t kinds)
{
	const char *rest = strstr(name, "GraphAdd");

	if (!rest)
		return false;
	rest += strlen("GraphAdd");
	for (size_t i = 0; i < sizeof(adders) / sizeof(*adders); i++)
		if (!strncmp(rest, adders[i].begin, strlen(adders[i].begin)))
			return adders[i].kinds & kinds;
	return false;
}

enum api_kind graph__kind_of(const char *name, uint32_t kinds)
{
	if (!(kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL)))
		return API_OTHER;
	if (adds_node(name, kinds))
		return API_GRAPH_ADD;
	if (strstr(name, "GraphInstantiate"))
		return API_GRAPH_INSTANTIATE;
	if (strstr(name, "GraphClone"))
		return API_GRAPH_COPY;
	if (strstr(name, "GraphExecUpdate"))
		return API_GRAPH_UPDATE;
	return API_OTHER;
}

/* GPU_LOG_KIND_BIT() of a node; 0 of those that nothing is recorded of */
static uint32_t kind_of_node(CUgraphNodeType type)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET);
	default:
		return 0;
	}
}

void graph__enable(const struct cupti_table *table, CUpti_SubscriberHandle subscriber,
		   struct log *log, uint32_t kinds, bool on)
{
	const CUpti_CallbackDomain domain = CUPTI_CB_DOMAIN_RESOURCE;

	cupti = table;
	process_log = log;
	/* CUPTI has no ids for nodes of any type unless it records kernels (13.0, H200). */
	wanted = kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL) ? kinds & NODE_KINDS : 0;
	if (!cupti->cuptiGetGraphNodeId || !wanted)
		return;
	if (cupti->cuptiEnableCallback(on, subscriber, domain,
				       CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) ||
	    cupti->cuptiEnableCallback(on, subscriber, domain,
				       CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED))
		return;
	/* CUPTI before 13.0 has none. */
	cupti->cuptiEnableCallback(on, subscriber, domain,
				   CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
	if (on)
		log__graph_node(
			log, &(struct gpu_log_graph_node){.origin = GPU_LOG_NODE_NONE});
}

/* CUPTI's id of a node, as kernel records have it; 0 if it has none. */
static uint64_t id_of(CUgraphNode node)
{
	uint64_t id = 0;

	if (!node || cupti->cuptiGetGraphNodeId(node, &id))
		return 0;
	return id;
}

static void on_created(uint64_t node, const struct api_call *call)
{
	/* Each will be told of as a copy, too, and that leads further back. */
	if (call->api &&
	    (call->kind == API_GRAPH_COPY || call->kind == API_GRAPH_INSTANTIATE))
		return;
	if (call->api && call->kind == API_LAUNCH)
		log__graph_node(process_log,
				&(struct gpu_log_graph_node){
					.origin = GPU_LOG_NODE_CAPTURED,
					.node = node,
					.correlation_id = call->correlation_id});
	else
		launch__emit(GPU_LOG_API_GRAPH_NODE | call->api, node);
}

static void on_cloned(uint64_t node, uint64_t original)
{
	if (original)
		log__graph_node(process_log, &(struct gpu_log_graph_node){
						     .origin = GPU_LOG_NODE_CLONED,
						     .node = node,
						     .original = original});
}

static void on_updated(uint64_t node, uint64_t original, const struct api_call *call)
{
	/* Of no use without knowing which launches it is for. */
	if (node && call->api)
		log__graph_node(process_log,
				&(struct gpu_log_graph_node){
					.origin = GPU_LOG_NODE_UPDATED,
					.node = node,
					.original = original,
					.correlation_id = call->correlation_id});
}

/* Without memory, kernels of child graphs lack their capture's stack. */
static void note_copy(struct graph_copies *copies, uint64_t node)
{
	if (copies->nr == copies->nr_allocated) {
		size_t nr = copies->nr ? 2 * copies->nr : 64;
		uint64_t *nodes = reallocarray(copies->nodes, nr, sizeof(*nodes));

		if (!nodes)
			return;
		copies->nodes = nodes;
		copies->nr_allocated = nr;
	}
	copies->nodes[copies->nr++] = node;
}

static int compare_nodes(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Of its id, the upper half is the graph's. */
static uint64_t graph_of(uint64_t node)
{
	return node >> 32;
}

void graph__end_instantiation(struct graph_copies *copies)
{
	uint64_t graph, next;
	size_t i = 0;

	/* In order, the graph itself comes first, then its children as it has them. */
	qsort(copies->nodes, copies->nr, sizeof(*copies->nodes), compare_nodes);
	graph = copies->nr ? graph_of(copies->nodes[0]) : 0;
	while (i < copies->nr && graph_of(copies->nodes[i]) == graph)
		i++;
	for (next = i; i < copies->nr; i++, next++)
		on_cloned(graph << 32 | next, copies->nodes[i]);
	free(copies->nodes);
	*copies = (struct graph_copies){};
}

void graph__on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData *data,
			const struct api_call *call, struct graph_copies *copies)
{
	const CUpti_GraphData *graph = data->resourceDescriptor;
	uint64_t node;

	/* There is no GPU behind a forked child, for which graphs could be made. */
	if (!graph || fork_page__is_forked())
		return;
	node = id_of(graph->node);
	if (!node)
		return;
	if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && call->api &&
	    call->kind == API_GRAPH_INSTANTIATE)
		note_copy(copies, node);
	if (!(kind_of_node(graph->nodeType) & wanted))
		return;
	switch (cbid) {
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
		on_created(node, call);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
		on_cloned(node, id_of(graph->originalNode));
		break;
	case CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED:
		/* The original is the executable graph's, the node what it is to be like. */
		on_updated(id_of(graph->originalNode), node, call);
		break;
	}
}
