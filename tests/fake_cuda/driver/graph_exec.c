// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Executable graphs: clones of graphs, run in the order in which their nodes were made,
 * which is one of those that their dependencies allow.
 *
 * A kernel of a graph launch has the ids of the clones, so only the callbacks tell which
 * node it was made as. Those of child graphs have numbers of the graph around them.
 */
#include <stdlib.h>

#include "driver.h"

static CUresult exec__delete(struct CUgraphExec_st *exec)
{
	if (exec) {
		graph__delete(exec->graph);
		free(exec);
	}
	return CUDA_SUCCESS;
}

/* As the driver has it: nodes of child graphs go on behind the graph's own. */
static void graph__number(struct CUgraph_st *graph, uint32_t top_id, uint32_t *next)
{
	for (struct CUgraphNode_st *node = graph->first; node; node = node->next)
		node->recorded_id = (uint64_t)top_id << 32 | (*next)++;
	for (struct CUgraphNode_st *node = graph->first; node; node = node->next)
		if (node->child)
			graph__number(node->child, top_id, next);
}

static CUresult graph__instantiate(CUgraphExec *ret, CUgraph graph)
{
	CUpti_GraphData data = {.graph = graph};
	struct CUgraphExec_st *exec;
	uint32_t next = 0;
	CUresult result;

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, &data);
	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = graph__clone(graph, exec, &exec->graph);
	if (result) {
		exec__delete(exec);
		return result;
	}
	graph__number(exec->graph, exec->graph->id, &next);
	data.graphExec = exec;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &data);
	*ret = exec;
	return CUDA_SUCCESS;
}

static CUresult exec__destroy(CUgraphExec exec)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	graph__tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
		    &(CUpti_GraphData){.graph = exec->graph, .graphExec = exec});
	return exec__delete(exec);
}

/* Are they alike but for what their nodes do? That is all that can be updated. */
static bool graph__is_alike(const struct CUgraph_st *a, const struct CUgraph_st *b)
{
	const struct CUgraphNode_st *x = a->first, *y = b->first;

	for (; x && y; x = x->next, y = y->next)
		if (x->type != y->type ||
		    (x->child && !graph__is_alike(x->child, y->child)))
			return false;
	return !x && !y;
}

static void graph__take(struct CUgraph_st *graph, struct CUgraph_st *from,
			struct CUgraphExec_st *exec)
{
	struct CUgraphNode_st *node = graph->first, *other = from->first;

	for (; node; node = node->next, other = other->next) {
		node->launch = other->launch;
		node->kernel_params = other->kernel_params;
		node->copy = other->copy;
		node->host = other->host;
		graph__tell(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED,
			    &(CUpti_GraphData){
				    .graph = from,
				    .originalGraph = graph,
				    .node = other,
				    .originalNode = node,
				    .nodeType = node->type,
				    .graphExec = exec,
			    });
		if (node->child)
			graph__take(node->child, other->child, exec);
	}
}

static CUresult exec__update(CUgraphExec exec, CUgraph graph,
			     CUgraphExecUpdateResultInfo *ret)
{
	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
	if (!graph__is_alike(exec->graph, graph)) {
		ret->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	graph__take(exec->graph, graph, exec);
	return CUDA_SUCCESS;
}

/* The clone of a node, which may be in a child graph; NULL if there is none */
static struct CUgraphNode_st *graph__find_clone(struct CUgraph_st *graph,
						const struct CUgraphNode_st *original)
{
	struct CUgraphNode_st *found = NULL;

	for (struct CUgraphNode_st *node = graph->first; node && !found;
	     node = node->next) {
		if (node->original == original)
			return node;
		if (node->child)
			found = graph__find_clone(node->child, original);
	}
	return found;
}

static CUresult exec__set_kernel(CUgraphExec exec, CUgraphNode original,
				 const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct CUgraphNode_st *node =
		exec ? graph__find_clone(exec->graph, original) : NULL;
	CUresult result;

	if (!node || node->type != CU_GRAPH_NODE_TYPE_KERNEL)
		return CUDA_ERROR_INVALID_VALUE;
	result = node__set_kernel(node, params);
	if (!result)
		graph__tell(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS,
			    &(CUpti_GraphData){.graph = node->graph,
					       .node = node,
					       .nodeType = node->type,
					       .graphExec = exec});
	return result;
}

static CUresult exec__set_copy(CUgraphExec exec, CUgraphNode original,
			       const struct copy *copy, CUgraphNodeType type)
{
	struct CUgraphNode_st *node =
		exec ? graph__find_clone(exec->graph, original) : NULL;

	if (!node || node->type != type)
		return CUDA_ERROR_INVALID_VALUE;
	node->copy = *copy;
	node->copy.is_async = true;
	/* Older ones than 13.2 don't tell of it. */
	return CUDA_SUCCESS;
}

static CUresult exec__set_memcpy(CUgraphExec exec, CUgraphNode original,
				 const CUDA_MEMCPY3D *params)
{
	struct copy copy;

	copy__from_3d(params, &copy);
	return exec__set_copy(exec, original, &copy, CU_GRAPH_NODE_TYPE_MEMCPY);
}

static CUresult exec__set_memset(CUgraphExec exec, CUgraphNode original,
				 const CUDA_MEMSET_NODE_PARAMS *params)
{
	struct copy copy;

	copy__from_memset(params, &copy);
	return exec__set_copy(exec, original, &copy, CU_GRAPH_NODE_TYPE_MEMSET);
}

static void graph__run(struct CUgraph_st *graph, struct CUstream_st *stream);

static void node__run(struct CUgraphNode_st *node, struct CUstream_st *stream)
{
	switch (node->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		launch__run(&node->launch, stream, (uint32_t)(node->recorded_id >> 32),
			    node->recorded_id);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
		copy__run(&node->copy, stream, node->recorded_id);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		node->host.fn(node->host.userData);
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		graph__run(node->child, stream);
		break;
	default: /* empty: only for dependencies */
		break;
	}
}

static void graph__run(struct CUgraph_st *graph, struct CUstream_st *stream)
{
	for (struct CUgraphNode_st *node = graph->first; node; node = node->next)
		node__run(node, stream);
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
	graph__run(exec->graph, stream);
	return CUDA_SUCCESS;
}

static CUresult accept(const void *handle)
{
	return handle ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* clang-format off */
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
DRIVER_API(cuGraphUpload_ptsz, (CUgraphExec exec, CUstream stream), (exec, stream),
	   accept(exec))
DRIVER_API(cuGraphInstantiateWithParams_ptsz,
	   (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
	   (exec, graph, params), graph__instantiate(exec, graph))
DRIVER_API(cuGraphExecUpdate_v2,
	   (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info),
	   (exec, graph, info), exec__update(exec, graph, info))
DRIVER_API(cuGraphExecKernelNodeSetParams_v2,
	   (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params),
	   (exec, node, params), exec__set_kernel(exec, node, params))
DRIVER_API(cuGraphExecMemcpyNodeSetParams,
	   (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params,
	    CUcontext context),
	   (exec, node, params, context), exec__set_memcpy(exec, node, params))
DRIVER_API(cuGraphExecMemsetNodeSetParams,
	   (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
	    CUcontext context),
	   (exec, node, params, context), exec__set_memset(exec, node, params))
