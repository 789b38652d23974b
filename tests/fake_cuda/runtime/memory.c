// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that is allocated: the driver's, under the runtime's names. */
#include "runtime.h"

static cudaError_t allocate(void **ret, size_t bytes, bool is_managed)
{
	CUdeviceptr address = 0;
	CUresult result = CUDA_SUCCESS;

	/* Unlike the driver, nothing may be asked for. */
	if (bytes)
		result = is_managed ? driver.cuMemAllocManaged(&address, bytes,
							       CU_MEM_ATTACH_GLOBAL)
				    : driver.cuMemAlloc_v2(&address, bytes);
	if (!result)
		*ret = (void *)(uintptr_t)address;
	return runtime__error(result);
}

static cudaError_t allocate_pitched(struct cudaPitchedPtr *ret, struct cudaExtent extent)
{
	CUdeviceptr address;
	size_t pitch;
	cudaError_t error = CALL(cuMemAllocPitch_v2, &address, &pitch, extent.width,
				 extent.height * extent.depth, 4);

	if (!error)
		*ret = (struct cudaPitchedPtr){
			.ptr = (void *)(uintptr_t)address,
			.pitch = pitch,
			.xsize = extent.width,
			.ysize = extent.height,
		};
	return error;
}

static CUarray_format format_of(const struct cudaChannelFormatDesc *desc)
{
	if (desc->x <= 8)
		return CU_AD_FORMAT_UNSIGNED_INT8;
	if (desc->x <= 16)
		return desc->f == cudaChannelFormatKindFloat
			       ? CU_AD_FORMAT_HALF
			       : CU_AD_FORMAT_UNSIGNED_INT16;
	return desc->f == cudaChannelFormatKindFloat ? CU_AD_FORMAT_FLOAT
						     : CU_AD_FORMAT_UNSIGNED_INT32;
}

static cudaError_t allocate_array(cudaArray_t *ret,
				  const struct cudaChannelFormatDesc *desc, size_t width,
				  size_t height, size_t depth)
{
	const CUDA_ARRAY3D_DESCRIPTOR to = {
		.Width = width,
		.Height = height,
		.Depth = depth,
		.Format = format_of(desc),
		.NumChannels = 1u + (desc->y > 0) + (desc->z > 0) + (desc->w > 0),
	};

	return CALL(cuArray3DCreate_v2, (CUarray *)ret, &to);
}

static cudaError_t attributes_of(struct cudaPointerAttributes *ret, const void *address)
{
	struct cudaPointerAttributes attributes = {.type = cudaMemoryTypeUnregistered,
						   .hostPointer = (void *)address};
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)address;
	unsigned int is_managed = 0;
	CUmemorytype type;

	if (!driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at)) {
		driver.cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
					     at);
		driver.cuPointerGetAttribute(&attributes.device,
					     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
		attributes.devicePointer = (void *)address;
		attributes.type = is_managed			 ? cudaMemoryTypeManaged
				  : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
								 : cudaMemoryTypeHost;
	}
	*ret = attributes;
	return cudaSuccess;
}

static CUmemLocation to_driver(struct cudaMemLocation location)
{
	return (CUmemLocation){.type = (CUmemLocationType)location.type,
			       .id = location.id};
}

static cudaError_t create_pool(cudaMemPool_t *ret, const struct cudaMemPoolProps *props)
{
	const CUmemPoolProps to = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = to_driver(props->location),
		.maxSize = props->maxSize,
	};

	return CALL(cuMemPoolCreate, ret, &to);
}

/* clang-format off */
#define AT(address_) ((CUdeviceptr)(uintptr_t)(address_))

RUNTIME_API(cudaMalloc, v3020, (void **at, size_t bytes), (at, bytes),
	    allocate(at, bytes, false))
RUNTIME_API(cudaMallocManaged, v6000, (void **at, size_t bytes, unsigned int flags),
	    (at, bytes, flags), allocate(at, bytes, true))
RUNTIME_API(cudaMallocPitch, v3020,
	    (void **at, size_t *pitch, size_t width, size_t height),
	    (at, pitch, width, height),
	    CALL(cuMemAllocPitch_v2, (CUdeviceptr *)at, pitch, width, height, 4))
RUNTIME_API(cudaMalloc3D, v3020, (struct cudaPitchedPtr *at, struct cudaExtent extent),
	    (at, extent), allocate_pitched(at, extent))
RUNTIME_API(cudaMallocArray, v3020,
	    (cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
	     size_t height, unsigned int flags),
	    (array, desc, width, height, flags),
	    allocate_array(array, desc, width, height, 0))
RUNTIME_API(cudaMalloc3DArray, v3020,
	    (cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
	     struct cudaExtent extent, unsigned int flags),
	    (array, desc, extent, flags),
	    allocate_array(array, desc, extent.width, extent.height, extent.depth))
RUNTIME_API(cudaFreeArray, v3020, (cudaArray_t array), (array),
	    CALL(cuArrayDestroy, (CUarray)array))
RUNTIME_API(cudaMallocHost, v3020, (void **at, size_t bytes), (at, bytes),
	    CALL(cuMemAllocHost_v2, at, bytes))
RUNTIME_API(cudaHostAlloc, v3020, (void **at, size_t bytes, unsigned int flags),
	    (at, bytes, flags), CALL(cuMemHostAlloc, at, bytes, flags))
RUNTIME_API(cudaHostRegister, v4000, (void *at, size_t bytes, unsigned int flags),
	    (at, bytes, flags), CALL(cuMemHostRegister_v2, at, bytes, flags))
RUNTIME_API(cudaHostUnregister, v4000, (void *at), (at), CALL(cuMemHostUnregister, at))
RUNTIME_API(cudaHostGetDevicePointer, v3020, (void **to, void *at, unsigned int flags),
	    (to, at, flags),
	    CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr *)to, at, flags))
RUNTIME_API(cudaMallocAsync, v11020, (void **at, size_t bytes, cudaStream_t stream),
	    (at, bytes, stream), CALL(cuMemAllocAsync, (CUdeviceptr *)at, bytes, stream))
RUNTIME_API(cudaMallocAsync_ptsz, v11020, (void **at, size_t bytes, cudaStream_t stream),
	    (at, bytes, stream),
	    CALL(cuMemAllocAsync, (CUdeviceptr *)at, bytes, stream_or_own(stream, true)))
RUNTIME_API(cudaMallocFromPoolAsync, v11020,
	    (void **at, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	    (at, bytes, pool, stream),
	    CALL(cuMemAllocFromPoolAsync, (CUdeviceptr *)at, bytes, pool, stream))
RUNTIME_API(cudaMallocFromPoolAsync_ptsz, v11020,
	    (void **at, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	    (at, bytes, pool, stream),
	    CALL(cuMemAllocFromPoolAsync, (CUdeviceptr *)at, bytes, pool,
		 stream_or_own(stream, true)))
RUNTIME_API(cudaFree, v3020, (void *at), (at), CALL(cuMemFree_v2, AT(at)))
RUNTIME_API(cudaFreeHost, v3020, (void *at), (at), CALL(cuMemFreeHost, at))
RUNTIME_API(cudaFreeAsync, v11020, (void *at, cudaStream_t stream), (at, stream),
	    CALL(cuMemFreeAsync, AT(at), stream))
RUNTIME_API(cudaFreeAsync_ptsz, v11020, (void *at, cudaStream_t stream), (at, stream),
	    CALL(cuMemFreeAsync, AT(at), stream_or_own(stream, true)))
RUNTIME_API(cudaMemGetInfo, v3020, (size_t *free, size_t *total), (free, total),
	    CALL(cuMemGetInfo_v2, free, total))
RUNTIME_API(cudaPointerGetAttributes, v4000,
	    (struct cudaPointerAttributes *attributes, const void *at), (attributes, at),
	    attributes_of(attributes, at))

RUNTIME_API(cudaMemPoolCreate, v11020,
	    (cudaMemPool_t *pool, const struct cudaMemPoolProps *props), (pool, props),
	    create_pool(pool, props))
RUNTIME_API(cudaMemPoolDestroy, v11020, (cudaMemPool_t pool), (pool),
	    CALL(cuMemPoolDestroy, pool))
RUNTIME_API(cudaMemPoolTrimTo, v11020, (cudaMemPool_t pool, size_t bytes), (pool, bytes),
	    CALL(cuMemPoolTrimTo, pool, bytes))
RUNTIME_API(cudaMemPoolGetAttribute, v11020,
	    (cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value),
	    (pool, which, value),
	    CALL(cuMemPoolGetAttribute, pool, (CUmemPool_attribute)which, value))
RUNTIME_API(cudaMemPoolSetAttribute, v11020,
	    (cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value),
	    (pool, which, value),
	    CALL(cuMemPoolSetAttribute, pool, (CUmemPool_attribute)which, value))
RUNTIME_API(cudaDeviceGetDefaultMemPool, v11020, (cudaMemPool_t *pool, int device),
	    (pool, device), CALL(cuDeviceGetDefaultMemPool, pool, device))
RUNTIME_API(cudaDeviceGetMemPool, v11020, (cudaMemPool_t *pool, int device),
	    (pool, device), CALL(cuDeviceGetMemPool, pool, device))
RUNTIME_API(cudaDeviceSetMemPool, v11020, (int device, cudaMemPool_t pool),
	    (device, pool), CALL(cuDeviceSetMemPool, device, pool))

RUNTIME_API(cudaMemPrefetchAsync, v12020,
	    (const void *at, size_t bytes, struct cudaMemLocation location,
	     unsigned int flags, cudaStream_t stream),
	    (at, bytes, location, flags, stream),
	    CALL(cuMemPrefetchAsync_v2, AT(at), bytes, to_driver(location), flags, stream))
RUNTIME_API(cudaMemPrefetchAsync_ptsz, v12020,
	    (const void *at, size_t bytes, struct cudaMemLocation location,
	     unsigned int flags, cudaStream_t stream),
	    (at, bytes, location, flags, stream),
	    CALL(cuMemPrefetchAsync_v2, AT(at), bytes, to_driver(location), flags,
		 stream_or_own(stream, true)))
RUNTIME_API(cudaMemAdvise, v12020,
	    (const void *at, size_t bytes, enum cudaMemoryAdvise advice,
	     struct cudaMemLocation location),
	    (at, bytes, advice, location),
	    CALL(cuMemAdvise_v2, AT(at), bytes, (CUmem_advise)advice, to_driver(location)))
