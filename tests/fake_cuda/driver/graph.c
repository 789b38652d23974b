// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Graphs: made node by node, or captured from streams; cloned when they are
 * instantiated; run in the order in which their nodes were made, which is one of those
 * that their dependencies allow.
 *
 * Ids are as the real ones: one counter for graphs and their clones, and a node's id
 * has its graph's in the upper half. A kernel of a graph launch has the ids of the
 * clones, so only the callbacks tell which node it was made as.
 */
#include <stdlib.h>

#include "driver.h"

static atomic_uint newest_graph_id;

static void tell(CUpti_CallbackIdResource id, CUpti_GraphData *graph)
{
	CUpti_ResourceData data = {.context = driver_thread()->context,
				   .resourceDescriptor = graph};

	tools__resource(id, &data);
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

static void graph__delete(struct CUgraph_st *graph)
{
	if (!graph)
		return;
	while (graph->first) {
		struct CUgraphNode_st *node = graph->first;

		graph->first = node->next;
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
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &data);
	node = graph__append(graph, content);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	data.node = node;
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
	if (ret)
		*ret = node;
	return CUDA_SUCCESS;
}

CUresult graph__create(CUgraph *ret)
{
	struct CUgraph_st *graph = graph__new();

	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, &(CUpti_GraphData){.graph = graph});
	*ret = graph;
	return CUDA_SUCCESS;
}

static CUresult graph__destroy(CUgraph graph)
{
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
	     &(CUpti_GraphData){.graph = graph});
	graph__delete(graph);
	return CUDA_SUCCESS;
}

static CUresult add_kernel(CUgraphNode *ret, CUgraph graph,
			   const CUDA_KERNEL_NODE_PARAMS *params)
{
	const struct CUgraphNode_st node = {
		.type = CU_GRAPH_NODE_TYPE_KERNEL,
		.kernel_params = *params,
		.launch =
			{
				.function = params->func ? params->func
							 : (CUfunction)params->kern,
				.grid = {params->gridDimX, params->gridDimY,
					 params->gridDimZ},
				.block = {params->blockDimX, params->blockDimY,
					  params->blockDimZ},
				.shared_bytes = params->sharedMemBytes,
			},
	};

	if (!node.launch.function)
		return CUDA_ERROR_INVALID_VALUE;
	return graph__add(graph, &node, ret);
}

/* Rows and planes that lie apart are copied as one run of the first's place. */
static CUresult add_memcpy(CUgraphNode *ret, CUgraph graph, const CUDA_MEMCPY3D *params)
{
	bool is_to_host = params->dstMemoryType == CU_MEMORYTYPE_HOST;
	bool is_from_host = params->srcMemoryType == CU_MEMORYTYPE_HOST;
	const struct CUgraphNode_st node = {
		.type = CU_GRAPH_NODE_TYPE_MEMCPY,
		.copy =
			{
				.to = is_to_host ? params->dstHost
						 : (void *)(uintptr_t)params->dstDevice,
				.from = is_from_host
						? params->srcHost
						: (void *)(uintptr_t)params->srcDevice,
				.nr = params->WidthInBytes,
				.element_bytes = 1,
			},
	};

	if (params->Height > 1 || params->Depth > 1)
		return CUDA_ERROR_NOT_SUPPORTED;
	return graph__add(graph, &node, ret);
}

static CUresult add_memset(CUgraphNode *ret, CUgraph graph,
			   const CUDA_MEMSET_NODE_PARAMS *params)
{
	const struct CUgraphNode_st node = {
		.type = CU_GRAPH_NODE_TYPE_MEMSET,
		.copy =
			{
				.to = (void *)(uintptr_t)params->dst,
				.nr = params->width,
				.value = params->value,
				.element_bytes = params->elementSize,
			},
	};

	if (params->height > 1)
		return CUDA_ERROR_NOT_SUPPORTED;
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

static CUresult exec__delete(struct CUgraphExec_st *exec)
{
	if (exec) {
		graph__delete(exec->graph);
		free(exec);
	}
	return CUDA_SUCCESS;
}

static CUresult graph__clone_nodes(struct CUgraph_st *graph, struct CUgraphExec_st *exec)
{
	for (struct CUgraphNode_st *node = graph->first; node; node = node->next) {
		CUpti_GraphData data = {
			.graph = exec->graph,
			.originalGraph = graph,
			.originalNode = node,
			.nodeType = node->type,
			.graphExec = exec,
		};

		data.node = graph__append(exec->graph, node);
		if (!data.node)
			return CUDA_ERROR_OUT_OF_MEMORY;
		tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &data);
	}
	return CUDA_SUCCESS;
}

static CUresult graph__instantiate(CUgraphExec *ret, CUgraph graph)
{
	CUpti_GraphData data = {.graph = graph};
	struct CUgraphExec_st *exec;
	CUresult result;

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, &data);
	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->graph = graph__new();
	result = exec->graph ? graph__clone_nodes(graph, exec) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result) {
		exec__delete(exec);
		return result;
	}
	data.graphExec = exec;
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &data);
	*ret = exec;
	return CUDA_SUCCESS;
}

static CUresult exec__destroy(CUgraphExec exec)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
	     &(CUpti_GraphData){.graph = exec->graph, .graphExec = exec});
	return exec__delete(exec);
}

static void node__run(struct CUgraphNode_st *node, struct CUstream_st *stream)
{
	switch (node->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		launch__run(&node->launch, stream, node->graph->id, node->id);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
		copy__run(&node->copy, stream);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		node->host.fn(node->host.userData);
		break;
	default: /* empty: only for dependencies */
		break;
	}
}

static CUresult exec__launch(CUgraphExec exec, CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	for (struct CUgraphNode_st *node = exec->graph->first; node; node = node->next)
		node__run(node, stream);
	return CUDA_SUCCESS;
}

static CUresult accept(const void *handle)
{
	return handle ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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

DRIVER_API(cuGraphInstantiateWithFlags,
	   (CUgraphExec *exec, CUgraph graph, unsigned long long flags),
	   (exec, graph, flags), graph__instantiate(exec, graph))
DRIVER_API(cuGraphInstantiateWithParams,
	   (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
	   (exec, graph, params), graph__instantiate(exec, graph))
DRIVER_API(cuGraphExecDestroy, (CUgraphExec exec), (exec), exec__destroy(exec))
DRIVER_API(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream),
	   exec__launch(exec, stream, false))
DRIVER_API(cuGraphLaunch_ptsz, (CUgraphExec exec, CUstream stream), (exec, stream),
	   exec__launch(exec, stream, true))
DRIVER_API(cuGraphUpload, (CUgraphExec exec, CUstream stream), (exec, stream),
	   accept(exec))
