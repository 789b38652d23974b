// SPDX-License-Identifier: GPL-2.0-or-later
/* Of event_truth, what moves or takes bytes: copies, memsets, allocations, migrations. */
#include <cuda.h>
#include <string.h>

#include "event_truth.h"

/* No two are the same, so that none can stand for another. */
#define COPY_BYTES   (1 * MIB + 12)
#define SMALL_BYTES  (12 * KIB + 4)
#define NR_COPIES    2 /* by each function: of so many bytes, and of one more */
#define SUM_BYTES    (2 * COPY_BYTES + 1)
#define BUFFER_BYTES (4 * MIB)
/* A rectangle in memory whose lines are longer */
#define WIDTH	     1000ul
#define PITCH	     1024ul
#define HEIGHT	     64ul
#define NR_REPLAYS   3

__device__ static char variable[SMALL_BYTES];

static struct {
	char *device, *other_device, *pinned, *pageable, *other_pageable;
	cudaStream_t stream;
} buffers;

KNOWN_FUNCTION void hold_buffers(void)
{
	if (buffers.stream)
		return;
	CHECK(cudaStreamCreateWithFlags(&buffers.stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&buffers.device, BUFFER_BYTES));
	CHECK(cudaMalloc((void **)&buffers.other_device, BUFFER_BYTES));
	CHECK(cudaMallocHost((void **)&buffers.pinned, BUFFER_BYTES));
	did("gpu-alloc", "device", __func__, 2, 2 * BUFFER_BYTES);
	did("gpu-alloc", "pinned", __func__, 1, BUFFER_BYTES);
	did("leaks", "device", __func__, 2, 2 * BUFFER_BYTES);
	did("leaks", "pinned", __func__, 1, BUFFER_BYTES);
	buffers.pageable = (char *)malloc(BUFFER_BYTES);
	buffers.other_pageable = (char *)malloc(BUFFER_BYTES);
	if (!buffers.pageable || !buffers.other_pageable)
		exit(1);
	memset(buffers.pageable, 1, BUFFER_BYTES);
	memset(buffers.other_pageable, 1, BUFFER_BYTES);
}

/* ---- gpu-memcpy ---- */

/* A function that copies twice, and says so */
#define COPY(name_, leaf_, to_, from_, kind_)                                      \
	KNOWN_FUNCTION void name_(void)                                            \
	{                                                                          \
		for (size_t i = 0; i < NR_COPIES; i++)                             \
			CHECK(cudaMemcpy(buffers.to_, buffers.from_, COPY_BYTES + i, \
					 kind_));                                  \
		did("gpu-memcpy", leaf_, __func__, NR_COPIES, SUM_BYTES);          \
	}

#define COPY_ASYNC(name_, leaf_, to_, from_, kind_)                                 \
	KNOWN_FUNCTION void name_(void)                                             \
	{                                                                           \
		for (size_t i = 0; i < NR_COPIES; i++)                              \
			CHECK(cudaMemcpyAsync(buffers.to_, buffers.from_,           \
					      COPY_BYTES + i, kind_, buffers.stream)); \
		did("gpu-memcpy", leaf_, __func__, NR_COPIES, SUM_BYTES);           \
	}

COPY(copy_htod_pageable, "HtoD pageable", device, pageable, cudaMemcpyHostToDevice)
COPY(copy_dtoh_pageable, "DtoH pageable", pageable, device, cudaMemcpyDeviceToHost)
COPY(copy_htod_pinned, "HtoD pinned", device, pinned, cudaMemcpyHostToDevice)
COPY(copy_dtoh_pinned, "DtoH pinned", pinned, device, cudaMemcpyDeviceToHost)
COPY(copy_dtod, "DtoD", other_device, device, cudaMemcpyDeviceToDevice)
COPY(copy_by_default, "HtoD pinned", device, pinned, cudaMemcpyDefault)
COPY_ASYNC(copy_async_htod_pageable, "HtoD pageable", device, pageable,
	   cudaMemcpyHostToDevice)
COPY_ASYNC(copy_async_htod, "HtoD pinned", device, pinned, cudaMemcpyHostToDevice)
COPY_ASYNC(copy_async_dtoh, "DtoH pinned", pinned, device, cudaMemcpyDeviceToHost)
COPY_ASYNC(copy_async_dtod, "DtoD", other_device, device, cudaMemcpyDeviceToDevice)

KNOWN_FUNCTION void copy_2d_htod(void)
{
	CHECK(cudaMemcpy2D(buffers.device, PITCH, buffers.pinned, PITCH, WIDTH, HEIGHT,
			   cudaMemcpyHostToDevice));
	did("gpu-memcpy", "HtoD pinned", __func__, 1, WIDTH * HEIGHT);
}

KNOWN_FUNCTION void copy_2d_async_dtoh(void)
{
	CHECK(cudaMemcpy2DAsync(buffers.pinned, PITCH, buffers.device, PITCH, WIDTH,
				HEIGHT, cudaMemcpyDeviceToHost, buffers.stream));
	did("gpu-memcpy", "DtoH pinned", __func__, 1, WIDTH * HEIGHT);
}

KNOWN_FUNCTION void copy_to_symbol(void)
{
	CHECK(cudaMemcpyToSymbol(variable, buffers.pageable, SMALL_BYTES));
	did("gpu-memcpy", "HtoD pageable", __func__, 1, SMALL_BYTES);
}

KNOWN_FUNCTION void copy_from_symbol(void)
{
	CHECK(cudaMemcpyFromSymbol(buffers.pageable, variable, SMALL_BYTES));
	did("gpu-memcpy", "DtoH pageable", __func__, 1, SMALL_BYTES);
}

/* The driver's function, without the runtime's around it */
KNOWN_FUNCTION void copy_by_driver(void)
{
	cudaDriverEntryPointQueryResult found;
	CUresult (*copy)(CUdeviceptr, const void *, size_t);
	void *entry;

	CHECK(cudaGetDriverEntryPointByVersion("cuMemcpyHtoD", &entry, 12000,
					       cudaEnableDefault, &found));
	copy = (CUresult(*)(CUdeviceptr, const void *, size_t))entry;
	CHECK(copy((CUdeviceptr)buffers.device, buffers.pinned, SMALL_BYTES));
	did("gpu-memcpy", "HtoD pinned", __func__, 1, SMALL_BYTES);
}

/* The GPU has no part in it, and CUPTI may have no record of it. */
KNOWN_FUNCTION void copy_htoh(void)
{
	const struct fact fact = {"gpu-memcpy", "bytes", "*", __func__, NULL, NONE, NONE,
				  0, SMALL_BYTES};

	CHECK(cudaMemcpy(buffers.other_pageable, buffers.pageable, SMALL_BYTES,
			 cudaMemcpyHostToHost));
	fact__print(&fact);
}

void do_copies(void)
{
	hold_buffers();
	copy_htod_pageable();
	copy_dtoh_pageable();
	copy_htod_pinned();
	copy_dtoh_pinned();
	copy_dtod();
	copy_by_default();
	copy_async_htod_pageable();
	copy_async_htod();
	copy_async_dtoh();
	copy_async_dtod();
	copy_2d_htod();
	copy_2d_async_dtoh();
	copy_to_symbol();
	copy_from_symbol();
	copy_by_driver();
	copy_htoh();
	CHECK(cudaStreamSynchronize(buffers.stream));
}

/* ---- gpu-memset ---- */

KNOWN_FUNCTION void set_device(void)
{
	CHECK(cudaMemset(buffers.device, 1, COPY_BYTES));
	did("gpu-memset", "device", __func__, 1, COPY_BYTES);
}

KNOWN_FUNCTION void set_async(void)
{
	for (size_t i = 0; i < NR_COPIES; i++)
		CHECK(cudaMemsetAsync(buffers.device, 2, COPY_BYTES + i, buffers.stream));
	did("gpu-memset", "device", __func__, NR_COPIES, SUM_BYTES);
}

KNOWN_FUNCTION void set_2d(void)
{
	CHECK(cudaMemset2DAsync(buffers.device, PITCH, 3, WIDTH, HEIGHT, buffers.stream));
	did("gpu-memset", "device", __func__, 1, WIDTH * HEIGHT);
}

/* So many elements of four bytes */
KNOWN_FUNCTION void set_by_driver(void)
{
	cudaDriverEntryPointQueryResult found;
	CUresult (*set)(CUdeviceptr, unsigned int, size_t, CUstream);
	void *entry;

	CHECK(cudaGetDriverEntryPointByVersion("cuMemsetD32Async", &entry, 12000,
					       cudaEnableDefault, &found));
	set = (CUresult(*)(CUdeviceptr, unsigned int, size_t, CUstream))entry;
	CHECK(set((CUdeviceptr)buffers.device, 4, WIDTH, buffers.stream));
	did("gpu-memset", "device", __func__, 1, 4 * WIDTH);
}

void do_memsets(void)
{
	hold_buffers();
	set_device();
	set_async();
	set_2d();
	set_by_driver();
	CHECK(cudaStreamSynchronize(buffers.stream));
}

/* ---- both, of a CUDA graph ---- */

KNOWN_FUNCTION cudaGraphExec_t capture_copies(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(buffers.stream, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaMemsetAsync(buffers.device, 5, COPY_BYTES, buffers.stream));
	CHECK(cudaMemcpyAsync(buffers.device, buffers.pinned, COPY_BYTES,
			      cudaMemcpyHostToDevice, buffers.stream));
	CHECK(cudaMemcpyAsync(buffers.other_device, buffers.device, SMALL_BYTES,
			      cudaMemcpyDeviceToDevice, buffers.stream));
	CHECK(cudaMemcpyAsync(buffers.pinned, buffers.device, COPY_BYTES,
			      cudaMemcpyDeviceToHost, buffers.stream));
	CHECK(cudaStreamEndCapture(buffers.stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

KNOWN_FUNCTION void replay_copies(cudaGraphExec_t exec)
{
	static const char maker[] = "capture_copies";

	for (int i = 0; i < NR_REPLAYS; i++)
		CHECK(cudaGraphLaunch(exec, buffers.stream));
	did_in_graph("gpu-memset", "device", __func__, maker, NR_REPLAYS,
		     NR_REPLAYS * COPY_BYTES);
	did_in_graph("gpu-memcpy", "HtoD pinned", __func__, maker, NR_REPLAYS,
		     NR_REPLAYS * COPY_BYTES);
	did_in_graph("gpu-memcpy", "DtoD", __func__, maker, NR_REPLAYS,
		     NR_REPLAYS * SMALL_BYTES);
	did_in_graph("gpu-memcpy", "DtoH pinned", __func__, maker, NR_REPLAYS,
		     NR_REPLAYS * COPY_BYTES);
}

void do_graphs(void)
{
	cudaGraphExec_t exec;

	hold_buffers();
	exec = capture_copies();
	replay_copies(exec);
	CHECK(cudaStreamSynchronize(buffers.stream));
	CHECK(cudaGraphExecDestroy(exec));
}

/* ---- between GPUs ---- */

KNOWN_FUNCTION void copy_to_peer(char *there)
{
	for (size_t i = 0; i < NR_COPIES; i++)
		CHECK(cudaMemcpyPeerAsync(there, 1, buffers.device, 0, COPY_BYTES + i,
					  buffers.stream));
	did("gpu-memcpy", "PtoP GPU0 to GPU1", __func__, NR_COPIES, SUM_BYTES);
}

KNOWN_FUNCTION char *hold_there(void)
{
	char *there;

	CHECK(cudaMalloc((void **)&there, BUFFER_BYTES));
	did("gpu-alloc", "device", __func__, 1, BUFFER_BYTES);
	return there;
}

void do_peers(void)
{
	int nr_devices, can_access;
	char *there;

	CHECK(cudaGetDeviceCount(&nr_devices));
	if (nr_devices < 2)
		return;
	hold_buffers();
	CHECK(cudaDeviceCanAccessPeer(&can_access, 0, 1));
	if (can_access)
		CHECK(cudaDeviceEnablePeerAccess(1, 0));
	CHECK(cudaSetDevice(1));
	there = hold_there();
	CHECK(cudaSetDevice(0));
	copy_to_peer(there);
	CHECK(cudaStreamSynchronize(buffers.stream));
	CHECK(cudaFree(there));
}

/* ---- gpu-alloc ---- */

/* Of several sizes; the last one stays. */
#define ALLOC_BYTES (3 * MIB + 256)
#define LEAK_BYTES  (1 * MIB + 512)

static void allocated(const char *leaf, const char *function)
{
	did("gpu-alloc", leaf, function, 2, ALLOC_BYTES + LEAK_BYTES);
	did("leaks", leaf, function, 1, LEAK_BYTES);
}

KNOWN_FUNCTION void leak_device(void)
{
	void *at;

	CHECK(cudaMalloc(&at, ALLOC_BYTES));
	CHECK(cudaFree(at));
	CHECK(cudaMalloc(&at, LEAK_BYTES));
	allocated("device", __func__);
}

KNOWN_FUNCTION void leak_pinned(void)
{
	void *at;

	CHECK(cudaMallocHost(&at, ALLOC_BYTES));
	CHECK(cudaFreeHost(at));
	CHECK(cudaHostAlloc(&at, LEAK_BYTES, cudaHostAllocPortable));
	allocated("pinned", __func__);
}

KNOWN_FUNCTION void leak_managed(void)
{
	void *at;

	CHECK(cudaMallocManaged(&at, ALLOC_BYTES, cudaMemAttachGlobal));
	CHECK(cudaFree(at));
	CHECK(cudaMallocManaged(&at, LEAK_BYTES, cudaMemAttachGlobal));
	allocated("managed", __func__);
}

/* In the order of a stream, out of the device's own pool */
KNOWN_FUNCTION void leak_async(void)
{
	void *at;

	CHECK(cudaMallocAsync(&at, ALLOC_BYTES, buffers.stream));
	CHECK(cudaFreeAsync(at, buffers.stream));
	CHECK(cudaMallocAsync(&at, LEAK_BYTES, buffers.stream));
	CHECK(cudaStreamSynchronize(buffers.stream));
	allocated("device async", __func__);
}

/* The same out of a pool that the program made */
KNOWN_FUNCTION void leak_from_pool(void)
{
	struct cudaMemPoolProps properties = {};
	cudaMemPool_t pool;
	void *at;

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	CHECK(cudaMemPoolCreate(&pool, &properties));
	CHECK(cudaMallocFromPoolAsync(&at, ALLOC_BYTES, pool, buffers.stream));
	CHECK(cudaFreeAsync(at, buffers.stream));
	CHECK(cudaMallocFromPoolAsync(&at, LEAK_BYTES, pool, buffers.stream));
	CHECK(cudaStreamSynchronize(buffers.stream));
	allocated("device async", __func__);
}

/* CUDA chooses how long a line is. */
KNOWN_FUNCTION void allocate_lines(void)
{
	size_t pitch;
	void *at;

	CHECK(cudaMallocPitch(&at, &pitch, WIDTH, HEIGHT));
	CHECK(cudaFree(at));
	did("gpu-alloc", "device", __func__, 1, pitch * HEIGHT);
}

/* The driver's function of that name, without the runtime's around it */
template <typename Function> static Function driver_function(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *entry;

	CHECK(cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault,
					       &found));
	return (Function)entry;
}

#define DRIVER(name_) driver_function<decltype(&name_)>(#name_)
#define MAP_BYTES     (4 * MIB)

/* As NCCL and PyTorch's expandable segments have their memory; the second stays. */
KNOWN_FUNCTION void leak_mapped(void)
{
	CUmemAllocationProp properties = {};
	CUmemAccessDesc access = {};
	CUmemGenericAllocationHandle memory;
	CUdeviceptr at;

	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = properties.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	for (int i = 0; i < 2; i++) {
		CHECK(DRIVER(cuMemCreate)(&memory, MAP_BYTES, &properties, 0));
		CHECK(DRIVER(cuMemAddressReserve)(&at, MAP_BYTES, 0, 0, 0));
		CHECK(DRIVER(cuMemMap)(at, MAP_BYTES, 0, memory, 0));
		CHECK(DRIVER(cuMemSetAccess)(at, MAP_BYTES, &access, 1));
		CHECK(DRIVER(cuMemRelease)(memory)); /* it stays while it is mapped */
		if (i)
			break;
		CHECK(DRIVER(cuMemUnmap)(at, MAP_BYTES));
		CHECK(DRIVER(cuMemAddressFree)(at, MAP_BYTES));
	}
	did("gpu-alloc", "device", __func__, 2, 2 * MAP_BYTES);
	did("leaks", "device", __func__, 1, MAP_BYTES);
}

void do_allocations(void)
{
	hold_buffers();
	leak_mapped();
	leak_device();
	leak_pinned();
	leak_managed();
	leak_async();
	leak_from_pool();
	allocate_lines();
}

/* ---- gpu-fault ---- */

#define MANAGED_BYTES (16 * MIB)
#define PAGE_BYTES    (4 * KIB)

extern "C" __global__ void touch_pages(char *memory, size_t bytes)
{
	size_t at = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * PAGE_BYTES;

	if (at < bytes)
		memory[at]++;
}

/* All of it is the CPU's before. */
KNOWN_FUNCTION void migrate_by_kernel(char *managed)
{
	const struct fact fact = {"gpu-kernel", "ns", "touch_pages", __func__, NULL, 1,
				  NONE, NONE, NONE};

	touch_pages<<<MANAGED_BYTES / PAGE_BYTES / 256, 256, 0, buffers.stream>>>(
		managed, MANAGED_BYTES);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(buffers.stream));
	fact__print(&fact);
	did("gpu-fault", "HtoD", __func__, NONE, MANAGED_BYTES);
}

/* While no kernel runs, it isn't known who moves it. */
KNOWN_FUNCTION void migrate_by_prefetch(char *managed, enum cudaMemLocationType to)
{
	struct cudaMemLocation where = {};

	where.type = to;
	CHECK(cudaMemPrefetchAsync(managed, MANAGED_BYTES, where, 0, buffers.stream));
	CHECK(cudaStreamSynchronize(buffers.stream));
	did("gpu-fault", to == cudaMemLocationTypeDevice ? "HtoD" : "DtoH", "-", NONE,
	    MANAGED_BYTES);
}

/* Nothing of CUDA's is called: the page faults of the CPU do it. */
KNOWN_FUNCTION long migrate_by_cpu(const volatile char *managed)
{
	long sum = 0;

	for (size_t at = 0; at < MANAGED_BYTES; at += PAGE_BYTES)
		sum += managed[at];
	did("gpu-fault", "DtoH", "-", NONE, MANAGED_BYTES);
	return sum;
}

KNOWN_FUNCTION char *hold_managed(void)
{
	char *managed;

	CHECK(cudaMallocManaged((void **)&managed, MANAGED_BYTES, cudaMemAttachGlobal));
	memset(managed, 1, MANAGED_BYTES);
	did("gpu-alloc", "managed", __func__, 1, MANAGED_BYTES);
	return managed;
}

void do_faults(void)
{
	char *managed;

	hold_buffers();
	managed = hold_managed();
	migrate_by_prefetch(managed, cudaMemLocationTypeDevice);
	migrate_by_prefetch(managed, cudaMemLocationTypeHost);
	migrate_by_kernel(managed);
	CHECK(cudaFree(managed));
}

void do_touches(void)
{
	char *managed;

	hold_buffers();
	managed = hold_managed();
	migrate_by_prefetch(managed, cudaMemLocationTypeDevice);
	migrate_by_cpu(managed);
	CHECK(cudaFree(managed));
}

void print_migrations(void)
{
	printf("touch_pages HtoD %lu %lu\n", MANAGED_BYTES, MANAGED_BYTES / PAGE_BYTES);
}
