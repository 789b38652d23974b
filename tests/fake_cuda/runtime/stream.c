// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams, events and captures: the driver's, under the runtime's names. */
#include "runtime.h"

static cudaError_t capture_info(cudaStream_t stream,
				enum cudaStreamCaptureStatus *ret_status,
				unsigned long long *ret_id, cudaGraph_t *ret_graph)
{
	CUstreamCaptureStatus status;
	cuuint64_t id = 0;
	CUresult result = driver.cuStreamGetCaptureInfo_v2(stream, &status, &id,
							   ret_graph, NULL, NULL);

	if (result)
		return runtime__error(result);
	*ret_status = (enum cudaStreamCaptureStatus)status;
	if (ret_id)
		*ret_id = id;
	return cudaSuccess;
}

static cudaError_t no_priority(int *priority)
{
	*priority = 0;
	return cudaSuccess;
}

/* clang-format off */
#define OWN stream_or_own(stream, true)
#define STATUS ((CUstreamCaptureStatus *)status)

RUNTIME_API(cudaStreamCreate, v3020, (cudaStream_t *stream), (stream),
	    CALL(cuStreamCreate, stream, CU_STREAM_DEFAULT))
RUNTIME_API(cudaStreamCreateWithFlags, v5000, (cudaStream_t *stream, unsigned int flags),
	    (stream, flags), CALL(cuStreamCreate, stream, flags))
RUNTIME_API(cudaStreamCreateWithPriority, v5050,
	    (cudaStream_t *stream, unsigned int flags, int priority),
	    (stream, flags, priority), CALL(cuStreamCreate, stream, flags))
RUNTIME_API(cudaStreamDestroy, v5050, (cudaStream_t stream), (stream),
	    CALL(cuStreamDestroy_v2, stream))
RUNTIME_API(cudaStreamSynchronize, v3020, (cudaStream_t stream), (stream),
	    CALL(cuStreamSynchronize, stream))
RUNTIME_API(cudaStreamSynchronize_ptsz, v7000, (cudaStream_t stream), (stream),
	    CALL(cuStreamSynchronize, OWN))
RUNTIME_API(cudaStreamQuery, v3020, (cudaStream_t stream), (stream),
	    CALL(cuStreamQuery, stream))
RUNTIME_API(cudaStreamQuery_ptsz, v7000, (cudaStream_t stream), (stream),
	    CALL(cuStreamQuery, OWN))
RUNTIME_API(cudaStreamWaitEvent, v3020,
	    (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	    (stream, event, flags), CALL(cuStreamWaitEvent, stream, event, flags))
RUNTIME_API(cudaStreamWaitEvent_ptsz, v7000,
	    (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	    (stream, event, flags), CALL(cuStreamWaitEvent, OWN, event, flags))
RUNTIME_API(cudaStreamGetId, v12000, (cudaStream_t stream, unsigned long long *id),
	    (stream, id), CALL(cuStreamGetId, stream, id))
RUNTIME_API(cudaStreamGetFlags, v5050, (cudaStream_t stream, unsigned int *flags),
	    (stream, flags), CALL(cuStreamGetFlags, stream, flags))
RUNTIME_API(cudaStreamGetPriority, v5050, (cudaStream_t stream, int *priority),
	    (stream, priority), no_priority(priority))

RUNTIME_API(cudaStreamGetId_ptsz, v12000, (cudaStream_t stream, unsigned long long *id),
	    (stream, id), CALL(cuStreamGetId, OWN, id))
RUNTIME_API(cudaStreamGetFlags_ptsz, v7000, (cudaStream_t stream, unsigned int *flags),
	    (stream, flags), CALL(cuStreamGetFlags, OWN, flags))
RUNTIME_API(cudaStreamGetPriority_ptsz, v7000, (cudaStream_t stream, int *priority),
	    (stream, priority), no_priority(priority))
RUNTIME_API(cudaStreamIsCapturing_ptsz, v10000,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status),
	    CALL(cuStreamIsCapturing, OWN, STATUS))

RUNTIME_API(cudaStreamBeginCapture, v10000,
	    (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode),
	    CALL(cuStreamBeginCapture_v2, stream, (CUstreamCaptureMode)mode))
RUNTIME_API(cudaStreamBeginCapture_ptsz, v10000,
	    (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode),
	    CALL(cuStreamBeginCapture_v2, OWN, (CUstreamCaptureMode)mode))
RUNTIME_API(cudaStreamEndCapture, v10000, (cudaStream_t stream, cudaGraph_t *graph),
	    (stream, graph), CALL(cuStreamEndCapture, stream, graph))
RUNTIME_API(cudaStreamEndCapture_ptsz, v10000, (cudaStream_t stream, cudaGraph_t *graph),
	    (stream, graph), CALL(cuStreamEndCapture, OWN, graph))
RUNTIME_API(cudaStreamIsCapturing, v10000,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status),
	    CALL(cuStreamIsCapturing, stream, STATUS))
RUNTIME_API(cudaStreamGetCaptureInfo, v12030,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status,
	     unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **after,
	     const cudaGraphEdgeData **edges, size_t *nr_after),
	    (stream, status, id, graph, after, edges, nr_after),
	    capture_info(stream, status, id, graph))
RUNTIME_API(cudaThreadExchangeStreamCaptureMode, v10010,
	    (enum cudaStreamCaptureMode *mode), (mode),
	    CALL(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *)mode))

RUNTIME_API(cudaEventCreate, v3020, (cudaEvent_t *event), (event),
	    CALL(cuEventCreate, event, CU_EVENT_DEFAULT))
RUNTIME_API(cudaEventCreateWithFlags, v3020, (cudaEvent_t *event, unsigned int flags),
	    (event, flags), CALL(cuEventCreate, event, flags))
RUNTIME_API(cudaEventDestroy, v3020, (cudaEvent_t event), (event),
	    CALL(cuEventDestroy_v2, event))
RUNTIME_API(cudaEventRecord, v3020, (cudaEvent_t event, cudaStream_t stream),
	    (event, stream), CALL(cuEventRecord, event, stream))
RUNTIME_API(cudaEventRecord_ptsz, v7000, (cudaEvent_t event, cudaStream_t stream),
	    (event, stream), CALL(cuEventRecord, event, OWN))
RUNTIME_API(cudaEventRecordWithFlags, v11010,
	    (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
	    (event, stream, flags), CALL(cuEventRecordWithFlags, event, stream, flags))
RUNTIME_API(cudaEventRecordWithFlags_ptsz, v11010,
	    (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
	    (event, stream, flags), CALL(cuEventRecordWithFlags, event, OWN, flags))
RUNTIME_API(cudaEventQuery, v3020, (cudaEvent_t event), (event), CALL(cuEventQuery, event))
RUNTIME_API(cudaEventSynchronize, v3020, (cudaEvent_t event), (event),
	    CALL(cuEventSynchronize, event))
RUNTIME_API(cudaEventElapsedTime, v12080, (float *ms, cudaEvent_t start, cudaEvent_t end),
	    (ms, start, end), CALL(cuEventElapsedTime_v2, ms, start, end))
