// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What nvcc's code tells the runtime before main(): fat binaries, the kernels in them
 * by the address of their host function, and variables. They reach the driver when
 * they are first used. Reading takes no lock; entries are never freed, since a library
 * that is unloaded may have threads that still look one up.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* Prototypes that only nvcc's own headers have */
void **CUDARTAPI __cudaRegisterFatBinary(void *fat_binary);
void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle);
void CUDARTAPI __cudaUnregisterFatBinary(void **handle);
char CUDARTAPI __cudaInitModule(void **handle);
void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
				      const char *name, int thread_limit, uint3 *tid,
				      uint3 *bid, dim3 *block, dim3 *grid,
				      int *warp_size);
void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device,
				 const char *name, int ext, size_t size, int constant,
				 int global);
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host, char *device,
					const char *name, int ext, size_t size,
					int constant, int global);

#define NR_BUCKETS 4096

struct binary {
	void *image;
	CUlibrary library; /* NULL until a kernel of it is used */
	atomic_bool is_dead;
};

/* A kernel, or a variable if it has a size */
struct symbol {
	struct symbol *next;
	struct symbol *next_by_function;
	struct binary *binary;
	const void *host;
	const char *name;
	size_t bytes;
	void *memory;
	_Atomic(CUfunction) function;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct symbol *) symbols[NR_BUCKETS];
static _Atomic(struct symbol *) by_function[NR_BUCKETS];

static size_t bucket_of(const void *address)
{
	/* Functions lie at multiples of 16. */
	return ((uintptr_t)address >> 4) % NR_BUCKETS;
}

static struct symbol *symbol__find(const void *host)
{
	struct symbol *symbol =
		atomic_load_explicit(&symbols[bucket_of(host)], memory_order_acquire);

	while (symbol && (symbol->host != host || atomic_load(&symbol->binary->is_dead)))
		symbol = symbol->next;
	return symbol;
}

static struct symbol *symbol__add(void **handle, const void *host, const char *name,
				  size_t bytes)
{
	_Atomic(struct symbol *) *bucket = &symbols[bucket_of(host)];
	struct symbol *symbol = calloc(1, sizeof(*symbol));

	if (!symbol)
		return NULL;
	symbol->binary = (struct binary *)handle;
	symbol->host = host;
	symbol->name = name;
	symbol->bytes = bytes;
	pthread_mutex_lock(&mutex);
	symbol->next = atomic_load(bucket);
	atomic_store_explicit(bucket, symbol, memory_order_release);
	pthread_mutex_unlock(&mutex);
	return symbol;
}

void **CUDARTAPI __cudaRegisterFatBinary(void *fat_binary)
{
	struct binary *binary = calloc(1, sizeof(*binary));

	if (binary)
		binary->image = fat_binary;
	return (void **)binary;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Runs at exit too, when the driver may already be gone: it is left alone. */
void CUDARTAPI __cudaUnregisterFatBinary(void **handle)
{
	if (handle)
		atomic_store(&((struct binary *)handle)->is_dead, true);
}

char CUDARTAPI __cudaInitModule(void **handle)
{
	return handle != NULL;
}

void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
				      const char *name, int thread_limit, uint3 *tid,
				      uint3 *bid, dim3 *block, dim3 *grid, int *warp_size)
{
	(void)device;
	(void)thread_limit;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp_size;
	if (handle)
		symbol__add(handle, host, name, 0);
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device,
				 const char *name, int ext, size_t size, int constant,
				 int global)
{
	(void)device;
	(void)ext;
	(void)constant;
	(void)global;
	if (handle)
		symbol__add(handle, host, name, size);
}

/* The host reads it through a pointer, from the start. */
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host, char *device,
					const char *name, int ext, size_t size,
					int constant, int global)
{
	struct symbol *symbol;

	(void)device;
	(void)ext;
	(void)constant;
	(void)global;
	symbol = handle ? symbol__add(handle, host, name, size) : NULL;
	if (symbol) {
		symbol->memory = calloc(1, size);
		*host = symbol->memory;
	}
}

/* Under the mutex */
static CUresult symbol__load(struct symbol *symbol, CUfunction *ret)
{
	struct binary *binary = symbol->binary;
	CUresult result = CUDA_SUCCESS;
	CUkernel kernel;

	if (!binary->library)
		result = driver.cuLibraryLoadData(&binary->library, binary->image, NULL,
						  NULL, 0, NULL, NULL, 0);
	if (!result)
		result =
			driver.cuLibraryGetKernel(&kernel, binary->library, symbol->name);
	if (!result)
		*ret = (CUfunction)kernel;
	return result;
}

static cudaError_t symbol__function(struct symbol *symbol, CUfunction *ret)
{
	CUfunction function =
		atomic_load_explicit(&symbol->function, memory_order_acquire);
	CUresult result = CUDA_SUCCESS;

	if (!function) {
		_Atomic(struct symbol *) *bucket;

		pthread_mutex_lock(&mutex);
		function = atomic_load(&symbol->function);
		if (!function)
			result = symbol__load(symbol, &function);
		if (!result && !atomic_load(&symbol->function)) {
			bucket = &by_function[bucket_of(function)];
			symbol->next_by_function = atomic_load(bucket);
			atomic_store_explicit(&symbol->function, function,
					      memory_order_release);
			atomic_store_explicit(bucket, symbol, memory_order_release);
		}
		pthread_mutex_unlock(&mutex);
	}
	if (!result)
		*ret = function;
	return runtime__error(result);
}

static const char *kernel__name(CUfunction function)
{
	struct symbol *symbol = atomic_load_explicit(&by_function[bucket_of(function)],
						     memory_order_acquire);

	while (symbol && atomic_load(&symbol->function) != function)
		symbol = symbol->next_by_function;
	return symbol ? symbol->name : NULL;
}

cudaError_t function__find(const void *host, CUfunction *ret)
{
	struct symbol *symbol = symbol__find(host);
	CUfunction function;

	if (symbol && !symbol->bytes)
		return symbol__function(symbol, ret);
	/* A handle of cudaGetKernel() may stand in a function's place. */
	function = (CUfunction)(uintptr_t)host;
	if (!kernel__name(function))
		return cudaErrorInvalidDeviceFunction;
	*ret = function;
	return cudaSuccess;
}

const char *function__name(const void *host)
{
	struct symbol *symbol = symbol__find(host);

	return symbol ? symbol->name : kernel__name((CUfunction)(uintptr_t)host);
}

cudaError_t variable__find(const void *host, void **ret_address, size_t *ret_bytes)
{
	struct symbol *symbol = symbol__find(host);
	CUresult result = CUDA_SUCCESS;
	void *memory;

	if (!symbol || !symbol->bytes)
		return cudaErrorInvalidSymbol;
	pthread_mutex_lock(&mutex);
	if (!symbol->memory) {
		result = runtime_tools->allocate_variable(symbol->bytes, symbol->name,
							  &memory);
		if (!result)
			symbol->memory = memory;
	}
	pthread_mutex_unlock(&mutex);
	if (result)
		return runtime__error(result);
	*ret_address = symbol->memory;
	*ret_bytes = symbol->bytes;
	return cudaSuccess;
}
