// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies and memsets: the driver's, under the runtime's names. */
#include "runtime.h"

#define AT(address_) ((CUdeviceptr)(uintptr_t)(address_))

/* Each direction has a driver's function of its own. */
static cudaError_t copy_1d(void *to, const void *from, size_t bytes,
			   enum cudaMemcpyKind kind, bool is_own)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return CALL_OWN(is_own, cuMemcpyHtoD_v2, AT(to), from, bytes);
	case cudaMemcpyDeviceToHost:
		return CALL_OWN(is_own, cuMemcpyDtoH_v2, to, AT(from), bytes);
	case cudaMemcpyDeviceToDevice:
		return CALL_OWN(is_own, cuMemcpyDtoD_v2, AT(to), AT(from), bytes);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return CALL_OWN(is_own, cuMemcpy, AT(to), AT(from), bytes);
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

static cudaError_t copy_1d_async(void *to, const void *from, size_t bytes,
				 enum cudaMemcpyKind kind, CUstream stream)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return CALL(cuMemcpyHtoDAsync_v2, AT(to), from, bytes, stream);
	case cudaMemcpyDeviceToHost:
		return CALL(cuMemcpyDtoHAsync_v2, to, AT(from), bytes, stream);
	case cudaMemcpyDeviceToDevice:
		return CALL(cuMemcpyDtoDAsync_v2, AT(to), AT(from), bytes, stream);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return CALL(cuMemcpyAsync, AT(to), AT(from), bytes, stream);
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

/* The other device's primary context is made if there is none yet. */
static cudaError_t copy_peer(void *to, int to_device, const void *from, int from_device,
			     size_t bytes, CUstream stream, bool is_async)
{
	CUcontext to_context, from_context;
	cudaError_t error = CALL(cuDevicePrimaryCtxRetain, &to_context, to_device);

	if (!error)
		error = CALL(cuDevicePrimaryCtxRetain, &from_context, from_device);
	if (error)
		return error;
	return is_async ? CALL(cuMemcpyPeerAsync, AT(to), to_context, AT(from),
			       from_context, bytes, stream)
			: CALL(cuMemcpyPeer, AT(to), to_context, AT(from), from_context,
			       bytes);
}

/* One side of a copy in 2D: memory, or an array from (x, y) on */
struct plane {
	const void *memory;
	size_t pitch;
	cudaArray_const_t array;
	size_t x_bytes, y;
};

static CUDA_MEMCPY2D to_2d(struct plane to, struct plane from, size_t width,
			   size_t height)
{
	return (CUDA_MEMCPY2D){
		.srcXInBytes = from.x_bytes,
		.srcY = from.y,
		.srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.srcDevice = AT(from.memory),
		.srcArray = (CUarray)from.array,
		.srcPitch = from.pitch,
		.dstXInBytes = to.x_bytes,
		.dstY = to.y,
		.dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.dstDevice = AT(to.memory),
		.dstArray = (CUarray)to.array,
		.dstPitch = to.pitch,
		.WidthInBytes = width,
		.Height = height,
	};
}

static cudaError_t copy_2d(struct plane to, struct plane from, size_t width,
			   size_t height, bool is_own)
{
	const CUDA_MEMCPY2D params = to_2d(to, from, width, height);

	return CALL_OWN(is_own, cuMemcpy2DUnaligned_v2, &params);
}

static cudaError_t copy_2d_async(struct plane to, struct plane from, size_t width,
				 size_t height, CUstream stream)
{
	const CUDA_MEMCPY2D params = to_2d(to, from, width, height);

	return CALL(cuMemcpy2DAsync_v2, &params, stream);
}

/* Widths are bytes here, also with an array, where the real one has its elements. */
CUDA_MEMCPY3D copy__to_3d(const struct cudaMemcpy3DParms *p)
{
	return (CUDA_MEMCPY3D){
		.srcXInBytes = p->srcPos.x,
		.srcY = p->srcPos.y,
		.srcZ = p->srcPos.z,
		.srcMemoryType =
			p->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.srcDevice = AT(p->srcPtr.ptr),
		.srcArray = (CUarray)p->srcArray,
		.srcPitch = p->srcPtr.pitch,
		.srcHeight = p->srcPtr.ysize,
		.dstXInBytes = p->dstPos.x,
		.dstY = p->dstPos.y,
		.dstZ = p->dstPos.z,
		.dstMemoryType =
			p->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.dstDevice = AT(p->dstPtr.ptr),
		.dstArray = (CUarray)p->dstArray,
		.dstPitch = p->dstPtr.pitch,
		.dstHeight = p->dstPtr.ysize,
		.WidthInBytes = p->extent.width,
		.Height = p->extent.height,
		.Depth = p->extent.depth,
	};
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, bool is_own)
{
	CUDA_MEMCPY3D params;

	if (!p)
		return cudaErrorInvalidValue;
	params = copy__to_3d(p);
	return CALL_OWN(is_own, cuMemcpy3D_v2, &params);
}

static cudaError_t copy_3d_async(const struct cudaMemcpy3DParms *p, CUstream stream)
{
	CUDA_MEMCPY3D params;

	if (!p)
		return cudaErrorInvalidValue;
	params = copy__to_3d(p);
	return CALL(cuMemcpy3DAsync_v2, &params, stream);
}

static CUDA_MEMCPY3D_PEER to_peer_3d(const struct cudaMemcpy3DPeerParms *p)
{
	return (CUDA_MEMCPY3D_PEER){
		.srcXInBytes = p->srcPos.x,
		.srcY = p->srcPos.y,
		.srcZ = p->srcPos.z,
		.srcMemoryType =
			p->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.srcDevice = AT(p->srcPtr.ptr),
		.srcArray = (CUarray)p->srcArray,
		.srcPitch = p->srcPtr.pitch,
		.srcHeight = p->srcPtr.ysize,
		.dstXInBytes = p->dstPos.x,
		.dstY = p->dstPos.y,
		.dstZ = p->dstPos.z,
		.dstMemoryType =
			p->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.dstDevice = AT(p->dstPtr.ptr),
		.dstArray = (CUarray)p->dstArray,
		.dstPitch = p->dstPtr.pitch,
		.dstHeight = p->dstPtr.ysize,
		.WidthInBytes = p->extent.width,
		.Height = p->extent.height,
		.Depth = p->extent.depth,
	};
}

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, bool is_own)
{
	CUDA_MEMCPY3D_PEER params;

	if (!p)
		return cudaErrorInvalidValue;
	params = to_peer_3d(p);
	return CALL_OWN(is_own, cuMemcpy3DPeer, &params);
}

static cudaError_t copy_3d_peer_async(const struct cudaMemcpy3DPeerParms *p,
				      CUstream stream)
{
	CUDA_MEMCPY3D_PEER params;

	if (!p)
		return cudaErrorInvalidValue;
	params = to_peer_3d(p);
	return CALL(cuMemcpy3DPeerAsync, &params, stream);
}

/* Where a variable's bytes are */
static cudaError_t symbol__at(const void *symbol, size_t offset, size_t bytes, void **ret)
{
	size_t symbol_bytes;
	cudaError_t error = variable__find(symbol, ret, &symbol_bytes);

	if (error)
		return error;
	if (offset > symbol_bytes || bytes > symbol_bytes - offset)
		return cudaErrorInvalidValue;
	*ret = (char *)*ret + offset;
	return cudaSuccess;
}

static cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t bytes,
				  size_t offset, enum cudaMemcpyKind kind, bool is_own)
{
	void *to;
	cudaError_t error = symbol__at(symbol, offset, bytes, &to);

	return error ? error : copy_1d(to, from, bytes, kind, is_own);
}

static cudaError_t copy_from_symbol(void *to, const void *symbol, size_t bytes,
				    size_t offset, enum cudaMemcpyKind kind, bool is_own)
{
	void *from;
	cudaError_t error = symbol__at(symbol, offset, bytes, &from);

	return error ? error : copy_1d(to, from, bytes, kind, is_own);
}

static cudaError_t copy_to_symbol_async(const void *symbol, const void *from,
					size_t bytes, size_t offset,
					enum cudaMemcpyKind kind, CUstream stream)
{
	void *to;
	cudaError_t error = symbol__at(symbol, offset, bytes, &to);

	return error ? error : copy_1d_async(to, from, bytes, kind, stream);
}

static cudaError_t copy_from_symbol_async(void *to, const void *symbol, size_t bytes,
					  size_t offset, enum cudaMemcpyKind kind,
					  CUstream stream)
{
	void *from;
	cudaError_t error = symbol__at(symbol, offset, bytes, &from);

	return error ? error : copy_1d_async(to, from, bytes, kind, stream);
}

/* Attributes are hints, which make no difference here. */
static cudaError_t copy_batch(void *const *to, const void *const *from,
			      const size_t *bytes, size_t nr, CUstream stream)
{
	/* Pointers of the host are the driver's own type in the same bits. */
	return CALL(cuMemcpyBatchAsync_v2, (CUdeviceptr *)to, (CUdeviceptr *)from,
		    (size_t *)bytes, nr, NULL, NULL, 0, stream);
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

/* In one go: where planes have rows between them, the driver has no function for it. */
static cudaError_t check_planes(struct cudaPitchedPtr to, struct cudaExtent extent)
{
	return extent.depth > 1 && to.ysize && to.ysize != extent.height
		       ? cudaErrorNotSupported
		       : cudaSuccess;
}

static cudaError_t set_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
			  bool is_own)
{
	cudaError_t error = check_planes(to, extent);

	return error ? error
		     : CALL_OWN(is_own, cuMemsetD2D8_v2, AT(to.ptr), to.pitch,
				(unsigned char)value, extent.width,
				extent.height * extent.depth);
}

static cudaError_t set_3d_async(struct cudaPitchedPtr to, int value,
				struct cudaExtent extent, CUstream stream)
{
	cudaError_t error = check_planes(to, extent);

	return error ? error
		     : CALL(cuMemsetD2D8Async, AT(to.ptr), to.pitch, (unsigned char)value,
			    extent.width, extent.height * extent.depth, stream);
}

/* clang-format off */
#define MEMORY(at_, pitch_) ((struct plane){.memory = (at_), .pitch = (pitch_)})
#define IN_ARRAY(array_) ((struct plane){.array = (array_), .x_bytes = x, .y = y})
#define TYPES_1D void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind
#define TYPES_2D								\
	void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,	\
	size_t height, enum cudaMemcpyKind kind
#define ARGS_2D to, to_pitch, from, from_pitch, width, height, kind
#define PLANES_2D MEMORY(to, to_pitch), MEMORY(from, from_pitch), width, height
#define TYPES_TO_ARRAY								\
	cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, \
	size_t height, enum cudaMemcpyKind kind
#define ARGS_TO_ARRAY to, x, y, from, pitch, width, height, kind
#define PLANES_TO_ARRAY IN_ARRAY(to), MEMORY(from, pitch), width, height
#define TYPES_FROM_ARRAY							\
	void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, \
	size_t height, enum cudaMemcpyKind kind
#define ARGS_FROM_ARRAY to, pitch, from, x, y, width, height, kind
#define PLANES_FROM_ARRAY MEMORY(to, pitch), IN_ARRAY(from), width, height
#define TYPES_OF_ARRAYS								\
	cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x,	\
	size_t y, size_t width, size_t height, enum cudaMemcpyKind kind
#define ARGS_OF_ARRAYS to, to_x, to_y, from, x, y, width, height, kind
#define PLANES_OF_ARRAYS							\
	((struct plane){.array = to, .x_bytes = to_x, .y = to_y}), IN_ARRAY(from), width, \
	height
#define TYPES_TO_SYMBOL								\
	const void *symbol, const void *from, size_t bytes, size_t offset,	\
	enum cudaMemcpyKind kind
#define ARGS_TO_SYMBOL symbol, from, bytes, offset, kind
#define TYPES_FROM_SYMBOL							\
	void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind
#define ARGS_FROM_SYMBOL to, symbol, bytes, offset, kind
#define TYPES_SET_2D void *to, size_t pitch, int value, size_t width, size_t height
#define ARGS_SET_2D to, pitch, value, width, height
#define TYPES_SET_3D struct cudaPitchedPtr to, int value, struct cudaExtent extent

/* A function that waits, and its twin for programs whose default stream is the thread's */
#define SYNC(name_, types_, args_, function_, ...)				\
	RUNTIME_API(name_, v3020, types_, args_, function_(__VA_ARGS__, false))	\
	RUNTIME_API(name_##_ptds, v7000, types_, args_, function_(__VA_ARGS__, true))
/* One with a stream, likewise */
#define ASYNC(name_, types_, args_, function_, ...)				\
	RUNTIME_API(name_, v3020, types_, args_, function_(__VA_ARGS__, stream))	\
	RUNTIME_API(name_##_ptsz, v7000, types_, args_,				\
		    function_(__VA_ARGS__, stream_or_own(stream, true)))
#define SET_1D(to_, value_, bytes_, is_own_)					\
	CALL_OWN(is_own_, cuMemsetD8_v2, AT(to_), (unsigned char)(value_), bytes_)
#define SET_1D_ASYNC(to_, value_, bytes_, stream_)				\
	CALL(cuMemsetD8Async, AT(to_), (unsigned char)(value_), bytes_, stream_)
#define SET_2D(to_, pitch_, value_, width_, height_, is_own_)			\
	CALL_OWN(is_own_, cuMemsetD2D8_v2, AT(to_), pitch_, (unsigned char)(value_),	\
		 width_, height_)
#define SET_2D_ASYNC(to_, pitch_, value_, width_, height_, stream_)		\
	CALL(cuMemsetD2D8Async, AT(to_), pitch_, (unsigned char)(value_), width_,	\
	     height_, stream_)

SYNC(cudaMemcpy, (TYPES_1D), (to, from, bytes, kind), copy_1d, to, from, bytes, kind)
ASYNC(cudaMemcpyAsync, (TYPES_1D, cudaStream_t stream), (to, from, bytes, kind, stream),
      copy_1d_async, to, from, bytes, kind)
SYNC(cudaMemcpy2D, (TYPES_2D), (ARGS_2D), copy_2d, PLANES_2D)
ASYNC(cudaMemcpy2DAsync, (TYPES_2D, cudaStream_t stream), (ARGS_2D, stream),
      copy_2d_async, PLANES_2D)
SYNC(cudaMemcpy2DToArray, (TYPES_TO_ARRAY), (ARGS_TO_ARRAY), copy_2d, PLANES_TO_ARRAY)
ASYNC(cudaMemcpy2DToArrayAsync, (TYPES_TO_ARRAY, cudaStream_t stream),
      (ARGS_TO_ARRAY, stream), copy_2d_async, PLANES_TO_ARRAY)
SYNC(cudaMemcpy2DFromArray, (TYPES_FROM_ARRAY), (ARGS_FROM_ARRAY), copy_2d,
     PLANES_FROM_ARRAY)
ASYNC(cudaMemcpy2DFromArrayAsync, (TYPES_FROM_ARRAY, cudaStream_t stream),
      (ARGS_FROM_ARRAY, stream), copy_2d_async, PLANES_FROM_ARRAY)
SYNC(cudaMemcpy2DArrayToArray, (TYPES_OF_ARRAYS), (ARGS_OF_ARRAYS), copy_2d,
     PLANES_OF_ARRAYS)
SYNC(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p), copy_3d, p)
ASYNC(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
      (p, stream), copy_3d_async, p)
SYNC(cudaMemcpyToSymbol, (TYPES_TO_SYMBOL), (ARGS_TO_SYMBOL), copy_to_symbol,
     ARGS_TO_SYMBOL)
ASYNC(cudaMemcpyToSymbolAsync, (TYPES_TO_SYMBOL, cudaStream_t stream),
      (ARGS_TO_SYMBOL, stream), copy_to_symbol_async, ARGS_TO_SYMBOL)
SYNC(cudaMemcpyFromSymbol, (TYPES_FROM_SYMBOL), (ARGS_FROM_SYMBOL), copy_from_symbol,
     ARGS_FROM_SYMBOL)
ASYNC(cudaMemcpyFromSymbolAsync, (TYPES_FROM_SYMBOL, cudaStream_t stream),
      (ARGS_FROM_SYMBOL, stream), copy_from_symbol_async, ARGS_FROM_SYMBOL)

#define TYPES_BATCH								\
	void *const *to, const void *const *from, const size_t *bytes, size_t nr,	\
	struct cudaMemcpyAttributes *attributes, size_t *indices, size_t nr_attributes,	\
	cudaStream_t stream
#define ARGS_BATCH to, from, bytes, nr, attributes, indices, nr_attributes, stream
RUNTIME_API(cudaMemcpyBatchAsync, v13000, (TYPES_BATCH), (ARGS_BATCH),
	    copy_batch(to, from, bytes, nr, stream))
RUNTIME_API(cudaMemcpyBatchAsync_ptsz, v13000, (TYPES_BATCH), (ARGS_BATCH),
	    copy_batch(to, from, bytes, nr, stream_or_own(stream, true)))

SYNC(cudaMemset, (void *to, int value, size_t bytes), (to, value, bytes), SET_1D, to,
     value, bytes)
ASYNC(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
      (to, value, bytes, stream), SET_1D_ASYNC, to, value, bytes)
SYNC(cudaMemset2D, (TYPES_SET_2D), (ARGS_SET_2D), SET_2D, to, pitch, value, width, height)
ASYNC(cudaMemset2DAsync, (TYPES_SET_2D, cudaStream_t stream), (ARGS_SET_2D, stream),
      SET_2D_ASYNC, to, pitch, value, width, height)
SYNC(cudaMemset3D, (TYPES_SET_3D), (to, value, extent), set_3d, to, value, extent)
ASYNC(cudaMemset3DAsync, (TYPES_SET_3D, cudaStream_t stream), (to, value, extent, stream),
      set_3d_async, to, value, extent)

RUNTIME_API(cudaMemcpyPeer, v4000,
	    (void *to, int to_device, const void *from, int from_device, size_t bytes),
	    (to, to_device, from, from_device, bytes),
	    copy_peer(to, to_device, from, from_device, bytes, NULL, false))
RUNTIME_API(cudaMemcpyPeerAsync, v4000,
	    (void *to, int to_device, const void *from, int from_device, size_t bytes,
	     cudaStream_t stream),
	    (to, to_device, from, from_device, bytes, stream),
	    copy_peer(to, to_device, from, from_device, bytes, stream, true))
RUNTIME_API(cudaMemcpy3DPeer, v4000, (const struct cudaMemcpy3DPeerParms *p), (p),
	    copy_3d_peer(p, false))
RUNTIME_API(cudaMemcpy3DPeer_ptds, v7000, (const struct cudaMemcpy3DPeerParms *p), (p),
	    copy_3d_peer(p, true))
RUNTIME_API(cudaMemcpy3DPeerAsync, v4000,
	    (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), (p, stream),
	    copy_3d_peer_async(p, stream))
RUNTIME_API(cudaMemcpy3DPeerAsync_ptsz, v7000,
	    (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), (p, stream),
	    copy_3d_peer_async(p, stream_or_own(stream, true)))
RUNTIME_API(cudaGetSymbolAddress, v3020, (void **at, const void *symbol), (at, symbol),
	    symbol_address(at, symbol))
RUNTIME_API(cudaGetSymbolSize, v3020, (size_t *bytes, const void *symbol),
	    (bytes, symbol), symbol_size(bytes, symbol))
