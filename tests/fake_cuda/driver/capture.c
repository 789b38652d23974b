// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams that are captured into a graph instead of running. */
#include <stdlib.h>

#include "driver.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct CUgraph_st *captures; /* those that go on */

/* Under the mutex */
static void capture__add_stream(struct CUgraph_st *graph, struct CUstream_st *stream)
{
	stream->capture = graph;
	stream->next_captured = graph->captured_streams;
	graph->captured_streams = stream;
}

CUresult capture__join(struct CUstream_st *stream, uint32_t capture_id)
{
	CUresult result = CUDA_SUCCESS;
	struct CUgraph_st *graph;

	pthread_mutex_lock(&mutex);
	for (graph = captures; graph; graph = graph->next_capture)
		if (graph->id == capture_id)
			break;
	if (!graph)
		result = CUDA_ERROR_CAPTURED_EVENT;
	else if (!stream->capture)
		capture__add_stream(graph, stream);
	else if (stream->capture != graph)
		result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
	pthread_mutex_unlock(&mutex);
	return result;
}

static CUresult capture__begin(CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);
	CUgraph graph;

	if (result)
		return result;
	/* The null stream can't be captured, as it waits for all others. */
	if (stream->is_null)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	result = graph__create(&graph);
	if (result)
		return result;
	pthread_mutex_lock(&mutex);
	stream->owns_capture = true;
	capture__add_stream(graph, stream);
	graph->next_capture = captures;
	captures = graph;
	pthread_mutex_unlock(&mutex);
	return CUDA_SUCCESS;
}

/* Under the mutex */
static void capture__release_streams(struct CUgraph_st *graph)
{
	struct CUstream_st *stream, *next;
	struct CUgraph_st **at = &captures;

	for (stream = graph->captured_streams; stream; stream = next) {
		next = stream->next_captured;
		stream->capture = NULL;
		stream->next_captured = NULL;
		stream->owns_capture = false;
	}
	graph->captured_streams = NULL;
	while (*at != graph)
		at = &(*at)->next_capture;
	*at = graph->next_capture;
}

static CUresult capture__end(CUstream handle, bool is_per_thread, CUgraph *ret)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);
	struct CUgraph_st *graph;

	if (result)
		return result;
	graph = stream->capture;
	if (!graph)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (!stream->owns_capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	pthread_mutex_lock(&mutex);
	capture__release_streams(graph);
	pthread_mutex_unlock(&mutex);
	*ret = graph;
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
