/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the double of libcudart.so.13, and of libcudart_static.a, which is the
 * same code. It links nothing: libcuda.so.1 is opened by the first call, as the real
 * one does, and entered through its exported functions.
 */
#ifndef FAKE_CUDA_RUNTIME_RUNTIME_H
#define FAKE_CUDA_RUNTIME_RUNTIME_H

#include "../tools.h"

/* clang-format off */
#define DRIVER_FUNCTIONS(one)		\
	one(cuInit)			\
	one(cuDriverGetVersion)		\
	one(cuGetProcAddress_v2)	\
	one(cuGetErrorString)		\
	one(cuDeviceGetCount)		\
	one(cuDeviceGetName)		\
	one(cuDeviceGetUuid_v2)		\
	one(cuDeviceTotalMem_v2)	\
	one(cuDeviceGetAttribute)	\
	one(cuDeviceGetPCIBusId)	\
	one(cuDeviceGetByPCIBusId)	\
	one(cuDeviceCanAccessPeer)	\
	one(cuCtxEnablePeerAccess)	\
	one(cuCtxDisablePeerAccess)	\
	one(cuDevicePrimaryCtxRetain)	\
	one(cuCtxSetCurrent)		\
	one(cuCtxSynchronize)		\
	one(cuProfilerStart)		\
	one(cuProfilerStop)		\
	one(cuLibraryLoadData)		\
	one(cuLibraryUnload)		\
	one(cuLibraryGetKernel)		\
	one(cuFuncGetAttribute)		\
	one(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
	one(cuLaunchKernel)		\
	one(cuLaunchKernelEx)		\
	one(cuLaunchCooperativeKernel)	\
	one(cuLaunchHostFunc)		\
	one(cuMemAlloc_v2)		\
	one(cuMemAllocPitch_v2)		\
	one(cuMemAllocManaged)		\
	one(cuMemAllocHost_v2)		\
	one(cuMemHostAlloc)		\
	one(cuMemHostRegister_v2)	\
	one(cuMemHostUnregister)	\
	one(cuMemHostGetDevicePointer_v2) \
	one(cuMemAllocAsync)		\
	one(cuMemAllocFromPoolAsync)	\
	one(cuMemFree_v2)		\
	one(cuMemFreeHost)		\
	one(cuMemFreeAsync)		\
	one(cuMemPoolCreate)		\
	one(cuMemPoolDestroy)		\
	one(cuMemPoolTrimTo)		\
	one(cuMemPoolGetAttribute)	\
	one(cuMemPoolSetAttribute)	\
	one(cuDeviceGetDefaultMemPool)	\
	one(cuDeviceGetMemPool)		\
	one(cuDeviceSetMemPool)		\
	one(cuMemPrefetchAsync_v2)	\
	one(cuMemAdvise_v2)		\
	one(cuArray3DCreate_v2)		\
	one(cuArrayDestroy)		\
	one(cuMemGetInfo_v2)		\
	one(cuMemcpy)			\
	one(cuMemcpyAsync)		\
	one(cuMemcpyHtoD_v2)		\
	one(cuMemcpyDtoH_v2)		\
	one(cuMemcpyDtoD_v2)		\
	one(cuMemcpyHtoDAsync_v2)	\
	one(cuMemcpyDtoHAsync_v2)	\
	one(cuMemcpyDtoDAsync_v2)	\
	one(cuMemcpyPeer)		\
	one(cuMemcpyPeerAsync)		\
	one(cuMemcpyBatchAsync_v2)	\
	one(cuMemcpy2DUnaligned_v2)	\
	one(cuMemcpy2DAsync_v2)		\
	one(cuMemcpy3D_v2)		\
	one(cuMemcpy3DAsync_v2)		\
	one(cuMemcpy3DPeer)		\
	one(cuMemcpy3DPeerAsync)	\
	one(cuMemsetD8_v2)		\
	one(cuMemsetD8Async)		\
	one(cuMemsetD2D8_v2)		\
	one(cuMemsetD2D8Async)		\
	one(cuPointerGetAttribute)	\
	one(cuStreamCreate)		\
	one(cuStreamDestroy_v2)		\
	one(cuStreamSynchronize)	\
	one(cuStreamQuery)		\
	one(cuStreamWaitEvent)		\
	one(cuStreamGetId)		\
	one(cuStreamGetFlags)		\
	one(cuStreamBeginCapture_v2)	\
	one(cuStreamEndCapture)		\
	one(cuStreamIsCapturing)	\
	one(cuThreadExchangeStreamCaptureMode) \
	one(cuEventCreate)		\
	one(cuEventDestroy_v2)		\
	one(cuEventRecord)		\
	one(cuEventRecordWithFlags)	\
	one(cuEventQuery)		\
	one(cuEventSynchronize)		\
	one(cuEventElapsedTime_v2)	\
	one(cuGraphCreate)		\
	one(cuGraphDestroy)		\
	one(cuGraphAddKernelNode_v2)	\
	one(cuGraphAddMemcpyNode)	\
	one(cuGraphAddMemsetNode)	\
	one(cuGraphAddHostNode)		\
	one(cuGraphAddEmptyNode)	\
	one(cuGraphAddChildGraphNode)	\
	one(cuGraphChildGraphNodeGetGraph) \
	one(cuGraphClone)		\
	one(cuGraphNodeFindInClone)	\
	one(cuGraphGetNodes)		\
	one(cuGraphNodeGetType)		\
	one(cuGraphInstantiateWithFlags) \
	one(cuGraphExecDestroy)		\
	one(cuGraphExecUpdate_v2)	\
	one(cuGraphExecKernelNodeSetParams_v2) \
	one(cuGraphLaunch)		\
	one(cuGraphUpload)
/* clang-format on */

/* Those that wait, which there are for the thread's own stream, too (_ptds) */
/* clang-format off */
#define DRIVER_OWN_FUNCTIONS(one)	\
	one(cuMemcpy)			\
	one(cuMemcpyHtoD_v2)		\
	one(cuMemcpyDtoH_v2)		\
	one(cuMemcpyDtoD_v2)		\
	one(cuMemcpy2DUnaligned_v2)	\
	one(cuMemcpy3D_v2)		\
	one(cuMemcpy3DPeer)		\
	one(cuMemsetD8_v2)		\
	one(cuMemsetD2D8_v2)
/* clang-format on */

/* Last, the old version of cuStreamGetCaptureInfo(), for which headers have no name. */
struct runtime_driver {
#define MEMBER(name_)	  __typeof__(&name_) name_;
#define OWN_MEMBER(name_) __typeof__(&name_) name_##_ptds;
	DRIVER_FUNCTIONS(MEMBER)
	DRIVER_OWN_FUNCTIONS(OWN_MEMBER)
#undef MEMBER
#undef OWN_MEMBER
	CUresult (*cuStreamGetCaptureInfo_v2)(CUstream, CUstreamCaptureStatus *,
					      cuuint64_t *, CUgraph *,
					      const CUgraphNode **, size_t *);
};

/* library.c */
extern struct runtime_driver driver;
extern struct fake_tools *runtime_tools;
/* Open and initialize the driver; quick once that is done. */
cudaError_t runtime__start(void);
/* Give this thread a context, if it hasn't one. */
cudaError_t runtime__use_context(void);
/* The driver's codes are the runtime's, for all that is in both. */
cudaError_t runtime__error(CUresult result);
cudaError_t runtime__remember(cudaError_t error);

/* register.c */
cudaError_t function__find(const void *symbol, CUfunction *ret);
/* Its name, without loading it; NULL if there is none. */
const char *function__name(const void *symbol);
cudaError_t variable__find(const void *symbol, void **ret_address, size_t *ret_bytes);

/* copy.c */
CUDA_MEMCPY3D copy__to_3d(const struct cudaMemcpy3DParms *p);

/* launch.c: with the null stream of an API function as what it means there */
static inline CUstream stream_or_own(cudaStream_t stream, bool is_per_thread)
{
	return !stream && is_per_thread ? CU_STREAM_PER_THREAD : stream;
}

/* clang-format off */
#define FIELDS(...) {__VA_ARGS__}

/* What an API function does around its work. The driver's start is not part of it. */
#define RUNTIME_CALL(name_, params_, symbol_, work_)				\
	struct fake_call fake_call = {						\
		.domain = CUPTI_CB_DOMAIN_RUNTIME_API,				\
		.cbid = CUPTI_RUNTIME_TRACE_CBID_##name_,			\
		.params = params_,						\
	};									\
	cudaError_t fake_result = runtime__start();				\
										\
	if (fake_result)							\
		return runtime__remember(fake_result);				\
	fake_call.symbol = symbol_;						\
	fake_call__enter(runtime_tools, &fake_call);				\
	fake_result = runtime__use_context();					\
	if (!fake_result)							\
		fake_result = (work_);						\
	fake_call__leave(runtime_tools, &fake_call, &fake_result);		\
	return runtime__remember(fake_result);

#define RUNTIME_LAUNCH_API(name_, version_, types_, args_, symbol_, work_)	\
	cudaError_t CUDARTAPI name_ types_;					\
	cudaError_t CUDARTAPI name_ types_					\
	{									\
		name_##_##version_##_params fake_params = FIELDS args_;		\
		RUNTIME_CALL(name_##_##version_, &fake_params, symbol_, work_)	\
	}

#define RUNTIME_API(name_, version_, types_, args_, work_)			\
	RUNTIME_LAUNCH_API(name_, version_, types_, args_, NULL, work_)

/* One without parameters */
#define RUNTIME_API0(name_, version_, work_)					\
	cudaError_t CUDARTAPI name_(void)					\
	{									\
		RUNTIME_CALL(name_##_##version_, &fake_call, NULL, work_)	\
	}

/* Work that is a call of the driver's */
#define CALL(name_, ...) runtime__error(driver.name_(__VA_ARGS__))
/* In the thread's own stream, or the default one */
#define CALL_OWN(is_own_, name_, ...)						\
	((is_own_) ? CALL(name_##_ptds, __VA_ARGS__) : CALL(name_, __VA_ARGS__))
/* clang-format on */

#endif
