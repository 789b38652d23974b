// SPDX-License-Identifier: GPL-2.0-or-later
/* Ids of the driver's handles, and switches that make no difference here. */
#include "cupti_state.h"

#include <string.h>

static atomic_int thread_id_type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	if (!context || !contextId)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*contextId = driver_tools()->context_id(context);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	CUcontext of = context ? context : driver_tools()->current_context();

	if (!of || !deviceId)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*deviceId = driver_tools()->device_of(of);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream,
					uint8_t perThreadStream, uint32_t *streamId)
{
	if (!streamId ||
	    driver_tools()->stream_id(context, stream, perThreadStream, streamId))
		return CUPTI_ERROR_INVALID_STREAM;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream stream,
				      uint32_t *streamId)
{
	return cuptiGetStreamIdEx(context, stream, 0, streamId);
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	/* Nodes have none unless kernels are recorded (13.0, H200). */
	if (!node || !nodeId ||
	    !fake_tools__wants(driver_tools(), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*nodeId = driver_tools()->graph_node_id(node);
	return CUPTI_SUCCESS;
}

static CUptiResult graph_id(CUgraph graph, uint32_t *pId)
{
	if (!graph || !pId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = driver_tools()->graph_id(graph);
	return CUPTI_SUCCESS;
}
VERSIONED(cuptiGetGraphId, graph_id)

static CUptiResult graph_exec_id(CUgraphExec graphExec, uint32_t *pId)
{
	if (!graphExec || !pId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = driver_tools()->graph_exec_id(graphExec);
	return CUPTI_SUCCESS;
}
VERSIONED(cuptiGetGraphExecId, graph_exec_id)

/* No record that is made here names a thread. */
CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	CUptiResult result = scripted_error(__func__);

	if (!result)
		atomic_store(&thread_id_type, type);
	return result;
}

CUptiResult CUPTIAPI cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	if (!type)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*type = (CUpti_ActivityThreadIdType)atomic_load(&thread_id_type);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	(void)enable;
	return scripted_error(__func__);
}

static CUptiResult enable_launch_attributes(uint8_t enable)
{
	(void)enable;
	return scripted_error("cuptiActivityEnableLaunchAttributes");
}
VERSIONED(cuptiActivityEnableLaunchAttributes, enable_launch_attributes)

/* Sizes of buffers, which are the client's choice here */
CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attr,
					       size_t *valueSize, void *value)
{
	(void)attr;
	if (!valueSize || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return scripted_error(__func__);
}

CUptiResult CUPTIAPI cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}
