// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions that copy and set memory, in all their forms. */
#include "driver.h"

#define AS_HOST(address_) ((void *)(uintptr_t)(address_))

static CUresult copy_1d(CUdeviceptr to, CUdeviceptr from, size_t bytes,
			CUpti_ActivityMemcpyKind said, CUstream stream,
			bool is_per_thread, bool is_async)
{
	struct copy copy = {
		.from = side__at((void *)(uintptr_t)from, bytes, 1),
		.to = side__at((void *)(uintptr_t)to, bytes, 1),
		.width_bytes = bytes,
		.height = 1,
		.depth = 1,
		.is_async = is_async,
	};

	copy__set_direction(&copy, said);
	return bytes ? copy__put(&copy, stream, is_per_thread) : CUDA_SUCCESS;
}

static bool copy__is_alike(const struct copy *a, const struct copy *b)
{
	return a->direction == b->direction && a->from.kind == b->from.kind &&
	       a->to.kind == b->to.kind && a->from.context == b->from.context &&
	       a->to.context == b->to.context;
}

struct batch {
	CUdeviceptr *to, *from;
	size_t *bytes;
	size_t nr;
};

/* Those alike that follow each other are made together, and have one record. */
static CUresult copy_batch(struct batch batch, CUstream handle, bool is_per_thread)
{
	struct copy copy, last;
	struct CUstream_st *stream;
	uint64_t nr = 0, bytes = 0;

	TRY(stream__get(handle, is_per_thread, &stream));
	if (!batch.to || !batch.from || !batch.bytes || !batch.nr)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	for (size_t i = 0; i < batch.nr; i++) {
		copy = (struct copy){
			.from = side__at(AS_HOST(batch.from[i]), batch.bytes[i], 1),
			.to = side__at(AS_HOST(batch.to[i]), batch.bytes[i], 1),
			.width_bytes = batch.bytes[i],
			.height = 1,
			.depth = 1,
			.is_async = true,
		};
		copy__set_direction(&copy, CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN);
		copy__make(&copy);
		if (nr && !copy__is_alike(&copy, &last)) {
			copies__run(&last, nr, bytes, stream, 0);
			nr = bytes = 0;
		}
		last = copy;
		nr++;
		bytes += batch.bytes[i];
	}
	copies__run(&last, nr, bytes, stream, 0);
	return CUDA_SUCCESS;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *params, CUstream stream, bool is_per_thread,
			bool is_async)
{
	struct copy copy;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	copy__from_3d(params, &copy);
	copy.is_async = is_async;
	return copy__put(&copy, stream, is_per_thread);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *params, CUstream stream, bool is_per_thread,
			bool is_async)
{
	CUDA_MEMCPY3D to;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	to = (CUDA_MEMCPY3D){
		.srcXInBytes = params->srcXInBytes,
		.srcY = params->srcY,
		.srcMemoryType = params->srcMemoryType,
		.srcHost = params->srcHost,
		.srcDevice = params->srcDevice,
		.srcArray = params->srcArray,
		.srcPitch = params->srcPitch,
		.dstXInBytes = params->dstXInBytes,
		.dstY = params->dstY,
		.dstMemoryType = params->dstMemoryType,
		.dstHost = params->dstHost,
		.dstDevice = params->dstDevice,
		.dstArray = params->dstArray,
		.dstPitch = params->dstPitch,
		.WidthInBytes = params->WidthInBytes,
		.Height = params->Height,
		.Depth = 1,
	};
	return copy_3d(&to, stream, is_per_thread, is_async);
}

static CUresult copy_peer_3d(const CUDA_MEMCPY3D_PEER *params, CUstream stream,
			     bool is_per_thread, bool is_async)
{
	CUDA_MEMCPY3D to;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	to = (CUDA_MEMCPY3D){
		.srcXInBytes = params->srcXInBytes,
		.srcY = params->srcY,
		.srcZ = params->srcZ,
		.srcMemoryType = params->srcMemoryType,
		.srcHost = params->srcHost,
		.srcDevice = params->srcDevice,
		.srcArray = params->srcArray,
		.srcPitch = params->srcPitch,
		.srcHeight = params->srcHeight,
		.dstXInBytes = params->dstXInBytes,
		.dstY = params->dstY,
		.dstZ = params->dstZ,
		.dstMemoryType = params->dstMemoryType,
		.dstHost = params->dstHost,
		.dstDevice = params->dstDevice,
		.dstArray = params->dstArray,
		.dstPitch = params->dstPitch,
		.dstHeight = params->dstHeight,
		.WidthInBytes = params->WidthInBytes,
		.Height = params->Height,
		.Depth = params->Depth,
	};
	return copy_3d(&to, stream, is_per_thread, is_async);
}

/* From or to an array, along its first rows */
static CUresult copy_array(CUarray to_array, void *to, size_t to_offset,
			   CUarray from_array, const void *from, size_t from_offset,
			   size_t bytes, CUstream stream, bool is_per_thread,
			   bool is_async)
{
	const CUDA_MEMCPY3D params = {
		.srcXInBytes = from_offset,
		.srcMemoryType = from_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.srcDevice = (CUdeviceptr)(uintptr_t)from,
		.srcArray = from_array,
		.dstXInBytes = to_offset,
		.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.dstDevice = (CUdeviceptr)(uintptr_t)to,
		.dstArray = to_array,
		.WidthInBytes = bytes,
		.Height = 1,
		.Depth = 1,
	};

	return copy_3d(&params, stream, is_per_thread, is_async);
}

static CUresult set(CUdeviceptr to, size_t pitch, unsigned int value,
		    unsigned int element_bytes, size_t width, size_t height,
		    CUstream stream, bool is_per_thread, bool is_async)
{
	const CUDA_MEMSET_NODE_PARAMS params = {
		.dst = to,
		.pitch = pitch,
		.value = value,
		.elementSize = element_bytes,
		.width = width,
		.height = height,
	};
	struct copy copy;

	copy__from_memset(&params, &copy);
	copy.is_async = is_async;
	return copy__put(&copy, stream, is_per_thread);
}

/* clang-format off */
#define DIRECTION(name_) CUPTI_ACTIVITY_MEMCPY_KIND_##name_
#define AT(address_) ((CUdeviceptr)(uintptr_t)(address_))

/* A function that waits, with the default stream as it was and as each thread's own */
#define SYNC(name_, types_, args_, function_, ...)				\
	DRIVER_API(name_, types_, args_, function_(__VA_ARGS__, NULL, false, false))	\
	DRIVER_API(name_##_ptds, types_, args_, function_(__VA_ARGS__, NULL, true, false))
/* One that doesn't, likewise */
#define ASYNC(name_, types_, args_, function_, ...)				\
	DRIVER_API(name_, types_, args_, function_(__VA_ARGS__, stream, false, true))	\
	DRIVER_API(name_##_ptsz, types_, args_, function_(__VA_ARGS__, stream, true, true))

SYNC(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes),
     copy_1d, to, from, bytes, DIRECTION(UNKNOWN))
SYNC(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes),
     copy_1d, to, AT(from), bytes, DIRECTION(HTOD))
SYNC(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes),
     copy_1d, AT(to), from, bytes, DIRECTION(DTOH))
SYNC(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes),
     copy_1d, to, from, bytes, DIRECTION(DTOD))
SYNC(cuMemcpyPeer,
     (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
      size_t bytes),
     (to, to_context, from, from_context, bytes),
     copy_1d, to, from, bytes, DIRECTION(DTOD))
SYNC(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
     (to, offset, from, bytes),
     copy_array, to, NULL, offset, NULL, AS_HOST(from), 0, bytes)
SYNC(cuMemcpyHtoA_v2, (CUarray to, size_t offset, const void *from, size_t bytes),
     (to, offset, from, bytes), copy_array, to, NULL, offset, NULL, from, 0, bytes)
SYNC(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
     (to, from, offset, bytes),
     copy_array, NULL, AS_HOST(to), 0, from, NULL, offset, bytes)
SYNC(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t offset, size_t bytes),
     (to, from, offset, bytes), copy_array, NULL, to, 0, from, NULL, offset, bytes)
SYNC(cuMemcpyAtoA_v2,
     (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes),
     (to, to_offset, from, from_offset, bytes),
     copy_array, to, NULL, to_offset, from, NULL, from_offset, bytes)
SYNC(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *params), (params), copy_2d, params)
SYNC(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *params), (params), copy_2d, params)
SYNC(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *params), (params), copy_3d, params)
SYNC(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *params), (params), copy_peer_3d, params)

ASYNC(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), copy_1d, to, from, bytes, DIRECTION(UNKNOWN))
ASYNC(cuMemcpyHtoDAsync_v2,
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), copy_1d, to, AT(from), bytes, DIRECTION(HTOD))
ASYNC(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), copy_1d, AT(to), from, bytes, DIRECTION(DTOH))
ASYNC(cuMemcpyDtoDAsync_v2,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), copy_1d, to, from, bytes, DIRECTION(DTOD))
ASYNC(cuMemcpyPeerAsync,
      (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
       size_t bytes, CUstream stream),
      (to, to_context, from, from_context, bytes, stream),
      copy_1d, to, from, bytes, DIRECTION(DTOD))
ASYNC(cuMemcpyHtoAAsync_v2,
      (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream),
      (to, offset, from, bytes, stream),
      copy_array, to, NULL, offset, NULL, from, 0, bytes)
ASYNC(cuMemcpyAtoHAsync_v2,
      (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream),
      (to, from, offset, bytes, stream),
      copy_array, NULL, to, 0, from, NULL, offset, bytes)
ASYNC(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *params, CUstream stream),
      (params, stream), copy_2d, params)
ASYNC(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *params, CUstream stream),
      (params, stream), copy_3d, params)
ASYNC(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *params, CUstream stream),
      (params, stream), copy_peer_3d, params)

#define TYPES_BATCH								\
	CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t nr,		\
	CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes,	\
	CUstream stream
#define ARGS_BATCH to, from, bytes, nr, attributes, indices, nr_attributes, stream
DRIVER_API(cuMemcpyBatchAsync_v2, (TYPES_BATCH), (ARGS_BATCH),
	   copy_batch((struct batch){to, from, bytes, nr}, stream, false))
DRIVER_API(cuMemcpyBatchAsync_v2_ptsz, (TYPES_BATCH), (ARGS_BATCH),
	   copy_batch((struct batch){to, from, bytes, nr}, stream, true))

SYNC(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t nr), (to, value, nr),
     set, to, 0, value, 1, nr, 1)
SYNC(cuMemsetD16_v2, (CUdeviceptr to, unsigned short value, size_t nr), (to, value, nr),
     set, to, 0, value, 2, nr, 1)
SYNC(cuMemsetD32_v2, (CUdeviceptr to, unsigned int value, size_t nr), (to, value, nr),
     set, to, 0, value, 4, nr, 1)
SYNC(cuMemsetD2D8_v2,
     (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
     (to, pitch, value, width, height), set, to, pitch, value, 1, width, height)
SYNC(cuMemsetD2D16_v2,
     (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
     (to, pitch, value, width, height), set, to, pitch, value, 2, width, height)
SYNC(cuMemsetD2D32_v2,
     (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height),
     (to, pitch, value, width, height), set, to, pitch, value, 4, width, height)
ASYNC(cuMemsetD8Async,
      (CUdeviceptr to, unsigned char value, size_t nr, CUstream stream),
      (to, value, nr, stream), set, to, 0, value, 1, nr, 1)
ASYNC(cuMemsetD16Async,
      (CUdeviceptr to, unsigned short value, size_t nr, CUstream stream),
      (to, value, nr, stream), set, to, 0, value, 2, nr, 1)
ASYNC(cuMemsetD32Async,
      (CUdeviceptr to, unsigned int value, size_t nr, CUstream stream),
      (to, value, nr, stream), set, to, 0, value, 4, nr, 1)
ASYNC(cuMemsetD2D8Async,
      (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
       CUstream stream),
      (to, pitch, value, width, height, stream),
      set, to, pitch, value, 1, width, height)
ASYNC(cuMemsetD2D16Async,
      (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
       CUstream stream),
      (to, pitch, value, width, height, stream),
      set, to, pitch, value, 2, width, height)
ASYNC(cuMemsetD2D32Async,
      (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
       CUstream stream),
      (to, pitch, value, width, height, stream),
      set, to, pitch, value, 4, width, height)
