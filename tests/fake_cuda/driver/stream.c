// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams and events on the simulated timeline, whose clock is CLOCK_MONOTONIC.
 *
 * What is put into a stream begins when all before it has ended, and its end is known
 * at once; so an event has its time as soon as it is recorded, and to wait for one is
 * to move the stream's tail. The null stream and blocking streams wait for each other.
 */
#include <stdlib.h>
#include <time.h>

#include "driver.h"

static atomic_uint newest_stream_id, newest_event_id;
static atomic_uint_fast64_t newest_event_sync_id;

uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void wait_until(uint64_t time_ns)
{
	const struct timespec time = {.tv_sec = (time_t)(time_ns / 1000000000),
				      .tv_nsec = (long)(time_ns % 1000000000)};

	if (knobs.is_instant)
		return;
	while (clock_ns() < time_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static bool is_over(uint64_t time_ns)
{
	return knobs.is_instant || clock_ns() >= time_ns;
}

static void raise_to(atomic_uint_fast64_t *value, uint64_t least)
{
	uint64_t old = atomic_load(value);

	while (old < least && !atomic_compare_exchange_weak(value, &old, least))
		;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t stream__run(struct CUstream_st *stream, uint64_t duration_ns)
{
	struct CUctx_st *context = stream->context;
	uint64_t start = clock_ns() + LAUNCH_LATENCY_NS, end;

	pthread_mutex_lock(&stream->mutex);
	start = at_least(start, stream->tail_ns);
	if (stream->is_null)
		start = at_least(start, atomic_load(&context->blocking_tail_ns));
	else if (stream->is_blocking)
		start = at_least(start, atomic_load(&context->null_tail_ns));
	end = start + duration_ns;
	stream->tail_ns = end;
	pthread_mutex_unlock(&stream->mutex);

	raise_to(&context->tail_ns, end);
	if (stream->is_null)
		raise_to(&context->null_tail_ns, end);
	else if (stream->is_blocking)
		raise_to(&context->blocking_tail_ns, end);
	return start;
}

void stream__init(struct CUstream_st *stream, struct CUctx_st *context,
		  unsigned int flags)
{
	stream->context = context;
	stream->id = atomic_fetch_add(&newest_stream_id, 1) + 7;
	stream->is_blocking = !(flags & CU_STREAM_NON_BLOCKING);
	pthread_mutex_init(&stream->mutex, NULL);
}

static CUresult stream__create(CUstream *ret, unsigned int flags)
{
	struct CUctx_st *context;
	struct CUstream_st *stream;
	CUresult result = context__current(&context);
	CUpti_ResourceData data = {};

	if (result)
		return result;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream__init(stream, context, flags);
	*ret = stream;
	data.context = context;
	data.resourceHandle.stream = stream;
	tools__resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
	return CUDA_SUCCESS;
}

static CUresult stream__destroy(CUstream stream)
{
	CUpti_ResourceData data = {.context = stream->context};

	data.resourceHandle.stream = stream;
	tools__resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, &data);
	pthread_mutex_destroy(&stream->mutex);
	free(stream);
	return CUDA_SUCCESS;
}

uint64_t stream__tail(struct CUstream_st *stream)
{
	uint64_t tail;

	pthread_mutex_lock(&stream->mutex);
	tail = stream->tail_ns;
	pthread_mutex_unlock(&stream->mutex);
	if (stream->is_null)
		tail = at_least(tail, atomic_load(&stream->context->blocking_tail_ns));
	return tail;
}

#define NONE CUPTI_SYNCHRONIZATION_INVALID_VALUE
#define ABOUT_STREAM(stream_)                      \
	((struct wait_about){                      \
		.context = (stream_)->context->id, \
		.stream = (stream_)->id,           \
		.event = NONE,                     \
		.event_sync = NONE,                \
	})

CUresult stream__synchronize(CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	wait__for(WAIT_STREAM, &ABOUT_STREAM(stream), stream__tail(stream));
	return CUDA_SUCCESS;
}

static CUresult stream__query(CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	uint64_t start_ns = clock_ns();

	if (result)
		return result;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	result = is_over(stream__tail(stream)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
	wait__tell(WAIT_STREAM_QUERY, &ABOUT_STREAM(stream), start_ns, result);
	return result;
}

/* Also its time, and the graph it was recorded into */
static struct wait_about event__about(struct CUevent_st *event, uint64_t *ret_time_ns,
				      uint32_t *ret_capture_id)
{
	struct wait_about about = {
		.context = event->context_id,
		.stream = NONE,
		.event = event->id,
	};

	pthread_mutex_lock(&event->mutex);
	*ret_time_ns = event->time_ns;
	*ret_capture_id = event->capture_id;
	about.event_sync = event->sync_id;
	pthread_mutex_unlock(&event->mutex);
	return about;
}

static CUresult stream__wait_event(CUstream handle, bool is_per_thread, CUevent event)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);
	uint64_t start_ns = clock_ns(), time;
	struct wait_about about;
	uint32_t capture_id;

	if (result)
		return result;
	about = event__about(event, &time, &capture_id);
	if (capture_id)
		return capture__join(stream, capture_id);
	pthread_mutex_lock(&stream->mutex);
	stream->tail_ns = at_least(stream->tail_ns, time);
	pthread_mutex_unlock(&stream->mutex);
	about.stream = stream->id;
	wait__tell(WAIT_STREAM_WAIT_EVENT, &about, start_ns, CUDA_SUCCESS);
	return CUDA_SUCCESS;
}

static CUresult stream__id(CUstream handle, bool is_per_thread, unsigned long long *ret)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (!result)
		*ret = stream->id;
	return result;
}

static CUresult stream__flags(CUstream handle, bool is_per_thread, unsigned int *ret)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (!result)
		*ret = stream->is_blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
	return result;
}

/* All streams have one priority. */
static CUresult no_priority(int *priority)
{
	*priority = 0;
	return CUDA_SUCCESS;
}

static CUresult event__create(CUevent *ret)
{
	struct CUevent_st *event = calloc(1, sizeof(*event));

	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_init(&event->mutex, NULL);
	event->id = atomic_fetch_add(&newest_event_id, 1) + 1;
	if (driver_thread()->context)
		event->context_id = driver_thread()->context->id;
	*ret = event;
	return CUDA_SUCCESS;
}

static CUresult event__destroy(CUevent event)
{
	pthread_mutex_destroy(&event->mutex);
	free(event);
	return CUDA_SUCCESS;
}

static CUresult event__record(CUevent event, CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);
	uint64_t time;

	if (result)
		return result;
	time = at_least(stream__tail(stream), clock_ns());
	pthread_mutex_lock(&event->mutex);
	event->capture_id = stream->capture ? stream->capture->id : 0;
	event->time_ns = time;
	event->sync_id = atomic_fetch_add(&newest_event_sync_id, 1) + 1;
	pthread_mutex_unlock(&event->mutex);
	return CUDA_SUCCESS;
}

static uint64_t event__time(struct CUevent_st *event)
{
	uint64_t time;

	pthread_mutex_lock(&event->mutex);
	time = event->time_ns;
	pthread_mutex_unlock(&event->mutex);
	return time;
}

static CUresult event__query(CUevent event)
{
	uint64_t start_ns = clock_ns(), time;
	struct wait_about about;
	uint32_t capture_id;
	CUresult result;

	about = event__about(event, &time, &capture_id);
	if (capture_id)
		return CUDA_ERROR_CAPTURED_EVENT;
	result = is_over(time) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
	wait__tell(WAIT_EVENT_QUERY, &about, start_ns, result);
	return result;
}

static CUresult event__synchronize(CUevent event)
{
	uint32_t capture_id;
	uint64_t time;
	struct wait_about about = event__about(event, &time, &capture_id);

	if (capture_id)
		return CUDA_ERROR_CAPTURED_EVENT;
	wait__for(WAIT_EVENT, &about, time);
	return CUDA_SUCCESS;
}

static CUresult event__elapsed(float *ret_ms, CUevent start, CUevent end)
{
	uint64_t start_ns = event__time(start), end_ns = event__time(end);

	/* 0: not recorded yet */
	if (!start_ns || !end_ns)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!is_over(start_ns) || !is_over(end_ns))
		return CUDA_ERROR_NOT_READY;
	*ret_ms = (float)((double)(int64_t)(end_ns - start_ns) / 1e6);
	return CUDA_SUCCESS;
}

/* clang-format off */
DRIVER_API(cuStreamCreate, (CUstream *stream, unsigned int flags), (stream, flags),
	   stream__create(stream, flags))
DRIVER_API(cuStreamCreateWithPriority, (CUstream *stream, unsigned int flags, int priority),
	   (stream, flags, priority), stream__create(stream, flags))
DRIVER_API(cuStreamDestroy_v2, (CUstream stream), (stream), stream__destroy(stream))
DRIVER_API(cuStreamSynchronize, (CUstream stream), (stream),
	   stream__synchronize(stream, false))
DRIVER_API(cuStreamSynchronize_ptsz, (CUstream stream), (stream),
	   stream__synchronize(stream, true))
DRIVER_API(cuStreamQuery, (CUstream stream), (stream), stream__query(stream, false))
DRIVER_API(cuStreamQuery_ptsz, (CUstream stream), (stream), stream__query(stream, true))
DRIVER_API(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags),
	   (stream, event, flags), stream__wait_event(stream, false, event))
DRIVER_API(cuStreamWaitEvent_ptsz, (CUstream stream, CUevent event, unsigned int flags),
	   (stream, event, flags), stream__wait_event(stream, true, event))
DRIVER_API(cuStreamGetId, (CUstream stream, unsigned long long *id), (stream, id),
	   stream__id(stream, false, id))
DRIVER_API(cuStreamGetFlags, (CUstream stream, unsigned int *flags), (stream, flags),
	   stream__flags(stream, false, flags))
DRIVER_API(cuStreamGetId_ptsz, (CUstream stream, unsigned long long *id), (stream, id),
	   stream__id(stream, true, id))
DRIVER_API(cuStreamGetFlags_ptsz, (CUstream stream, unsigned int *flags), (stream, flags),
	   stream__flags(stream, true, flags))
DRIVER_API(cuStreamGetPriority_ptsz, (CUstream stream, int *priority), (stream, priority),
	   no_priority(priority))
DRIVER_API(cuStreamGetPriority, (CUstream stream, int *priority), (stream, priority),
	   no_priority(priority))

DRIVER_API(cuEventCreate, (CUevent *event, unsigned int flags), (event, flags),
	   event__create(event))
DRIVER_API(cuEventDestroy_v2, (CUevent event), (event), event__destroy(event))
DRIVER_API(cuEventRecord, (CUevent event, CUstream stream), (event, stream),
	   event__record(event, stream, false))
DRIVER_API(cuEventRecord_ptsz, (CUevent event, CUstream stream), (event, stream),
	   event__record(event, stream, true))
DRIVER_API(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags),
	   (event, stream, flags), event__record(event, stream, false))
DRIVER_API(cuEventRecordWithFlags_ptsz,
	   (CUevent event, CUstream stream, unsigned int flags), (event, stream, flags),
	   event__record(event, stream, true))
DRIVER_API(cuEventQuery, (CUevent event), (event), event__query(event))
DRIVER_API(cuEventSynchronize, (CUevent event), (event), event__synchronize(event))
DRIVER_API(cuEventElapsedTime, (float *ms, CUevent start, CUevent end), (ms, start, end),
	   event__elapsed(ms, start, end))
DRIVER_API(cuEventElapsedTime_v2, (float *ms, CUevent start, CUevent end),
	   (ms, start, end), event__elapsed(ms, start, end))
