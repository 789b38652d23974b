// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Graphs: made node by node, or captured from streams, and cloned.
 *
 * Ids are as the real ones: one counter for graphs and their clones, and a node's id
 * has its graph's in the upper half. A clone's node is reported as created and as
 * cloned, in this order.
 */
#include <stdlib.h>

#include "driver.h"

static atomic_uint newest_graph_id;

void graph__tell(CUpti_CallbackIdResource id, CUpti_GraphData *data)
{
	CUpti_ResourceData resource = {.context = driver_thread()->context,
				       .resourceDescriptor = data};

	tools__resource(id, &resource);
}

static struct CUgraph_st *graph__new(void)
{
	struct CUgraph_st *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->id = atomic_fetch_add(&newest_graph_id, 1) + 1;
	graph->end = &graph->first;
	return graph;
}

void graph__delete(struct CUgraph_st *graph)
{
	if (!graph)
		return;
	while (graph->first) {
		struct CUgraphNode_st *node = graph->first;

		graph->first = node->next;
		graph__delete(node->child);
		free(node);
	}
	free(graph);
}

static struct CUgraphNode_st *graph__append(struct CUgraph_st *graph,
					    const struct CUgraphNode_st *content)
{
	struct CUgraphNode_st *node = malloc(sizeof(*node));

	if (!node)
		return NULL;
	*node = *content;
	node->next = NULL;
	node->child = NULL;
	node->graph = graph;
	node->id = (uint64_t)graph->id << 32 | graph->nr_ids++;
	*graph->end = node;
	graph->end = &node->next;
	graph->nr_nodes++;
	return node;
}

CUresult graph__add(struct CUgraph_st *graph, const struct CUgraphNode_st *content,
		    struct CUgraphNode_st **ret)
{
	CUpti_GraphData data = {.graph = graph, .nodeType = content->type};
	struct CUgraphNode_st *node;

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &data);
	node = graph__append(graph, content);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	data.node = node;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
	if (ret)
		*ret = node;
	return CUDA_SUCCESS;
}

/* The same content in another graph */
static CUresult node__clone(struct CUgraphNode_st *original, CUpti_GraphData *data)
{
	struct CUgraphNode_st *node = graph__append(data->graph, original);

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->original = original;
	data->node = node;
	data->originalNode = original;
	data->nodeType = node->type;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
	return original->child
		       ? graph__clone(original->child, data->graphExec, &node->child)
		       : CUDA_SUCCESS;
}

CUresult graph__clone(struct CUgraph_st *graph, struct CUgraphExec_st *exec,
		      struct CUgraph_st **ret)
{
	struct CUgraph_st *clone = graph__new();
	CUpti_GraphData data = {
		.graph = clone, .originalGraph = graph, .graphExec = exec};
	CUresult result = CUDA_SUCCESS;

	if (!clone)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (struct CUgraphNode_st *node = graph->first; node && !result;
	     node = node->next)
		result = node__clone(node, &data);
	if (result) {
		graph__delete(clone);
		return result;
	}
	if (!exec)
		graph__tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED,
			    &(CUpti_GraphData){.graph = clone, .originalGraph = graph});
	*ret = clone;
	return CUDA_SUCCESS;
}

CUresult graph__create(CUgraph *ret)
{
	struct CUgraph_st *graph = graph__new();

	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED,
		    &(CUpti_GraphData){.graph = graph});
	*ret = graph;
	return CUDA_SUCCESS;
}

static CUresult graph__destroy(CUgraph graph)
{
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
		    &(CUpti_GraphData){.graph = graph});
	graph__delete(graph);
	return CUDA_SUCCESS;
}

CUresult node__set_kernel(struct CUgraphNode_st *node,
			  const CUDA_KERNEL_NODE_PARAMS *params)
{
	CUfunction function = params->func ? params->func : (CUfunction)params->kern;

	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	node->kernel_params = *params;
	node->launch = (struct launch){
		.function = function,
		.grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
		.block = {params->blockDimX, params->blockDimY, params->blockDimZ},
		.shared_bytes = params->sharedMemBytes,
	};
	return CUDA_SUCCESS;
}

static CUresult add_kernel(CUgraphNode *ret, CUgraph graph,
			   const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct CUgraphNode_st node = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
	CUresult result = node__set_kernel(&node, params);

	return result ? result : graph__add(graph, &node, ret);
}

static CUresult add_memcpy(CUgraphNode *ret, CUgraph graph, const CUDA_MEMCPY3D *params)
{
	struct CUgraphNode_st node = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	copy__from_3d(params, &node.copy);
	node.copy.is_async = true;
	return graph__add(graph, &node, ret);
}

static CUresult add_memset(CUgraphNode *ret, CUgraph graph,
			   const CUDA_MEMSET_NODE_PARAMS *params)
{
	struct CUgraphNode_st node = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	copy__from_memset(params, &node.copy);
	node.copy.is_async = true;
	return graph__add(graph, &node, ret);
}

static CUresult add_host(CUgraphNode *ret, CUgraph graph,
			 const CUDA_HOST_NODE_PARAMS *params)
{
	const struct CUgraphNode_st node = {
		.type = CU_GRAPH_NODE_TYPE_HOST,
		.host = *params,
	};

	return graph__add(graph, &node, ret);
}

static CUresult add_empty(CUgraphNode *ret, CUgraph graph)
{
	const struct CUgraphNode_st node = {.type = CU_GRAPH_NODE_TYPE_EMPTY};

	return graph__add(graph, &node, ret);
}

static CUresult add_child(CUgraphNode *ret, CUgraph graph, CUgraph child)
{
	const struct CUgraphNode_st content = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
	struct CUgraphNode_st *node;
	CUresult result;

	if (!child)
		return CUDA_ERROR_INVALID_VALUE;
	result = graph__add(graph, &content, &node);
	if (!result)
		result = graph__clone(child, NULL, &node->child);
	if (!result && ret)
		*ret = node;
	return result;
}

static CUresult child_of(CUgraphNode node, CUgraph *ret)
{
	if (!node || !node->child)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = node->child;
	return CUDA_SUCCESS;
}

static CUresult find_in_clone(CUgraphNode *ret, CUgraphNode original, CUgraph clone)
{
	struct CUgraphNode_st *node = clone ? clone->first : NULL;

	while (node && node->original != original)
		node = node->next;
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = node;
	return CUDA_SUCCESS;
}

/* The newer way to add any kind, whose parameters begin as the older ones. */
static CUresult add_node(CUgraphNode *ret, CUgraph graph, const CUgraphNodeParams *params)
{
	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return add_kernel(ret, graph,
				  (const CUDA_KERNEL_NODE_PARAMS *)&params->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return add_memcpy(ret, graph, &params->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return add_memset(ret, graph,
				  (const CUDA_MEMSET_NODE_PARAMS *)&params->memset);
	case CU_GRAPH_NODE_TYPE_HOST:
		return add_host(ret, graph, (const CUDA_HOST_NODE_PARAMS *)&params->host);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return add_empty(ret, graph);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return add_child(ret, graph, params->graph.graph);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static CUresult graph__nodes(CUgraph graph, CUgraphNode *ret, size_t *nr)
{
	struct CUgraphNode_st *node = graph->first;
	size_t i;

	if (!ret) {
		*nr = graph->nr_nodes;
		return CUDA_SUCCESS;
	}
	for (i = 0; i < *nr && node; i++, node = node->next)
		ret[i] = node;
	for (*nr = i; node; node = node->next)
		;
	return CUDA_SUCCESS;
}

/* clang-format off */
#define NODE_ARGS								\
	CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t nr_after

DRIVER_API(cuGraphCreate, (CUgraph *graph, unsigned int flags), (graph, flags),
	   graph__create(graph))
DRIVER_API(cuGraphDestroy, (CUgraph graph), (graph), graph__destroy(graph))
DRIVER_API(cuGraphAddKernelNode_v2, (NODE_ARGS, const CUDA_KERNEL_NODE_PARAMS *params),
	   (node, graph, after, nr_after, params), add_kernel(node, graph, params))
DRIVER_API(cuGraphAddMemcpyNode,
	   (NODE_ARGS, const CUDA_MEMCPY3D *params, CUcontext context),
	   (node, graph, after, nr_after, params, context),
	   add_memcpy(node, graph, params))
DRIVER_API(cuGraphAddMemsetNode,
	   (NODE_ARGS, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
	   (node, graph, after, nr_after, params, context),
	   add_memset(node, graph, params))
DRIVER_API(cuGraphAddHostNode, (NODE_ARGS, const CUDA_HOST_NODE_PARAMS *params),
	   (node, graph, after, nr_after, params), add_host(node, graph, params))
DRIVER_API(cuGraphAddEmptyNode, (NODE_ARGS), (node, graph, after, nr_after),
	   add_empty(node, graph))
DRIVER_API(cuGraphAddChildGraphNode, (NODE_ARGS, CUgraph child),
	   (node, graph, after, nr_after, child), add_child(node, graph, child))
DRIVER_API(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *child),
	   (node, child), child_of(node, child))
DRIVER_API(cuGraphClone, (CUgraph *clone, CUgraph graph), (clone, graph),
	   graph ? graph__clone(graph, NULL, clone) : CUDA_ERROR_INVALID_VALUE)
DRIVER_API(cuGraphNodeFindInClone,
	   (CUgraphNode *node, CUgraphNode original, CUgraph clone),
	   (node, original, clone), find_in_clone(node, original, clone))
DRIVER_API(cuGraphAddNode_v2,
	   (CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
	    const CUgraphEdgeData *edges, size_t nr_after, CUgraphNodeParams *params),
	   (node, graph, after, edges, nr_after, params), add_node(node, graph, params))
DRIVER_API(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *nr),
	   (graph, nodes, nr), graph__nodes(graph, nodes, nr))
DRIVER_API(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type), (node, type),
	   (*type = node->type, CUDA_SUCCESS))
DRIVER_API(cuGraphKernelNodeGetParams_v2,
	   (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params), (node, params),
	   (*params = node->kernel_params, CUDA_SUCCESS))
