// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams that are captured into a graph instead of running. */
#include <stdlib.h>

#include "driver.h"

static CUresult capture__begin(CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	/* The null stream can't be captured, as it waits for all others. */
	if (stream->is_null)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	result = cuGraphCreate(&stream->capture, 0);
	stream->owns_capture = !result;
	return result;
}

static CUresult capture__end(CUstream handle, bool is_per_thread, CUgraph *ret)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	if (!stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (!stream->owns_capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	*ret = stream->capture;
	stream->capture = NULL;
	stream->owns_capture = false;
	return CUDA_SUCCESS;
}

static CUresult capture__status(CUstream handle, bool is_per_thread,
				CUstreamCaptureStatus *ret, cuuint64_t *ret_id,
				CUgraph *ret_graph)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	*ret = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
			       : CU_STREAM_CAPTURE_STATUS_NONE;
	if (stream->capture && ret_id)
		*ret_id = stream->capture->id;
	if (stream->capture && ret_graph)
		*ret_graph = stream->capture;
	return CUDA_SUCCESS;
}

/* Calls that a capture doesn't allow are not refused in any mode here. */
static CUresult exchange_mode(CUstreamCaptureMode *mode)
{
	static _Thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
	CUstreamCaptureMode old = current;

	current = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

/* clang-format off */
DRIVER_API(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode),
	   (stream, mode), capture__begin(stream, false))
DRIVER_API(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
	   (stream, mode), capture__begin(stream, true))
DRIVER_API(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph),
	   capture__end(stream, false, graph))
DRIVER_API(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph *graph), (stream, graph),
	   capture__end(stream, true, graph))
DRIVER_API(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status),
	   (stream, status), capture__status(stream, false, status, NULL, NULL))
DRIVER_API(cuStreamIsCapturing_ptsz, (CUstream stream, CUstreamCaptureStatus *status),
	   (stream, status), capture__status(stream, true, status, NULL, NULL))
DRIVER_API(cuStreamGetCaptureInfo_v2,
	   (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	    const CUgraphNode **after, size_t *nr_after),
	   (stream, status, id, graph, after, nr_after),
	   capture__status(stream, false, status, id, graph))
DRIVER_API(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode), (mode),
	   exchange_mode(mode))
