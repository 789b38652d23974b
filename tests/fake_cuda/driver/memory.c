// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory, all of it the host's: reserved, zero, and given by the kernel only when it is
 * touched, so that a program may have weights of gigabytes that it never reads.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"

/* What the real one makes a row's length a multiple of */
#define PITCH_BYTES 512

const char *const memory_kind_names[NR_MEMORY_KINDS] = {
	[CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN] = "unknown",
	[CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE] = "pageable",
	[CUPTI_ACTIVITY_MEMORY_KIND_PINNED] = "pinned",
	[CUPTI_ACTIVITY_MEMORY_KIND_DEVICE] = "device",
	[CUPTI_ACTIVITY_MEMORY_KIND_ARRAY] = "array",
	[CUPTI_ACTIVITY_MEMORY_KIND_MANAGED] = "managed",
	[CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC] = "device-static",
	[CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC] = "managed-static",
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *allocations; /* of tsearch() */
static atomic_uint_fast64_t newest_managed;

/* An allocation equals any address within it. */
static int compare(const void *a, const void *b)
{
	const struct allocation *left = a, *right = b;

	if (left->start + left->bytes <= right->start)
		return -1;
	return left->start >= right->start + right->bytes;
}

/* A copy, since another thread may free it. */
static bool memory__find(const void *address, struct allocation *ret)
{
	struct allocation key = {.start = (char *)address, .bytes = 1};
	struct allocation **found;

	pthread_mutex_lock(&mutex);
	found = tfind(&key, &allocations, compare);
	if (found)
		*ret = **found;
	pthread_mutex_unlock(&mutex);
	return found;
}

/* @stream: in whose order it is; NULL: in none's */
static void tell(const struct allocation *allocation,
		 CUpti_ActivityMemoryOperationType operation,
		 const struct CUstream_st *stream)
{
	struct fake_memory memory = {
		.operation = operation,
		.kind = allocation->kind,
		.address = (uintptr_t)allocation->start,
		.bytes = allocation->bytes,
		.time_ns = clock_ns(),
		.correlation_id = driver_thread()->common.correlation_id,
		.device = (uint32_t)allocation->context->device,
		.context = allocation->context->id,
		.stream = stream ? stream->id : CUPTI_INVALID_STREAM_ID,
		.is_async = stream,
		.name = allocation->name,
	};

	/* As the real one tells of a variable, which belongs to no call (13.0, H200) */
	if (allocation->name)
		memory.correlation_id = memory.context = memory.stream = 0;
	if (allocation->is_mapped)
		memory.context = CUPTI_INVALID_CONTEXT_ID;
	if (fork_page__is_forked())
		return;
	if (allocation->pool)
		pool__describe(allocation->pool, &memory);
	truth__add_memory(&memory);
	if (fake_tools__wants(&tools, CUPTI_ACTIVITY_KIND_MEMORY2))
		atomic_load(&tools.hooks)->memory(&memory);
}

static CUresult memory__add(const struct allocation *content)
{
	struct allocation *allocation = malloc(sizeof(*allocation)), **found;

	if (!allocation)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*allocation = *content;
	pthread_mutex_lock(&mutex);
	found = tsearch(allocation, &allocations, compare);
	pthread_mutex_unlock(&mutex);
	if (found && *found == allocation)
		return CUDA_SUCCESS;
	free(allocation);
	return found ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
		     : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult memory__allocate(struct allocation *allocation, const struct CUstream_st *stream)
{
	CUresult result;
	void *start;

	if (!allocation->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream)
		allocation->context = stream->context;
	else if (!allocation->context)
		TRY(context__current(&allocation->context));
	start = mmap(NULL, allocation->bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	allocation->start = start;
	allocation->home = -1;
	result = memory__add(allocation);
	if (result) {
		munmap(start, allocation->bytes);
		return result;
	}
	if (allocation->pool)
		pool__use(allocation->pool, allocation->bytes);
	if (allocation->kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
		atomic_store(&newest_managed, (uintptr_t)start);
	tell(allocation, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, stream);
	return CUDA_SUCCESS;
}

static CUresult allocate(void **ret, size_t bytes, CUpti_ActivityMemoryKind kind)
{
	struct allocation allocation = {.bytes = bytes, .kind = kind};

	if (!ret)
		return CUDA_ERROR_INVALID_VALUE;
	TRY(memory__allocate(&allocation, NULL));
	*ret = allocation.start;
	return CUDA_SUCCESS;
}

static CUresult allocate_pitch(CUdeviceptr *ret, size_t *ret_pitch, size_t width,
			       size_t height)
{
	size_t pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;

	if (!ret_pitch)
		return CUDA_ERROR_INVALID_VALUE;
	TRY(allocate((void **)ret, pitch * height, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
	*ret_pitch = pitch;
	return CUDA_SUCCESS;
}

CUresult memory__allocate_variable(size_t bytes, const char *name, void **ret)
{
	struct allocation allocation = {.bytes = bytes,
					.kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC,
					.name = name};

	TRY(memory__allocate(&allocation, NULL));
	*ret = allocation.start;
	return CUDA_SUCCESS;
}

static bool is_freed_by(const struct allocation *allocation, bool is_host,
			bool is_registered)
{
	return (allocation->kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED) == is_host &&
	       allocation->is_registered == is_registered && !allocation->is_mapped;
}

/* Take it out of those that there are; NULL if it isn't one of the kind. */
static struct allocation *memory__take(void *start, bool is_host, bool is_registered)
{
	struct allocation key = {.start = start, .bytes = 1}, **found;
	struct allocation *allocation = NULL;

	pthread_mutex_lock(&mutex);
	found = tfind(&key, &allocations, compare);
	if (found && (*found)->start == start &&
	    is_freed_by(*found, is_host, is_registered)) {
		allocation = *found;
		tdelete(allocation, &allocations, compare);
	}
	pthread_mutex_unlock(&mutex);
	return allocation;
}

CUresult memory__free(void *start, bool is_host, const struct CUstream_st *stream)
{
	struct allocation *allocation;

	if (!start)
		return CUDA_SUCCESS;
	allocation = memory__take(start, is_host, false);
	if (!allocation)
		return CUDA_ERROR_INVALID_VALUE;
	if (allocation->pool)
		pool__use(allocation->pool, -allocation->bytes);
	/* Before another can have the address */
	tell(allocation, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, stream);
	munmap(allocation->start, allocation->bytes);
	free(allocation);
	return CUDA_SUCCESS;
}

/* The program's own memory is made pinned: nothing is allocated, so none is told. */
static CUresult memory__register(void *start, size_t bytes)
{
	struct allocation allocation = {
		.start = start,
		.bytes = bytes,
		.kind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
		.is_registered = true,
	};

	if (!start || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	TRY(context__current(&allocation.context));
	return memory__add(&allocation);
}

static CUresult memory__unregister(void *start)
{
	struct allocation *allocation = memory__take(start, true, true);

	if (!allocation)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	free(allocation);
	return CUDA_SUCCESS;
}

CUresult memory__map(void *start, size_t bytes, int device)
{
	struct allocation allocation = {
		.start = start,
		.bytes = bytes,
		.kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.is_mapped = true,
		.home = -1,
	};

	TRY(context__current(&allocation.context));
	if (allocation.context->device != device)
		return CUDA_ERROR_NOT_SUPPORTED;
	return memory__add(&allocation);
}

/* The pieces of a range are told of once, when they are first made accessible. */
CUresult memory__tell_mapped(void *start, size_t bytes)
{
	char *at = start, *end = at + bytes;

	while (at < end) {
		struct allocation key = {.start = at, .bytes = 1}, **found, piece;
		bool is_new;

		pthread_mutex_lock(&mutex);
		found = tfind(&key, &allocations, compare);
		if (!found || !(*found)->is_mapped || (*found)->start != at) {
			pthread_mutex_unlock(&mutex);
			return CUDA_ERROR_INVALID_VALUE;
		}
		is_new = !(*found)->is_told;
		(*found)->is_told = true;
		piece = **found;
		pthread_mutex_unlock(&mutex);
		if (is_new)
			tell(&piece, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
			     NULL);
		at += piece.bytes;
	}
	return CUDA_SUCCESS;
}

CUresult memory__unmap(void *start)
{
	struct allocation key = {.start = start, .bytes = 1}, **found;
	struct allocation *allocation = NULL;

	pthread_mutex_lock(&mutex);
	found = tfind(&key, &allocations, compare);
	if (found && (*found)->is_mapped && (*found)->start == start) {
		allocation = *found;
		tdelete(allocation, &allocations, compare);
	}
	pthread_mutex_unlock(&mutex);
	if (!allocation)
		return CUDA_ERROR_INVALID_VALUE;
	if (allocation->is_told)
		tell(allocation, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, NULL);
	free(allocation);
	return CUDA_SUCCESS;
}

void memory__describe(const void *address, struct copy_side *ret)
{
	const struct CUctx_st *context = driver_thread()->context;
	struct allocation found;

	ret->kind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	if (address && memory__find(address, &found)) {
		/* Copies don't tell a variable's memory apart (13.0, H200). */
		ret->kind = found.kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC
				    ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
				    : found.kind;
		context = found.context;
	}
	if (context) {
		ret->device = (uint32_t)context->device;
		ret->context = context->id;
	}
}

bool memory__find_managed(const void *address, struct allocation *ret)
{
	return memory__find(address, ret) &&
	       ret->kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
}

uint64_t memory__newest_managed(void)
{
	return atomic_load(&newest_managed);
}

/* tfind() by any address in it, as everywhere. */
void memory__set_home(const void *address, int home)
{
	struct allocation key = {.start = (char *)address, .bytes = 1}, **found;

	pthread_mutex_lock(&mutex);
	found = tfind(&key, &allocations, compare);
	if (found)
		(*found)->home = home;
	pthread_mutex_unlock(&mutex);
}

static CUresult memory__range(CUdeviceptr *start, size_t *bytes, CUdeviceptr address)
{
	struct allocation found;

	if (!memory__find((void *)(uintptr_t)address, &found))
		return CUDA_ERROR_NOT_FOUND;
	if (start)
		*start = (CUdeviceptr)(uintptr_t)found.start;
	if (bytes)
		*bytes = found.bytes;
	return CUDA_SUCCESS;
}

static CUresult memory__info(size_t *free_bytes, size_t *total_bytes)
{
	struct CUctx_st *context;

	TRY(context__current(&context));
	cuDeviceTotalMem_v2(total_bytes, context->device);
	*free_bytes = *total_bytes - *total_bytes / 16;
	return CUDA_SUCCESS;
}

static CUresult memory__attribute(void *ret, CUpointer_attribute which,
				  CUdeviceptr address)
{
	struct allocation found;

	if (!memory__find((void *)(uintptr_t)address, &found))
		return CUDA_ERROR_INVALID_VALUE;
	switch (which) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)ret = found.context;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(CUmemorytype *)ret = found.kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED
					       ? CU_MEMORYTYPE_HOST
					       : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)ret = found.kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(CUdeviceptr *)ret = address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)ret = found.context->device;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

/* clang-format off */
#define KIND(name_) CUPTI_ACTIVITY_MEMORY_KIND_##name_
#define AT(address_) ((void *)(uintptr_t)(address_))

DRIVER_API(cuMemAlloc_v2, (CUdeviceptr *at, size_t bytes), (at, bytes),
	   allocate((void **)at, bytes, KIND(DEVICE)))
DRIVER_API(cuMemAllocPitch_v2,
	   (CUdeviceptr *at, size_t *pitch, size_t width, size_t height,
	    unsigned int element_bytes),
	   (at, pitch, width, height, element_bytes),
	   allocate_pitch(at, pitch, width, height))
DRIVER_API(cuMemAllocManaged, (CUdeviceptr *at, size_t bytes, unsigned int flags),
	   (at, bytes, flags), allocate((void **)at, bytes, KIND(MANAGED)))
DRIVER_API(cuMemAllocHost_v2, (void **at, size_t bytes), (at, bytes),
	   allocate(at, bytes, KIND(PINNED)))
DRIVER_API(cuMemHostAlloc, (void **at, size_t bytes, unsigned int flags),
	   (at, bytes, flags), allocate(at, bytes, KIND(PINNED)))
DRIVER_API(cuMemHostRegister_v2, (void *at, size_t bytes, unsigned int flags),
	   (at, bytes, flags), memory__register(at, bytes))
DRIVER_API(cuMemHostUnregister, (void *at), (at), memory__unregister(at))
DRIVER_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr *to, void *at, unsigned int flags),
	   (to, at, flags), (*to = (CUdeviceptr)(uintptr_t)at, CUDA_SUCCESS))
DRIVER_API(cuMemFree_v2, (CUdeviceptr at), (at), memory__free(AT(at), false, NULL))
DRIVER_API(cuMemFreeHost, (void *at), (at), memory__free(at, true, NULL))
DRIVER_API(cuMemGetAddressRange_v2, (CUdeviceptr *start, size_t *bytes, CUdeviceptr at),
	   (start, bytes, at), memory__range(start, bytes, at))
DRIVER_API(cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total),
	   memory__info(free, total))
DRIVER_API(cuPointerGetAttribute, (void *value, CUpointer_attribute which, CUdeviceptr at),
	   (value, which, at), memory__attribute(value, which, at))
