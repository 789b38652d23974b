// SPDX-License-Identifier: GPL-2.0-or-later
/* Launches, in all the forms that programs and nvcc's code have for them. */
#include <string.h>

#include "runtime.h"

/* nvcc's code for <<<>>> */
unsigned int CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block,
						   size_t shared_bytes,
						   struct CUstream_st *stream);
cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
						 size_t *shared_bytes, void *stream);
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
					 void **args, size_t shared_bytes,
					 cudaStream_t stream);
cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
					      void **args, size_t shared_bytes,
					      cudaStream_t stream);

cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *f, dim3 grid, dim3 block,
					    void **args, size_t shared,
					    cudaStream_t stream);

struct configuration {
	dim3 grid, block;
	size_t shared_bytes;
	CUstream stream;
};

/* Arguments of one launch may launch others. */
#define MAX_NESTED 16

static _Thread_local struct configuration configurations[MAX_NESTED];
static _Thread_local unsigned int nr_configurations;

unsigned int CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block,
						   size_t shared_bytes,
						   struct CUstream_st *stream)
{
	struct configuration *configuration;

	if (nr_configurations == MAX_NESTED)
		return cudaErrorLaunchFailure;
	configuration = &configurations[nr_configurations++];
	configuration->grid = grid;
	configuration->block = block;
	configuration->shared_bytes = shared_bytes;
	configuration->stream = stream;
	return cudaSuccess;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
						 size_t *shared_bytes, void *stream)
{
	const struct configuration *configuration;

	if (!nr_configurations)
		return runtime__remember(cudaErrorMissingConfiguration);
	configuration = &configurations[--nr_configurations];
	*grid = configuration->grid;
	*block = configuration->block;
	*shared_bytes = configuration->shared_bytes;
	memcpy(stream, &configuration->stream, sizeof(configuration->stream));
	return cudaSuccess;
}

/* The handle is the address itself, as in CUDA 13.0's; launches take either. */
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	if (!function__name(function))
		return runtime__remember(cudaErrorInvalidDeviceFunction);
	*kernel = (cudaKernel_t)(uintptr_t)function;
	return cudaSuccess;
}

/* A jump: no callback of its own, and no frame of it in a stack. As in CUDA 13.0's. */
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
					 void **args, size_t shared_bytes,
					 cudaStream_t stream)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, args, shared_bytes,
				stream);
}

cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
					      void **args, size_t shared_bytes,
					      cudaStream_t stream)
{
	return cudaLaunchKernel_ptsz((const void *)kernel, grid, block, args,
				     shared_bytes, stream);
}

static cudaError_t launch(const void *symbol, dim3 grid, dim3 block, void **args,
			  size_t shared_bytes, CUstream stream)
{
	CUfunction function;
	cudaError_t error = function__find(symbol, &function);
	CUresult result;

	if (error)
		return error;
	result = driver.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
				       block.z, (unsigned int)shared_bytes, stream, args,
				       NULL);
	/* The runtime's word for it */
	return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration
						  : runtime__error(result);
}

static cudaError_t launch_cooperative(const void *symbol, dim3 grid, dim3 block,
				      void **args, size_t shared_bytes, CUstream stream)
{
	CUfunction function;
	cudaError_t error = function__find(symbol, &function);

	if (error)
		return error;
	return CALL(cuLaunchCooperativeKernel, function, grid.x, grid.y, grid.z, block.x,
		    block.y, block.z, (unsigned int)shared_bytes, stream, args);
}

static cudaError_t launch_config(const cudaLaunchConfig_t *config, const void *symbol,
				 void **args, bool is_per_thread)
{
	CUfunction function;
	cudaError_t error = function__find(symbol, &function);
	CUlaunchConfig to = {};

	if (error)
		return error;
	to.gridDimX = config->gridDim.x;
	to.gridDimY = config->gridDim.y;
	to.gridDimZ = config->gridDim.z;
	to.blockDimX = config->blockDim.x;
	to.blockDimY = config->blockDim.y;
	to.blockDimZ = config->blockDim.z;
	to.sharedMemBytes = (unsigned int)config->dynamicSmemBytes;
	to.hStream = stream_or_own(config->stream, is_per_thread);
	/* The runtime's attributes are the driver's under other names. */
	_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute),
		       "one layout");
	to.attrs = (CUlaunchAttribute *)config->attrs;
	to.numAttrs = config->numAttrs;
	return CALL(cuLaunchKernelEx, &to, function, args, NULL);
}

static cudaError_t get_function(cudaFunction_t *ret, const void *symbol)
{
	CUfunction function;
	cudaError_t error = function__find(symbol, &function);

	if (!error)
		*ret = function;
	return error;
}

static int function_attribute(CUfunction function, CUfunction_attribute which)
{
	int value = 0;

	driver.cuFuncGetAttribute(&value, which, function);
	return value;
}

static cudaError_t get_attributes(struct cudaFuncAttributes *ret, const void *symbol)
{
	struct cudaFuncAttributes attributes = {};
	CUfunction f;
	cudaError_t error = function__find(symbol, &f);

	if (error)
		return error;
#define GET(which_) function_attribute(f, CU_FUNC_ATTRIBUTE_##which_)
	attributes.numRegs = GET(NUM_REGS);
	attributes.maxThreadsPerBlock = GET(MAX_THREADS_PER_BLOCK);
	attributes.ptxVersion = GET(PTX_VERSION);
	attributes.binaryVersion = GET(BINARY_VERSION);
	attributes.maxDynamicSharedSizeBytes = GET(MAX_DYNAMIC_SHARED_SIZE_BYTES);
#undef GET
	*ret = attributes;
	return cudaSuccess;
}

static cudaError_t set_attribute(const void *symbol)
{
	CUfunction function;

	return function__find(symbol, &function);
}

static cudaError_t max_blocks(int *ret, const void *symbol, int block_size, size_t shared)
{
	CUfunction function;
	cudaError_t error = function__find(symbol, &function);

	return error ? error
		     : CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, ret, function,
			    block_size, shared);
}

static cudaError_t get_entry(const char *name, void **ret, unsigned int version,
			     unsigned long long flags,
			     enum cudaDriverEntryPointQueryResult *ret_found)
{
	CUdriverProcAddressQueryResult found;
	CUresult result =
		driver.cuGetProcAddress_v2(name, ret, (int)version, flags, &found);

	if (ret_found)
		*ret_found = result ? cudaDriverEntryPointSymbolNotFound
				    : cudaDriverEntryPointSuccess;
	/* With a place to say so, a missing function is no error. */
	return result == CUDA_ERROR_NOT_FOUND && ret_found ? cudaSuccess
							   : runtime__error(result);
}

/* clang-format off */
#define LAUNCH_TYPES								\
	(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)

RUNTIME_LAUNCH_API(cudaLaunchKernel, v7000, LAUNCH_TYPES,
		   (f, grid, block, args, shared, stream), function__name(f),
		   launch(f, grid, block, args, shared, stream))
RUNTIME_LAUNCH_API(cudaLaunchKernel_ptsz, v7000, LAUNCH_TYPES,
		   (f, grid, block, args, shared, stream), function__name(f),
		   launch(f, grid, block, args, shared, stream_or_own(stream, true)))
RUNTIME_LAUNCH_API(cudaLaunchCooperativeKernel, v9000, LAUNCH_TYPES,
		   (f, grid, block, args, shared, stream), function__name(f),
		   launch_cooperative(f, grid, block, args, shared, stream))
RUNTIME_LAUNCH_API(cudaLaunchCooperativeKernel_ptsz, v9000, LAUNCH_TYPES,
		   (f, grid, block, args, shared, stream), function__name(f),
		   launch_cooperative(f, grid, block, args, shared,
				      stream_or_own(stream, true)))
RUNTIME_LAUNCH_API(cudaLaunchKernelExC, v11060,
		   (const cudaLaunchConfig_t *config, const void *f, void **args),
		   (config, f, args), function__name(f),
		   launch_config(config, f, args, false))
RUNTIME_LAUNCH_API(cudaLaunchKernelExC_ptsz, v11060,
		   (const cudaLaunchConfig_t *config, const void *f, void **args),
		   (config, f, args), function__name(f),
		   launch_config(config, f, args, true))
RUNTIME_API(cudaLaunchHostFunc, v10000, (cudaStream_t stream, cudaHostFn_t f, void *data),
	    (stream, f, data), CALL(cuLaunchHostFunc, stream, f, data))

RUNTIME_API(cudaLaunchHostFunc_ptsz, v10000,
	    (cudaStream_t stream, cudaHostFn_t f, void *data), (stream, f, data),
	    CALL(cuLaunchHostFunc, stream_or_own(stream, true), f, data))

RUNTIME_API(cudaGetFuncBySymbol, v11000, (cudaFunction_t *function, const void *symbol),
	    (function, symbol), get_function(function, symbol))
RUNTIME_API(cudaGetKernel, v12000, (cudaKernel_t *kernel, const void *symbol),
	    (kernel, symbol), get_function((cudaFunction_t *)kernel, symbol))
RUNTIME_API(cudaFuncGetAttributes, v3020,
	    (struct cudaFuncAttributes *attributes, const void *f), (attributes, f),
	    get_attributes(attributes, f))
RUNTIME_API(cudaFuncSetAttribute, v9000,
	    (const void *f, enum cudaFuncAttribute which, int value), (f, which, value),
	    set_attribute(f))
RUNTIME_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, v6050,
	    (int *nr_blocks, const void *f, int block_size, size_t shared),
	    (nr_blocks, f, block_size, shared),
	    max_blocks(nr_blocks, f, block_size, shared))
RUNTIME_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, v7000,
	    (int *nr_blocks, const void *f, int block_size, size_t shared,
	     unsigned int flags),
	    (nr_blocks, f, block_size, shared, flags),
	    max_blocks(nr_blocks, f, block_size, shared))
RUNTIME_API(cudaGetDriverEntryPointByVersion, v12050,
	    (const char *name, void **entry, unsigned int version,
	     unsigned long long flags, enum cudaDriverEntryPointQueryResult *found),
	    (name, entry, version, flags, found),
	    get_entry(name, entry, version, flags, found))
RUNTIME_API(cudaGetDriverEntryPoint, v11030,
	    (const char *name, void **entry, unsigned long long flags,
	     enum cudaDriverEntryPointQueryResult *found),
	    (name, entry, flags, found),
	    get_entry(name, entry, CUDART_VERSION, flags, found))
