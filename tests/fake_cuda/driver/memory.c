// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory, all of it the host's: reserved, zero, and given by the kernel only when it is
 * touched, so that a program may have weights of gigabytes that it never reads. Copies
 * are made at once, in program order, and take their time on the timeline.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"

/* A copy's fixed cost, and PCIe 5.0's 50 GB/s */
#define COPY_LATENCY_NS	   1500
#define COPY_BYTES_PER_NS  50
#define COPY_DURATION(nr_) (COPY_LATENCY_NS + (nr_) / COPY_BYTES_PER_NS)

struct allocation {
	char *start;
	size_t bytes;
	CUmemorytype type;
	bool is_managed;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *allocations; /* of tsearch() */

/* An allocation equals any address within it. */
static int compare(const void *a, const void *b)
{
	const struct allocation *left = a, *right = b;

	if (left->start + left->bytes <= right->start)
		return -1;
	return left->start >= right->start + right->bytes;
}

static CUresult memory__allocate(void **ret, size_t bytes, CUmemorytype type,
				 bool is_managed)
{
	struct allocation *allocation;

	if (!bytes || !ret)
		return CUDA_ERROR_INVALID_VALUE;
	allocation = malloc(sizeof(*allocation));
	if (!allocation)
		return CUDA_ERROR_OUT_OF_MEMORY;
	allocation->start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (allocation->start == MAP_FAILED) {
		free(allocation);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	allocation->bytes = bytes;
	allocation->type = type;
	allocation->is_managed = is_managed;
	*ret = allocation->start;
	pthread_mutex_lock(&mutex);
	tsearch(allocation, &allocations, compare);
	pthread_mutex_unlock(&mutex);
	return CUDA_SUCCESS;
}

static CUresult device_memory(CUdeviceptr *ret, size_t bytes, bool is_managed)
{
	void *start;
	CUresult result =
		memory__allocate(&start, bytes, CU_MEMORYTYPE_DEVICE, is_managed);

	if (!result)
		*ret = (CUdeviceptr)(uintptr_t)start;
	return result;
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

static CUresult memory__free(void *start)
{
	struct allocation key = {.start = start, .bytes = 1}, **found;
	struct allocation *allocation = NULL;

	if (!start)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&mutex);
	found = tfind(&key, &allocations, compare);
	if (found && (*found)->start == start) {
		allocation = *found;
		tdelete(allocation, &allocations, compare);
	}
	pthread_mutex_unlock(&mutex);
	if (!allocation)
		return CUDA_ERROR_INVALID_VALUE;
	munmap(allocation->start, allocation->bytes);
	free(allocation);
	return CUDA_SUCCESS;
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
	CUresult result = context__current(&context);

	if (result)
		return result;
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
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(CUmemorytype *)ret = found.type;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)ret = found.is_managed;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(CUdeviceptr *)ret = address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)ret = 0;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static void fill(const struct copy *copy)
{
	for (size_t i = 0; i < copy->nr; i++)
		memcpy((char *)copy->to + i * copy->element_bytes, &copy->value,
		       copy->element_bytes);
}

void copy__run(const struct copy *copy, struct CUstream_st *stream)
{
	size_t bytes = copy->nr * copy->element_bytes;

	if (copy->from)
		memmove(copy->to, copy->from, bytes);
	else
		fill(copy);
	if (!fork_page__is_forked())
		stream__run(stream, COPY_DURATION(bytes));
}

static CUresult copy(const struct copy *copy, CUstream handle, bool is_per_thread,
		     bool waits)
{
	struct CUstream_st *stream;
	CUresult result = stream__get(handle, is_per_thread, &stream);

	if (result)
		return result;
	if (stream->capture) {
		const struct CUgraphNode_st node = {
			.type = copy->from ? CU_GRAPH_NODE_TYPE_MEMCPY
					   : CU_GRAPH_NODE_TYPE_MEMSET,
			.copy = *copy,
		};

		return graph__add(stream->capture, &node, NULL);
	}
	if (copy->nr)
		copy__run(copy, stream);
	return waits ? stream__synchronize(handle, is_per_thread) : CUDA_SUCCESS;
}

/* clang-format off */
#define AT(address_) ((void *)(uintptr_t)(address_))
#define COPY(to_, from_)							\
	(&(struct copy){.to = AT(to_), .from = AT(from_), .nr = bytes, .element_bytes = 1})
#define FILL(to_, nr_, bytes_)							\
	(&(struct copy){.to = AT(to_), .nr = (nr_), .value = value, .element_bytes = (bytes_)})

DRIVER_API(cuMemAlloc_v2, (CUdeviceptr *at, size_t bytes), (at, bytes),
	   device_memory(at, bytes, false))
DRIVER_API(cuMemAllocManaged, (CUdeviceptr *at, size_t bytes, unsigned int flags),
	   (at, bytes, flags), device_memory(at, bytes, true))
DRIVER_API(cuMemAllocAsync, (CUdeviceptr *at, size_t bytes, CUstream stream),
	   (at, bytes, stream), device_memory(at, bytes, false))
DRIVER_API(cuMemAllocHost_v2, (void **at, size_t bytes), (at, bytes),
	   memory__allocate(at, bytes, CU_MEMORYTYPE_HOST, false))
DRIVER_API(cuMemHostAlloc, (void **at, size_t bytes, unsigned int flags),
	   (at, bytes, flags), memory__allocate(at, bytes, CU_MEMORYTYPE_HOST, false))
DRIVER_API(cuMemFree_v2, (CUdeviceptr at), (at), memory__free(AT(at)))
DRIVER_API(cuMemFreeAsync, (CUdeviceptr at, CUstream stream), (at, stream),
	   memory__free(AT(at)))
DRIVER_API(cuMemFreeHost, (void *at), (at), memory__free(at))
DRIVER_API(cuMemGetAddressRange_v2, (CUdeviceptr *start, size_t *bytes, CUdeviceptr at),
	   (start, bytes, at), memory__range(start, bytes, at))
DRIVER_API(cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total),
	   memory__info(free, total))
DRIVER_API(cuPointerGetAttribute, (void *value, CUpointer_attribute which, CUdeviceptr at),
	   (value, which, at), memory__attribute(value, which, at))

DRIVER_API(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes),
	   copy(COPY(to, from), NULL, false, true))
DRIVER_API(cuMemcpyAsync,
	   (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	   (to, from, bytes, stream), copy(COPY(to, from), stream, false, false))
DRIVER_API(cuMemcpyAsync_ptsz,
	   (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	   (to, from, bytes, stream), copy(COPY(to, from), stream, true, false))
DRIVER_API(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes),
	   (to, from, bytes), copy(COPY(to, from), NULL, false, true))
DRIVER_API(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes),
	   copy(COPY(to, from), NULL, false, true))
DRIVER_API(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
	   (to, from, bytes), copy(COPY(to, from), NULL, false, false))
DRIVER_API(cuMemcpyHtoDAsync_v2,
	   (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
	   (to, from, bytes, stream), copy(COPY(to, from), stream, false, false))
DRIVER_API(cuMemcpyDtoHAsync_v2,
	   (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
	   (to, from, bytes, stream), copy(COPY(to, from), stream, false, false))
DRIVER_API(cuMemcpyDtoDAsync_v2,
	   (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	   (to, from, bytes, stream), copy(COPY(to, from), stream, false, false))
DRIVER_API(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t nr),
	   (to, value, nr), copy(FILL(to, nr, 1), NULL, false, false))
DRIVER_API(cuMemsetD32_v2, (CUdeviceptr to, unsigned int value, size_t nr),
	   (to, value, nr), copy(FILL(to, nr, 4), NULL, false, false))
DRIVER_API(cuMemsetD8Async,
	   (CUdeviceptr to, unsigned char value, size_t nr, CUstream stream),
	   (to, value, nr, stream), copy(FILL(to, nr, 1), stream, false, false))
DRIVER_API(cuMemsetD8Async_ptsz,
	   (CUdeviceptr to, unsigned char value, size_t nr, CUstream stream),
	   (to, value, nr, stream), copy(FILL(to, nr, 1), stream, true, false))
DRIVER_API(cuMemsetD32Async,
	   (CUdeviceptr to, unsigned int value, size_t nr, CUstream stream),
	   (to, value, nr, stream), copy(FILL(to, nr, 4), stream, false, false))
