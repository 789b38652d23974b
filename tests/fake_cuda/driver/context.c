// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts, primary and own, and which a thread uses. */
#include <stdlib.h>

#include "driver.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st primary[FAKE_MAX_DEVICES];
/* All that were ever made, newest first; kept, since streams point to them. */
static struct CUctx_st *contexts;
static uint32_t nr_contexts;

static void context__tell(const struct CUctx_st *context)
{
	const struct fake_hooks *hooks = atomic_load(&tools.hooks);
	const struct fake_context_info info = {
		.context = context->id,
		.device = (uint32_t)context->device,
		.null_stream = context->null_stream.id,
	};

	if (hooks)
		hooks->context(&info);
}

static void context__init(struct CUctx_st *context, CUdevice device, unsigned int flags)
{
	context->device = device;
	context->flags = flags;
	stream__init(&context->null_stream, context, CU_STREAM_DEFAULT);
	context->null_stream.is_null = true;
	pthread_mutex_lock(&mutex);
	context->id = ++nr_contexts;
	context->next = contexts;
	contexts = context;
	pthread_mutex_unlock(&mutex);
	tools__resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
			&(CUpti_ResourceData){.context = context});
	context__tell(context);
}

void context__tell_all(void)
{
	struct CUctx_st *context;

	pthread_mutex_lock(&mutex);
	context = contexts;
	pthread_mutex_unlock(&mutex);
	for (; context; context = context->next)
		if (!context->is_dead)
			context__tell(context);
}

bool context__is_any(void)
{
	bool is_any;

	pthread_mutex_lock(&mutex);
	is_any = contexts;
	pthread_mutex_unlock(&mutex);
	return is_any;
}

CUresult context__current(struct CUctx_st **ret)
{
	struct CUctx_st *context = driver_thread()->context;

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret = context;
	return CUDA_SUCCESS;
}

static CUresult context__create(CUcontext *ret, unsigned int flags, CUdevice device)
{
	struct driver_thread *thread = driver_thread();
	struct CUctx_st *context;

	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	context = calloc(1, sizeof(*context));
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	thread->context = context;
	context__init(context, device, flags);
	*ret = context;
	return CUDA_SUCCESS;
}

static CUresult context__destroy(CUcontext context)
{
	struct driver_thread *thread = driver_thread();

	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fork_page__is_forked())
		wait_until(atomic_load(&context->tail_ns));
	tools__resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
			&(CUpti_ResourceData){.context = context});
	context->is_dead = true;
	if (thread->context == context)
		thread->context = NULL;
	return CUDA_SUCCESS;
}

static CUresult primary__retain(CUcontext *ret, CUdevice device)
{
	static pthread_mutex_t primary_mutex = PTHREAD_MUTEX_INITIALIZER;
	struct CUctx_st *context;

	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	context = &primary[device];
	pthread_mutex_lock(&primary_mutex);
	context->nr_retained++;
	if (!context->id)
		context__init(context, device, 0);
	pthread_mutex_unlock(&primary_mutex);
	*ret = context;
	return CUDA_SUCCESS;
}

/* The context stays: who retains it again gets it back as it was. */
static CUresult primary__release(CUdevice device)
{
	return device__is_valid(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult primary__state(CUdevice device, unsigned int *flags, int *active)
{
	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = primary[device].flags;
	*active = primary[device].id != 0;
	return CUDA_SUCCESS;
}

static CUresult context__set(CUcontext context)
{
	driver_thread()->context = context;
	return CUDA_SUCCESS;
}

static CUresult context__get(CUcontext *ret)
{
	*ret = driver_thread()->context;
	return CUDA_SUCCESS;
}

/* Which devices' memory a context reaches; copies don't need it, as with the real one. */
static CUresult peer__enable(CUcontext peer)
{
	struct CUctx_st *context;
	unsigned int bit;

	TRY(context__current(&context));
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!device__can_access(context->device, peer->device))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	bit = 1u << peer->device;
	return atomic_fetch_or(&context->peers, bit) & bit
		       ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
		       : CUDA_SUCCESS;
}

static CUresult peer__disable(CUcontext peer)
{
	struct CUctx_st *context;
	unsigned int bit;

	TRY(context__current(&context));
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	bit = 1u << peer->device;
	return atomic_fetch_and(&context->peers, ~bit) & bit
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

static CUresult context__push(CUcontext context)
{
	struct driver_thread *thread = driver_thread();

	if (thread->nr_stack == sizeof(thread->stack) / sizeof(*thread->stack))
		return CUDA_ERROR_INVALID_VALUE;
	thread->stack[thread->nr_stack++] = thread->context;
	thread->context = context;
	return CUDA_SUCCESS;
}

static CUresult context__pop(CUcontext *ret)
{
	struct driver_thread *thread = driver_thread();

	if (!thread->context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ret)
		*ret = thread->context;
	thread->context = thread->nr_stack ? thread->stack[--thread->nr_stack] : NULL;
	return CUDA_SUCCESS;
}

static CUresult context__device(CUdevice *ret)
{
	struct CUctx_st *context;
	CUresult result = context__current(&context);

	if (!result)
		*ret = context->device;
	return result;
}

void context__synchronize(struct CUctx_st *context)
{
	const struct wait_about about = {
		.context = context->id,
		.stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.event = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.event_sync = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
	};

	wait__for(WAIT_CONTEXT, &about, atomic_load(&context->tail_ns));
}

static CUresult context__synchronize_current(void)
{
	struct CUctx_st *context;
	CUresult result = context__current(&context);

	if (!result)
		context__synchronize(context);
	return result;
}

static CUresult context__synchronize_that(CUcontext context)
{
	if (!context)
		return context__synchronize_current();
	context__synchronize(context);
	return CUDA_SUCCESS;
}

/* Of no use but to be told of */
CUresult CUDAAPI cuProfilerStart(void){
	DRIVER_CALL(cuProfilerStart, &fake_call, NULL, CUDA_SUCCESS)}

CUresult CUDAAPI
	cuProfilerStop(void){DRIVER_CALL(cuProfilerStop, &fake_call, NULL, CUDA_SUCCESS)}

CUresult CUDAAPI cuCtxSynchronize(void){
	DRIVER_CALL(cuCtxSynchronize, &fake_call, NULL, context__synchronize_current())}

/* clang-format off */
DRIVER_API(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice dev), (context, dev),
	   primary__retain(context, dev))
DRIVER_API(cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev), primary__release(dev))
DRIVER_API(cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev), primary__release(dev))
DRIVER_API(cuDevicePrimaryCtxGetState, (CUdevice dev, unsigned int *flags, int *active),
	   (dev, flags, active), primary__state(dev, flags, active))
DRIVER_API(cuDevicePrimaryCtxSetFlags_v2, (CUdevice dev, unsigned int flags), (dev, flags),
	   primary__release(dev))

DRIVER_API(cuCtxCreate_v2, (CUcontext *context, unsigned int flags, CUdevice dev),
	   (context, flags, dev), context__create(context, flags, dev))
DRIVER_API(cuCtxCreate_v4,
	   (CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice dev),
	   (context, params, flags, dev), context__create(context, flags, dev))
DRIVER_API(cuCtxDestroy_v2, (CUcontext context), (context), context__destroy(context))
/* Of CUDA 13, with the context to wait for */
DRIVER_API(cuCtxSynchronize_v2, (CUcontext context), (context),
	   context__synchronize_that(context))
DRIVER_API(cuCtxSetCurrent, (CUcontext context), (context), context__set(context))
DRIVER_API(cuCtxGetCurrent, (CUcontext *context), (context), context__get(context))
DRIVER_API(cuCtxPushCurrent_v2, (CUcontext context), (context), context__push(context))
DRIVER_API(cuCtxPopCurrent_v2, (CUcontext *context), (context), context__pop(context))
DRIVER_API(cuCtxGetDevice, (CUdevice *device), (device), context__device(device))
DRIVER_API(cuCtxEnablePeerAccess, (CUcontext peer, unsigned int flags), (peer, flags),
	   peer__enable(peer))
DRIVER_API(cuCtxDisablePeerAccess, (CUcontext peer), (peer), peer__disable(peer))
