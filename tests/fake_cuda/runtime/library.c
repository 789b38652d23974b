// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver as the runtime finds it, the context of a thread, and errors. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "runtime.h"

#define OLDEST_DRIVER_VERSION 13000

struct runtime_driver driver;
struct fake_tools *runtime_tools;

static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static cudaError_t open_result;
static atomic_bool is_started;

static _Thread_local int this_device;
static _Thread_local cudaError_t last_error;

static bool find_functions(void *handle)
{
	CUresult (*get_table)(const void **, const CUuuid *);
	const void *table;
	bool found = true;
	CUuuid id;

#define FIND(name_)                                                                \
	driver.name_ = (__typeof__(driver.name_))(uintptr_t)dlsym(handle, #name_); \
	found = found && driver.name_;
	DRIVER_FUNCTIONS(FIND)
	FIND(cuStreamGetCaptureInfo_v2)
#define FIND_OWN(name_) FIND(name_##_ptds)
	DRIVER_OWN_FUNCTIONS(FIND_OWN)
#undef FIND_OWN
#undef FIND
	get_table = (__typeof__(get_table))(uintptr_t)dlsym(handle, "cuGetExportTable");
	memcpy(&id, FAKE_TOOLS_ID, sizeof(id));
	if (!found || !get_table || get_table(&table, &id))
		return false;
	runtime_tools = (struct fake_tools *)table;
	return true;
}

static void open_driver(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	int version = 0;

	open_result = cudaErrorInsufficientDriver;
	if (!handle || !find_functions(handle))
		return;
	if (!driver.cuDriverGetVersion(&version) && version >= OLDEST_DRIVER_VERSION)
		open_result = cudaSuccess;
}

cudaError_t runtime__start(void)
{
	CUresult result;

	if (atomic_load_explicit(&is_started, memory_order_acquire))
		return cudaSuccess;
	pthread_once(&open_once, open_driver);
	if (open_result)
		return open_result;
	result = driver.cuInit(0);
	if (!result)
		atomic_store_explicit(&is_started, true, memory_order_release);
	return runtime__error(result);
}

cudaError_t runtime__use_context(void)
{
	CUcontext context;
	CUresult result;

	if (runtime_tools->current_context())
		return cudaSuccess;
	result = driver.cuDevicePrimaryCtxRetain(&context, this_device);
	if (!result)
		result = driver.cuCtxSetCurrent(context);
	return runtime__error(result);
}

cudaError_t runtime__error(CUresult result)
{
	return (cudaError_t)result;
}

/* That something isn't done yet is no error that cudaGetLastError() tells of. */
cudaError_t runtime__remember(cudaError_t error)
{
	if (error && error != cudaErrorNotReady)
		last_error = error;
	return error;
}

static cudaError_t device__set(int device)
{
	CUcontext context;
	CUresult result = driver.cuDevicePrimaryCtxRetain(&context, device);

	if (!result)
		result = driver.cuCtxSetCurrent(context);
	if (!result)
		this_device = device;
	return runtime__error(result);
}

static cudaError_t device__get(int *ret)
{
	*ret = this_device;
	return cudaSuccess;
}

static int attribute(CUdevice_attribute which, int device)
{
	int value = 0;

	driver.cuDeviceGetAttribute(&value, which, device);
	return value;
}

static cudaError_t device__properties(struct cudaDeviceProp *ret, int device)
{
	struct cudaDeviceProp p = {};
	CUresult result = driver.cuDeviceGetName(p.name, sizeof(p.name), device);
	CUuuid uuid;

	if (result)
		return runtime__error(result);
	driver.cuDeviceGetUuid_v2(&uuid, device);
	memcpy(&p.uuid, &uuid, sizeof(p.uuid));
	driver.cuDeviceTotalMem_v2(&p.totalGlobalMem, device);
#define GET(which_) attribute(CU_DEVICE_ATTRIBUTE_##which_, device)
	p.sharedMemPerBlock = (size_t)GET(MAX_SHARED_MEMORY_PER_BLOCK);
	p.sharedMemPerBlockOptin = (size_t)GET(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	p.sharedMemPerMultiprocessor = (size_t)GET(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	p.totalConstMem = (size_t)GET(TOTAL_CONSTANT_MEMORY);
	p.regsPerBlock = GET(MAX_REGISTERS_PER_BLOCK);
	p.regsPerMultiprocessor = GET(MAX_REGISTERS_PER_MULTIPROCESSOR);
	p.warpSize = GET(WARP_SIZE);
	p.maxThreadsPerBlock = GET(MAX_THREADS_PER_BLOCK);
	p.maxThreadsPerMultiProcessor = GET(MAX_THREADS_PER_MULTIPROCESSOR);
	p.maxThreadsDim[0] = GET(MAX_BLOCK_DIM_X);
	p.maxThreadsDim[1] = GET(MAX_BLOCK_DIM_Y);
	p.maxThreadsDim[2] = GET(MAX_BLOCK_DIM_Z);
	p.maxGridSize[0] = GET(MAX_GRID_DIM_X);
	p.maxGridSize[1] = GET(MAX_GRID_DIM_Y);
	p.maxGridSize[2] = GET(MAX_GRID_DIM_Z);
	p.major = GET(COMPUTE_CAPABILITY_MAJOR);
	p.minor = GET(COMPUTE_CAPABILITY_MINOR);
	p.multiProcessorCount = GET(MULTIPROCESSOR_COUNT);
	p.memoryBusWidth = GET(GLOBAL_MEMORY_BUS_WIDTH);
	p.l2CacheSize = GET(L2_CACHE_SIZE);
	p.concurrentKernels = GET(CONCURRENT_KERNELS);
	p.cooperativeLaunch = GET(COOPERATIVE_LAUNCH);
	p.managedMemory = GET(MANAGED_MEMORY);
	p.unifiedAddressing = GET(UNIFIED_ADDRESSING);
	p.asyncEngineCount = GET(ASYNC_ENGINE_COUNT);
	p.pciBusID = GET(PCI_BUS_ID);
#undef GET
	*ret = p;
	return cudaSuccess;
}

/* The peer's primary context stands for it. */
static cudaError_t set_peer_access(int peer, bool enable)
{
	CUcontext context;
	cudaError_t error = CALL(cuDevicePrimaryCtxRetain, &context, peer);

	if (error)
		return error;
	return enable ? CALL(cuCtxEnablePeerAccess, context, 0)
		      : CALL(cuCtxDisablePeerAccess, context);
}

/* All streams have one priority. */
static cudaError_t priority_range(int *least, int *greatest)
{
	*least = 0;
	*greatest = 0;
	return cudaSuccess;
}

static cudaError_t take_error(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

/* The error of an earlier call is not one of this call: it is not remembered. */
cudaError_t CUDARTAPI cudaGetLastError(void)
{
	return take_error();
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
	return last_error;
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *runtimeVersion)
{
	if (!runtimeVersion)
		return runtime__remember(cudaErrorInvalidValue);
	*runtimeVersion = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDriverGetVersion(int *driverVersion)
{
	pthread_once(&open_once, open_driver);
	if (!driverVersion)
		return runtime__remember(cudaErrorInvalidValue);
	*driverVersion = 0;
	if (driver.cuDriverGetVersion)
		driver.cuDriverGetVersion(driverVersion);
	return cudaSuccess;
}

static const struct {
	cudaError_t code;
	const char *name, *text;
} errors[] = {
	{cudaSuccess, "cudaSuccess", "no error"},
	{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
	{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
	{cudaErrorInitializationError, "cudaErrorInitializationError",
	 "initialization error"},
	{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
	 "invalid configuration argument"},
	{cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
	{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
	 "CUDA driver version is insufficient for CUDA runtime version"},
	{cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration",
	 "__global__ function call is not configured"},
	{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
	 "invalid device function"},
	{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
	 "invalid resource handle"},
	{cudaErrorIllegalState, "cudaErrorIllegalState",
	 "the operation cannot be performed in the present state"},
	{cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
	{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
	{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
	{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
	 "operation not permitted when stream is capturing"},
};

static const char *error_text(cudaError_t error, bool is_name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == error)
			return is_name ? errors[i].name : errors[i].text;
	return "unrecognized error code";
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
	return error_text(error, false);
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
	return error_text(error, true);
}

/* clang-format off */
RUNTIME_API(cudaGetDeviceCount, v3020, (int *count), (count),
	    CALL(cuDeviceGetCount, count))
RUNTIME_API(cudaSetDevice, v3020, (int device), (device), device__set(device))
RUNTIME_API(cudaInitDevice, v12000, (int device, unsigned int device_flags, unsigned int flags),
	    (device, device_flags, flags), device__set(device))
RUNTIME_API(cudaGetDevice, v3020, (int *device), (device), device__get(device))
RUNTIME_API(cudaGetDeviceProperties, v12000, (struct cudaDeviceProp *prop, int device),
	    (prop, device), device__properties(prop, device))
RUNTIME_API(cudaDeviceGetAttribute, v5000,
	    (int *value, enum cudaDeviceAttr which, int device), (value, which, device),
	    CALL(cuDeviceGetAttribute, value, (CUdevice_attribute)which, device))
RUNTIME_API(cudaDeviceGetPCIBusId, v4010, (char *bus_id, int len, int device),
	    (bus_id, len, device), CALL(cuDeviceGetPCIBusId, bus_id, len, device))
RUNTIME_API(cudaDeviceGetByPCIBusId, v4010, (int *device, const char *bus_id),
	    (device, bus_id), CALL(cuDeviceGetByPCIBusId, device, bus_id))
RUNTIME_API(cudaDeviceCanAccessPeer, v4000, (int *can, int device, int peer),
	    (can, device, peer), CALL(cuDeviceCanAccessPeer, can, device, peer))
RUNTIME_API(cudaDeviceEnablePeerAccess, v4000, (int peer, unsigned int flags),
	    (peer, flags), set_peer_access(peer, true))
RUNTIME_API(cudaDeviceDisablePeerAccess, v4000, (int peer), (peer),
	    set_peer_access(peer, false))
RUNTIME_API(cudaDeviceGetStreamPriorityRange, v5050, (int *least, int *greatest),
	    (least, greatest), priority_range(least, greatest))
RUNTIME_API0(cudaDeviceSynchronize, v3020, CALL(cuCtxSynchronize))
RUNTIME_API0(cudaProfilerStart, v4000, CALL(cuProfilerStart))
RUNTIME_API0(cudaProfilerStop, v4000, CALL(cuProfilerStop))
RUNTIME_API0(cudaDeviceReset, v3020, CALL(cuCtxSynchronize))
