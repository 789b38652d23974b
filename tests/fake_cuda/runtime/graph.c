// SPDX-License-Identifier: GPL-2.0-or-later
/* Graphs: the driver's, under the runtime's names. */
#include "runtime.h"

static cudaError_t to_driver(const struct cudaKernelNodeParams *params,
			     CUDA_KERNEL_NODE_PARAMS *ret)
{
	CUfunction function;
	cudaError_t error = function__find(params->func, &function);

	if (error)
		return error;
	*ret = (CUDA_KERNEL_NODE_PARAMS){
		.func = function,
		.gridDimX = params->gridDim.x,
		.gridDimY = params->gridDim.y,
		.gridDimZ = params->gridDim.z,
		.blockDimX = params->blockDim.x,
		.blockDimY = params->blockDim.y,
		.blockDimZ = params->blockDim.z,
		.sharedMemBytes = params->sharedMemBytes,
		.kernelParams = params->kernelParams,
		.extra = params->extra,
	};
	return cudaSuccess;
}

static cudaError_t add_kernel(cudaGraphNode_t *ret, cudaGraph_t graph,
			      const cudaGraphNode_t *after, size_t nr_after,
			      const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS to;
	cudaError_t error = to_driver(params, &to);

	return error ? error
		     : CALL(cuGraphAddKernelNode_v2, ret, graph, after, nr_after, &to);
}

static cudaError_t add_memcpy(cudaGraphNode_t *ret, cudaGraph_t graph,
			      const cudaGraphNode_t *after, size_t nr_after, void *to,
			      const void *from, size_t bytes)
{
	const CUDA_MEMCPY3D params = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = (CUdeviceptr)(uintptr_t)from,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = (CUdeviceptr)(uintptr_t)to,
		.WidthInBytes = bytes,
		.Height = 1,
		.Depth = 1,
	};

	return CALL(cuGraphAddMemcpyNode, ret, graph, after, nr_after, &params,
		    runtime_tools->current_context());
}

static cudaError_t add_memcpy_3d(cudaGraphNode_t *ret, cudaGraph_t graph,
				 const cudaGraphNode_t *after, size_t nr_after,
				 const struct cudaMemcpy3DParms *params)
{
	const CUDA_MEMCPY3D to = copy__to_3d(params);

	return CALL(cuGraphAddMemcpyNode, ret, graph, after, nr_after, &to,
		    runtime_tools->current_context());
}

static cudaError_t add_memset(cudaGraphNode_t *ret, cudaGraph_t graph,
			      const cudaGraphNode_t *after, size_t nr_after,
			      const struct cudaMemsetParams *params)
{
	const CUDA_MEMSET_NODE_PARAMS to = {
		.dst = (CUdeviceptr)(uintptr_t)params->dst,
		.pitch = params->pitch,
		.value = params->value,
		.elementSize = params->elementSize,
		.width = params->width,
		.height = params->height,
	};

	return CALL(cuGraphAddMemsetNode, ret, graph, after, nr_after, &to,
		    runtime_tools->current_context());
}

static cudaError_t add_host(cudaGraphNode_t *ret, cudaGraph_t graph,
			    const cudaGraphNode_t *after, size_t nr_after,
			    const struct cudaHostNodeParams *params)
{
	const CUDA_HOST_NODE_PARAMS to = {.fn = params->fn, .userData = params->userData};

	return CALL(cuGraphAddHostNode, ret, graph, after, nr_after, &to);
}

static cudaError_t set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node,
			      const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS to;
	cudaError_t error = to_driver(params, &to);

	return error ? error : CALL(cuGraphExecKernelNodeSetParams_v2, exec, node, &to);
}

/* The results' numbers are the same. */
static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph,
			  cudaGraphExecUpdateResultInfo *ret)
{
	CUgraphExecUpdateResultInfo info = {};
	cudaError_t error = CALL(cuGraphExecUpdate_v2, exec, graph, &info);

	if (ret)
		*ret = (cudaGraphExecUpdateResultInfo){
			.result = (enum cudaGraphExecUpdateResult)info.result};
	return error;
}

/* clang-format off */
#define NODE_ARGS								\
	cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,	\
	size_t nr_after

RUNTIME_API(cudaGraphCreate, v10000, (cudaGraph_t *graph, unsigned int flags),
	    (graph, flags), CALL(cuGraphCreate, graph, flags))
RUNTIME_API(cudaGraphDestroy, v10000, (cudaGraph_t graph), (graph),
	    CALL(cuGraphDestroy, graph))
RUNTIME_API(cudaGraphAddKernelNode, v10000,
	    (NODE_ARGS, const struct cudaKernelNodeParams *params),
	    (node, graph, after, nr_after, params),
	    add_kernel(node, graph, after, nr_after, params))
RUNTIME_API(cudaGraphAddMemcpyNode1D, v11010,
	    (NODE_ARGS, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
	    (node, graph, after, nr_after, to, from, bytes, kind),
	    add_memcpy(node, graph, after, nr_after, to, from, bytes))
RUNTIME_API(cudaGraphAddMemcpyNode, v10000,
	    (NODE_ARGS, const struct cudaMemcpy3DParms *params),
	    (node, graph, after, nr_after, params),
	    add_memcpy_3d(node, graph, after, nr_after, params))
RUNTIME_API(cudaGraphAddMemsetNode, v10000,
	    (NODE_ARGS, const struct cudaMemsetParams *params),
	    (node, graph, after, nr_after, params),
	    add_memset(node, graph, after, nr_after, params))
RUNTIME_API(cudaGraphAddHostNode, v10000,
	    (NODE_ARGS, const struct cudaHostNodeParams *params),
	    (node, graph, after, nr_after, params),
	    add_host(node, graph, after, nr_after, params))
RUNTIME_API(cudaGraphAddEmptyNode, v10000, (NODE_ARGS), (node, graph, after, nr_after),
	    CALL(cuGraphAddEmptyNode, node, graph, after, nr_after))
RUNTIME_API(cudaGraphAddChildGraphNode, v10000, (NODE_ARGS, cudaGraph_t child),
	    (node, graph, after, nr_after, child),
	    CALL(cuGraphAddChildGraphNode, node, graph, after, nr_after, child))
RUNTIME_API(cudaGraphChildGraphNodeGetGraph, v10000,
	    (cudaGraphNode_t node, cudaGraph_t *child), (node, child),
	    CALL(cuGraphChildGraphNodeGetGraph, node, child))
RUNTIME_API(cudaGraphClone, v10000, (cudaGraph_t *clone, cudaGraph_t graph),
	    (clone, graph), CALL(cuGraphClone, clone, graph))
RUNTIME_API(cudaGraphNodeFindInClone, v10000,
	    (cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone),
	    (node, original, clone), CALL(cuGraphNodeFindInClone, node, original, clone))
RUNTIME_API(cudaGraphGetNodes, v10000,
	    (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *nr), (graph, nodes, nr),
	    CALL(cuGraphGetNodes, graph, nodes, nr))
RUNTIME_API(cudaGraphNodeGetType, v10000,
	    (cudaGraphNode_t node, enum cudaGraphNodeType *type), (node, type),
	    CALL(cuGraphNodeGetType, node, (CUgraphNodeType *)type))

RUNTIME_API(cudaGraphInstantiate, v12000,
	    (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags),
	    (exec, graph, flags), CALL(cuGraphInstantiateWithFlags, exec, graph, flags))
RUNTIME_API(cudaGraphInstantiateWithFlags, v11040,
	    (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags),
	    (exec, graph, flags), CALL(cuGraphInstantiateWithFlags, exec, graph, flags))
RUNTIME_API(cudaGraphExecDestroy, v10000, (cudaGraphExec_t exec), (exec),
	    CALL(cuGraphExecDestroy, exec))
RUNTIME_API(cudaGraphLaunch, v10000, (cudaGraphExec_t exec, cudaStream_t stream),
	    (exec, stream), CALL(cuGraphLaunch, exec, stream))
RUNTIME_API(cudaGraphLaunch_ptsz, v10000, (cudaGraphExec_t exec, cudaStream_t stream),
	    (exec, stream), CALL(cuGraphLaunch, exec, stream_or_own(stream, true)))
RUNTIME_API(cudaGraphUpload, v10000, (cudaGraphExec_t exec, cudaStream_t stream),
	    (exec, stream), CALL(cuGraphUpload, exec, stream))
RUNTIME_API(cudaGraphUpload_ptsz, v10000, (cudaGraphExec_t exec, cudaStream_t stream),
	    (exec, stream), CALL(cuGraphUpload, exec, stream_or_own(stream, true)))
RUNTIME_API(cudaGraphExecUpdate, v10020,
	    (cudaGraphExec_t exec, cudaGraph_t graph,
	     cudaGraphExecUpdateResultInfo *info),
	    (exec, graph, info), update(exec, graph, info))
RUNTIME_API(cudaGraphExecKernelNodeSetParams, v10010,
	    (cudaGraphExec_t exec, cudaGraphNode_t node,
	     const struct cudaKernelNodeParams *params),
	    (exec, node, params), set_kernel(exec, node, params))
