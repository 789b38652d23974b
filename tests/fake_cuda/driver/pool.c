// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pools, and what is allocated and freed in a stream's order. A pool holds no memory of
 * its own here; what it says of itself is as if it kept what was ever in use at once.
 */
#include <stdlib.h>

#include "driver.h"

struct CUmemPoolHandle_st {
	int device;
	atomic_uint_fast64_t threshold, used_bytes, reserved_bytes;
};

static struct CUmemPoolHandle_st default_pools[FAKE_MAX_DEVICES];
static _Atomic(struct CUmemPoolHandle_st *) current_pools[FAKE_MAX_DEVICES];

static struct CUmemPoolHandle_st *pool__of_device(int device)
{
	struct CUmemPoolHandle_st *pool = atomic_load(&current_pools[device]);

	return pool ? pool : &default_pools[device];
}

void pool__use(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
	uint64_t used = atomic_fetch_add(&pool->used_bytes, bytes) + bytes;
	uint64_t reserved = atomic_load(&pool->reserved_bytes);

	while (reserved < used &&
	       !atomic_compare_exchange_weak(&pool->reserved_bytes, &reserved, used))
		;
}

void pool__describe(struct CUmemPoolHandle_st *pool, struct fake_memory *ret)
{
	ret->has_pool = true;
	ret->pool_address = (uintptr_t)pool;
	ret->pool_threshold = atomic_load(&pool->threshold);
	ret->pool_bytes = atomic_load(&pool->reserved_bytes);
	ret->pool_used_bytes = atomic_load(&pool->used_bytes);
}

static CUresult pool__create(CUmemoryPool *ret, const CUmemPoolProps *props)
{
	struct CUmemPoolHandle_st *pool;

	if (!ret || !props || !device__is_valid(props->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->device = props->location.id;
	*ret = pool;
	return CUDA_SUCCESS;
}

static CUresult pool__destroy(CUmemoryPool pool)
{
	if (!pool || pool == &default_pools[pool->device])
		return CUDA_ERROR_INVALID_VALUE;
	if (pool__of_device(pool->device) == pool)
		atomic_store(&current_pools[pool->device], NULL);
	/* What was allocated from it may still be there: it stays. */
	return CUDA_SUCCESS;
}

static CUresult pool__get(CUmemoryPool *ret, CUdevice device, bool is_default)
{
	if (!device__is_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	default_pools[device].device = device;
	*ret = is_default ? &default_pools[device] : pool__of_device(device);
	return CUDA_SUCCESS;
}

static CUresult pool__set(CUdevice device, CUmemoryPool pool)
{
	if (!device__is_valid(device) || !pool || pool->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	atomic_store(&current_pools[device], pool);
	return CUDA_SUCCESS;
}

static CUresult pool__trim(CUmemoryPool pool, size_t least_bytes)
{
	uint64_t used = atomic_load(&pool->used_bytes);

	atomic_store(&pool->reserved_bytes, used > least_bytes ? used : least_bytes);
	return CUDA_SUCCESS;
}

static CUresult pool__attribute(CUmemoryPool pool, CUmemPool_attribute which, void *value,
				bool sets)
{
	uint64_t *number = value;

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (which) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		if (sets)
			atomic_store(&pool->threshold, *number);
		else
			*number = atomic_load(&pool->threshold);
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		if (!sets)
			*number = atomic_load(&pool->reserved_bytes);
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		if (!sets)
			*number = atomic_load(&pool->used_bytes);
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		if (!sets)
			*(int *)value = 1;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static CUresult allocate(CUdeviceptr *ret, size_t bytes, struct CUmemPoolHandle_st *pool,
			 CUstream handle, bool is_per_thread)
{
	struct allocation allocation = {
		.bytes = bytes, .kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, .pool = pool};
	struct CUstream_st *stream;

	TRY(stream__get(handle, is_per_thread, &stream));
	/* Nodes that allocate are not there. */
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (!pool)
		allocation.pool = pool__of_device(stream->context->device);
	TRY(memory__allocate(&allocation, stream));
	*ret = (CUdeviceptr)(uintptr_t)allocation.start;
	return CUDA_SUCCESS;
}

/* At once: nothing is lost by it, since copies are made at once, too. */
static CUresult release(CUdeviceptr at, CUstream handle, bool is_per_thread)
{
	struct CUstream_st *stream;

	TRY(stream__get(handle, is_per_thread, &stream));
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return memory__free((void *)(uintptr_t)at, false, stream);
}

/* clang-format off */
DRIVER_API(cuMemAllocAsync, (CUdeviceptr *at, size_t bytes, CUstream stream),
	   (at, bytes, stream), allocate(at, bytes, NULL, stream, false))
DRIVER_API(cuMemAllocAsync_ptsz, (CUdeviceptr *at, size_t bytes, CUstream stream),
	   (at, bytes, stream), allocate(at, bytes, NULL, stream, true))
DRIVER_API(cuMemAllocFromPoolAsync,
	   (CUdeviceptr *at, size_t bytes, CUmemoryPool pool, CUstream stream),
	   (at, bytes, pool, stream), allocate(at, bytes, pool, stream, false))
DRIVER_API(cuMemAllocFromPoolAsync_ptsz,
	   (CUdeviceptr *at, size_t bytes, CUmemoryPool pool, CUstream stream),
	   (at, bytes, pool, stream), allocate(at, bytes, pool, stream, true))
DRIVER_API(cuMemFreeAsync, (CUdeviceptr at, CUstream stream), (at, stream),
	   release(at, stream, false))
DRIVER_API(cuMemFreeAsync_ptsz, (CUdeviceptr at, CUstream stream), (at, stream),
	   release(at, stream, true))
DRIVER_API(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *props),
	   (pool, props), pool__create(pool, props))
DRIVER_API(cuMemPoolDestroy, (CUmemoryPool pool), (pool), pool__destroy(pool))
DRIVER_API(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), (pool, bytes),
	   pool__trim(pool, bytes))
DRIVER_API(cuMemPoolGetAttribute,
	   (CUmemoryPool pool, CUmemPool_attribute which, void *value),
	   (pool, which, value), pool__attribute(pool, which, value, false))
DRIVER_API(cuMemPoolSetAttribute,
	   (CUmemoryPool pool, CUmemPool_attribute which, void *value),
	   (pool, which, value), pool__attribute(pool, which, value, true))
DRIVER_API(cuMemPoolSetAccess,
	   (CUmemoryPool pool, const CUmemAccessDesc *map, size_t nr), (pool, map, nr),
	   pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
DRIVER_API(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice dev), (pool, dev),
	   pool__get(pool, dev, true))
DRIVER_API(cuDeviceGetMemPool, (CUmemoryPool *pool, CUdevice dev), (pool, dev),
	   pool__get(pool, dev, false))
DRIVER_API(cuDeviceSetMemPool, (CUdevice dev, CUmemoryPool pool), (dev, pool),
	   pool__set(dev, pool))
