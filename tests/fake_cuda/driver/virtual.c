// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Virtual memory: addresses are reserved, memory is created, mapped there, and made
 * accessible. As an H200's CUPTI 13.0 does for NCCL, its record is of cuMemSetAccess(),
 * that of its end of cuMemUnmap(), and neither has a context.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "driver.h"

#define GRANULARITY (2ul << 20)

/* What a CUmemGenericAllocationHandle is */
struct created {
	size_t bytes;
	int device;
};

static CUresult granularity(size_t *ret)
{
	if (!ret)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = GRANULARITY;
	return CUDA_SUCCESS;
}

static CUresult reserve(CUdeviceptr *ret, size_t bytes)
{
	void *start;

	if (!ret || !bytes || bytes % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	start = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);
	if (start == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret = (CUdeviceptr)(uintptr_t)start;
	return CUDA_SUCCESS;
}

static CUresult unreserve(void *start, size_t bytes)
{
	return munmap(start, bytes) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *ret, size_t bytes,
		       const CUmemAllocationProp *properties)
{
	struct created *created;

	if (!ret || !properties || !bytes || bytes % GRANULARITY ||
	    properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	created = malloc(sizeof(*created));
	if (!created)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*created = (struct created){.bytes = bytes, .device = properties->location.id};
	*ret = (uintptr_t)created;
	return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
	free((struct created *)(uintptr_t)handle);
	return CUDA_SUCCESS;
}

static CUresult map(void *start, size_t bytes, size_t offset,
		    CUmemGenericAllocationHandle handle)
{
	const struct created *created = (const struct created *)(uintptr_t)handle;

	if (!created || offset || bytes != created->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return memory__map(start, bytes, created->device);
}

static CUresult allow(void *start, size_t bytes, const CUmemAccessDesc *access,
		      size_t nr_accesses)
{
	if (!access || !nr_accesses)
		return CUDA_ERROR_INVALID_VALUE;
	if (mprotect(start, bytes, PROT_READ | PROT_WRITE))
		return CUDA_ERROR_INVALID_VALUE;
	return memory__tell_mapped(start, bytes);
}

static CUresult unmap(void *start, size_t bytes)
{
	TRY(memory__unmap(start));
	/* Its pages go, too. */
	return mmap(start, bytes, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		    0) == MAP_FAILED
		       ? CUDA_ERROR_OUT_OF_MEMORY
		       : CUDA_SUCCESS;
}

/* clang-format off */
#define AT(address_) ((void *)(uintptr_t)(address_))

DRIVER_API(cuMemGetAllocationGranularity,
	   (size_t *bytes, const CUmemAllocationProp *properties,
	    CUmemAllocationGranularity_flags option),
	   (bytes, properties, option), granularity(bytes))
DRIVER_API(cuMemAddressReserve,
	   (CUdeviceptr *at, size_t bytes, size_t alignment, CUdeviceptr wish,
	    unsigned long long flags),
	   (at, bytes, alignment, wish, flags), reserve(at, bytes))
DRIVER_API(cuMemAddressFree, (CUdeviceptr at, size_t bytes), (at, bytes),
	   unreserve(AT(at), bytes))
DRIVER_API(cuMemCreate,
	   (CUmemGenericAllocationHandle *handle, size_t bytes,
	    const CUmemAllocationProp *properties, unsigned long long flags),
	   (handle, bytes, properties, flags), create(handle, bytes, properties))
DRIVER_API(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle), release(handle))
DRIVER_API(cuMemMap,
	   (CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
	    unsigned long long flags),
	   (at, bytes, offset, handle, flags), map(AT(at), bytes, offset, handle))
DRIVER_API(cuMemSetAccess,
	   (CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access, size_t nr_accesses),
	   (at, bytes, access, nr_accesses), allow(AT(at), bytes, access, nr_accesses))
DRIVER_API(cuMemUnmap, (CUdeviceptr at, size_t bytes), (at, bytes), unmap(AT(at), bytes))
