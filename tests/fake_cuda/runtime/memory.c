// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory and copies: the driver's, under the runtime's names. */
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
		attributes.devicePointer = (void *)address;
		attributes.type = is_managed			 ? cudaMemoryTypeManaged
				  : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
								 : cudaMemoryTypeHost;
	}
	*ret = attributes;
	return cudaSuccess;
}

static cudaError_t copy_symbol(const void *symbol, const void *from, void *to,
			       size_t bytes, size_t offset)
{
	size_t symbol_bytes;
	void *memory;
	cudaError_t error = variable__find(symbol, &memory, &symbol_bytes);

	if (error)
		return error;
	if (offset > symbol_bytes || bytes > symbol_bytes - offset)
		return cudaErrorInvalidValue;
	memory = (char *)memory + offset;
	return CALL(cuMemcpy, (CUdeviceptr)(uintptr_t)(to ? to : memory),
		    (CUdeviceptr)(uintptr_t)(from ? from : memory), bytes);
}

static cudaError_t symbol_address(void **ret, const void *symbol)
{
	size_t bytes;

	return variable__find(symbol, ret, &bytes);
}

static cudaError_t symbol_size(size_t *ret, const void *symbol)
{
	void *address;

	return variable__find(symbol, &address, ret);
}

/* clang-format off */
#define AT(address_) ((CUdeviceptr)(uintptr_t)(address_))

RUNTIME_API(cudaMalloc, v3020, (void **at, size_t bytes), (at, bytes),
	    allocate(at, bytes, false))
RUNTIME_API(cudaMallocManaged, v6000, (void **at, size_t bytes, unsigned int flags),
	    (at, bytes, flags), allocate(at, bytes, true))
RUNTIME_API(cudaMallocHost, v3020, (void **at, size_t bytes), (at, bytes),
	    CALL(cuMemAllocHost_v2, at, bytes))
RUNTIME_API(cudaHostAlloc, v3020, (void **at, size_t bytes, unsigned int flags),
	    (at, bytes, flags), CALL(cuMemAllocHost_v2, at, bytes))
RUNTIME_API(cudaMallocAsync, v11020, (void **at, size_t bytes, cudaStream_t stream),
	    (at, bytes, stream), CALL(cuMemAllocAsync, (CUdeviceptr *)at, bytes, stream))
RUNTIME_API(cudaFree, v3020, (void *at), (at), CALL(cuMemFree_v2, AT(at)))
RUNTIME_API(cudaFreeHost, v3020, (void *at), (at), CALL(cuMemFreeHost, at))
RUNTIME_API(cudaFreeAsync, v11020, (void *at, cudaStream_t stream), (at, stream),
	    CALL(cuMemFreeAsync, AT(at), stream))
RUNTIME_API(cudaMemGetInfo, v3020, (size_t *free, size_t *total), (free, total),
	    CALL(cuMemGetInfo_v2, free, total))
RUNTIME_API(cudaPointerGetAttributes, v4000,
	    (struct cudaPointerAttributes *attributes, const void *at), (attributes, at),
	    attributes_of(attributes, at))

RUNTIME_API(cudaMemcpy, v3020,
	    (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
	    (to, from, bytes, kind), CALL(cuMemcpy, AT(to), AT(from), bytes))
RUNTIME_API(cudaMemcpyAsync, v3020,
	    (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
	     cudaStream_t stream),
	    (to, from, bytes, kind, stream),
	    CALL(cuMemcpyAsync, AT(to), AT(from), bytes, stream))
RUNTIME_API(cudaMemcpyAsync_ptsz, v7000,
	    (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
	     cudaStream_t stream),
	    (to, from, bytes, kind, stream),
	    CALL(cuMemcpyAsync, AT(to), AT(from), bytes, stream_or_own(stream, true)))
RUNTIME_API(cudaMemset, v3020, (void *to, int value, size_t bytes), (to, value, bytes),
	    CALL(cuMemsetD8_v2, AT(to), (unsigned char)value, bytes))
RUNTIME_API(cudaMemsetAsync, v3020,
	    (void *to, int value, size_t bytes, cudaStream_t stream),
	    (to, value, bytes, stream),
	    CALL(cuMemsetD8Async, AT(to), (unsigned char)value, bytes, stream))
RUNTIME_API(cudaMemsetAsync_ptsz, v7000,
	    (void *to, int value, size_t bytes, cudaStream_t stream),
	    (to, value, bytes, stream),
	    CALL(cuMemsetD8Async, AT(to), (unsigned char)value, bytes,
		 stream_or_own(stream, true)))
RUNTIME_API(cudaMemcpyToSymbol, v3020,
	    (const void *symbol, const void *from, size_t bytes, size_t offset,
	     enum cudaMemcpyKind kind),
	    (symbol, from, bytes, offset, kind),
	    copy_symbol(symbol, from, NULL, bytes, offset))
RUNTIME_API(cudaMemcpyFromSymbol, v3020,
	    (void *to, const void *symbol, size_t bytes, size_t offset,
	     enum cudaMemcpyKind kind),
	    (to, symbol, bytes, offset, kind),
	    copy_symbol(symbol, NULL, to, bytes, offset))
RUNTIME_API(cudaGetSymbolAddress, v3020, (void **at, const void *symbol), (at, symbol),
	    symbol_address(at, symbol))
RUNTIME_API(cudaGetSymbolSize, v3020, (size_t *bytes, const void *symbol),
	    (bytes, symbol), symbol_size(bytes, symbol))
