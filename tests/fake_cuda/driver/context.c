// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices, and the contexts on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* The H200 that the facts were measured on */
#define DEVICE_MEMORY_BYTES ((size_t)141 << 30)
#define NR_MULTIPROCESSORS  132
#define DEVICE_NAME	    "Fake GPU"
#define COMPUTE_MAJOR	    9
#define COMPUTE_MINOR	    0

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st primary[FAKE_MAX_DEVICES];
/* All that were ever made, newest first; kept, since streams point to them. */
static struct CUctx_st *contexts;
static uint32_t nr_contexts;

bool device__is_valid(CUdevice device)
{
	return device >= 0 && device < knobs.nr_devices;
}

static CUresult device__count(int *ret)
{
	*ret = knobs.nr_devices;
	return CUDA_SUCCESS;
}

static CUresult device__get(CUdevice *ret, int ordinal)
{
	if (!device__is_valid(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = ordinal;
	return CUDA_SUCCESS;
}

static CUresult device__name(char *ret, int len, CUdevice device)
{
	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(ret, (size_t)len, DEVICE_NAME);
	return CUDA_SUCCESS;
}

static CUresult device__uuid(CUuuid *ret, CUdevice device)
{
	CUuuid uuid = {"fake-gpu"};

	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	uuid.bytes[sizeof(uuid.bytes) - 1] = (char)(device + 1);
	*ret = uuid;
	return CUDA_SUCCESS;
}

bool device__info(int device, struct fake_device_info *ret)
{
	struct fake_device_info info = {
		.name = DEVICE_NAME,
		.memory_bytes = DEVICE_MEMORY_BYTES,
		.compute_major = COMPUTE_MAJOR,
		.compute_minor = COMPUTE_MINOR,
		.nr_multiprocessors = NR_MULTIPROCESSORS,
	};

	if (device__uuid(&info.uuid, device))
		return false;
	*ret = info;
	return true;
}

static CUresult device__memory(size_t *ret, CUdevice device)
{
	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = DEVICE_MEMORY_BYTES;
	return CUDA_SUCCESS;
}

static CUresult device__attribute(int *ret, CUdevice_attribute attribute, CUdevice device)
{
	static const int values[CU_DEVICE_ATTRIBUTE_MAX] = {
		[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
		[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = 1024,
		[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = 1024,
		[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64,
		[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = 0x7fffffff,
		[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535,
		[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = 65535,
		[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 48 << 10,
		[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 227 << 10,
		[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = 228 << 10,
		[CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = 64 << 10,
		[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32,
		[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = 65536,
		[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = 65536,
		[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1980000,
		[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 3201000,
		[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 6016,
		[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 60 << 20,
		[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = NR_MULTIPROCESSORS,
		[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = 2048,
		[CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING] = 1,
		[CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS] = 1,
		[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = 3,
		[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = COMPUTE_MAJOR,
		[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = COMPUTE_MINOR,
		[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 1,
		[CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 1,
		[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 1,
	};

	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? device + 1
							   : values[attribute];
	return CUDA_SUCCESS;
}

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
	context__synchronize(context);
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
	if (!fork_page__is_forked())
		wait_until(atomic_load(&context->tail_ns));
}

static CUresult context__synchronize_current(void)
{
	struct CUctx_st *context;
	CUresult result = context__current(&context);

	if (!result)
		context__synchronize(context);
	return result;
}

CUresult CUDAAPI cuCtxSynchronize(void){
	DRIVER_CALL(cuCtxSynchronize, &fake_call, NULL, context__synchronize_current())}

/* clang-format off */
DRIVER_API(cuDeviceGetCount, (int *count), (count), device__count(count))
DRIVER_API(cuDeviceGet, (CUdevice *device, int ordinal), (device, ordinal),
	   device__get(device, ordinal))
DRIVER_API(cuDeviceGetName, (char *name, int len, CUdevice dev), (name, len, dev),
	   device__name(name, len, dev))
DRIVER_API(cuDeviceGetUuid, (CUuuid *uuid, CUdevice dev), (uuid, dev),
	   device__uuid(uuid, dev))
DRIVER_API(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice dev), (uuid, dev),
	   device__uuid(uuid, dev))
DRIVER_API(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice dev), (bytes, dev),
	   device__memory(bytes, dev))
DRIVER_API(cuDeviceGetAttribute, (int *value, CUdevice_attribute which, CUdevice dev),
	   (value, which, dev), device__attribute(value, which, dev))

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
DRIVER_API(cuCtxSetCurrent, (CUcontext context), (context), context__set(context))
DRIVER_API(cuCtxGetCurrent, (CUcontext *context), (context), context__get(context))
DRIVER_API(cuCtxPushCurrent_v2, (CUcontext context), (context), context__push(context))
DRIVER_API(cuCtxPopCurrent_v2, (CUcontext *context), (context), context__pop(context))
DRIVER_API(cuCtxGetDevice, (CUdevice *device), (device), context__device(device))
