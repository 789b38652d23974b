// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of which API functions the calls are recorded (cupti_inject/api_name.c): by the names of
 * all functions that the header here has, which are CUPTI's.
 */
#include "unit.h"

#include "../../cupti_inject/api_name.h"
#include "gpu_log.h"

#define KERNEL GPU_LOG_KIND_BIT(GPU_LOG_KIND_KERNEL)
#define MEMCPY GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMCPY)
#define MEMSET GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMSET)
#define SYNC   GPU_LOG_KIND_BIT(GPU_LOG_KIND_SYNC)
#define CALL   GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL)
#define MEMORY GPU_LOG_KIND_BIT(GPU_LOG_KIND_MEMORY)
#define FAULT  GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT)

static const char *const names[][API_MAX_CBIDS] = {
	{
#include "runtime_names.h"
	},
	{
#include "driver_names.h"
	},
};

/* Calls CHECK(name) for each. */
#define FOR_EACH_NAME(name)                                         \
	for (size_t domain = 0; domain < 2; domain++)               \
		for (size_t cbid = 0; cbid < API_MAX_CBIDS; cbid++) \
			for (const char *name = names[domain][cbid]; name; name = NULL)

/* "cudaMemset" of "cudaMemset2DAsync_ptsz_v7000", if it is one of a list; else NULL */
static const char *find_begin(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strncmp(name, *list, strlen(*list)))
			return *list;
	return NULL;
}

static bool has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

TEST(the_header_has_names)
{
	size_t nr[2] = {};

	FOR_EACH_NAME(name)
	nr[domain]++;
	CHECK(nr[0] > 400);
	CHECK(nr[1] > 700);
}

/* One of each variant */
TEST(functions_have_the_kinds_that_they_do)
{
	static const struct {
		const char *name;
		uint32_t kinds;
	} functions[] = {
		{"cudaLaunch_v3020", KERNEL | CALL},
		{"cudaLaunchKernel_v7000", KERNEL | CALL},
		{"cudaLaunchKernel_ptsz_v7000", KERNEL | CALL},
		{"__cudaLaunchKernel_v13000", KERNEL | CALL},
		{"cudaLaunchKernelExC_v11060", KERNEL | CALL},
		{"cudaLaunchCooperativeKernelMultiDevice_v9000", KERNEL | CALL},
		{"cuLaunch", KERNEL | CALL},
		{"cuLaunchGridAsync", KERNEL | CALL},
		{"cuLaunchKernelEx_ptsz", KERNEL | CALL},
		{"cudaLaunchHostFunc_v10000", 0},
		{"cuLaunchHostFunc_ptsz", 0},
		{"cudaGraphLaunch_v10000", KERNEL | MEMCPY | MEMSET | CALL},
		{"cuGraphLaunch_ptsz", KERNEL | MEMCPY | MEMSET | CALL},
		{"cudaMemcpy_v3020", MEMCPY | SYNC | CALL},
		{"cudaMemcpyToSymbolAsync_v3020", MEMCPY | SYNC | MEMORY | CALL},
		{"cudaGetSymbolAddress_v3020", MEMORY},
		{"cudaMemcpy2DFromArray_ptds_v7000", MEMCPY | SYNC | CALL},
		{"cudaMemcpy3DPeerAsync_ptsz_v7000", MEMCPY | SYNC | CALL},
		{"cudaMemcpyBatchAsync_v12080", MEMCPY | SYNC | CALL},
		{"cu64MemcpyDtoHAsync", MEMCPY | SYNC | CALL},
		{"cuMemcpyHtoDAsync_v2_ptsz", MEMCPY | SYNC | CALL},
		{"cuMemcpy3DBatchAsync_v2", MEMCPY | SYNC | CALL},
		{"cuMemcpy2DUnaligned_v2_ptds", MEMCPY | SYNC | CALL},
		{"cudaMemPrefetchAsync_v8000", MEMCPY | FAULT | CALL},
		{"cuMemPrefetchBatchAsync_ptsz", MEMCPY | FAULT | CALL},
		{"cuMemDiscardAndPrefetchBatchAsync", MEMCPY | FAULT | CALL},
		{"cuMemDiscardBatchAsync", 0},
		{"cudaMemset3DAsync_ptsz_v7000", MEMSET | SYNC | CALL},
		{"cuMemsetD2D32Async", MEMSET | SYNC | CALL},
		{"cuMemsetD8_v2_ptds", MEMSET | SYNC | CALL},
		{"cudaDeviceSynchronize_v3020", SYNC},
		{"cudaThreadSynchronize_v3020", SYNC},
		{"cudaStreamSynchronize_ptsz_v7000", SYNC},
		{"cudaEventSynchronize_v3020", SYNC},
		{"cuCtxSynchronize_v2", SYNC},
		{"cudaStreamWaitEvent_v3020", SYNC},
		{"cuGreenCtxWaitEvent", SYNC},
		{"cudaEventQuery_v3020", SYNC},
		{"cudaStreamQuery_v3020", SYNC},
		{"cudaMalloc_v3020", MEMORY},
		{"cudaMalloc3DArray_v3020", MEMORY},
		{"cudaMallocFromPoolAsync_ptsz_v11020", MEMORY},
		{"cudaHostAlloc_v3020", MEMORY},
		{"cudaHostRegister_v4000", MEMORY},
		{"cuMemAllocManaged", MEMORY},
		{"cuMemHostRegister_v2", MEMORY},
		{"cuArray3DCreate_v2", MEMORY},
		{"cuMipmappedArrayCreate", MEMORY},
		{"cuMemCreate", MEMORY},
		{"cuMemMap", MEMORY},
		{"cuMemSetAccess", MEMORY},
		{"cuMemMapArrayAsync_ptsz", 0},
		{"cuModuleLoadDataEx", MEMORY},
		{"cudaLibraryLoadData_v12080", MEMORY},
		{"cudaFree_v3020", MEMORY | SYNC},
		{"cudaFreeHost_v3020", MEMORY | SYNC},
		{"cudaFreeAsync_v11020", MEMORY},
		{"cuMemFreeAsync_ptsz", MEMORY},
		{"cuMemFree_v2", MEMORY | SYNC},
		{"cuMemPoolDestroy", MEMORY | SYNC},
		{"cudaDeviceReset_v3020", MEMORY | SYNC},
		{"cudaMemGetInfo_v3020", 0},
		{"cudaMemRangeGetAttribute_v8000", 0},
		{"cudaMemAdvise_v8000", 0},
		{"cuMemAddressReserve", 0},
		{"cudaGraphAddMemcpyNode_v10000", 0},
		{"cudaGraphMemcpyNodeSetParams_v10000", 0},
		{"cudaHostGetDevicePointer_v3020", 0},
		{"cudaMipmappedArrayGetSparseProperties_v11010", 0},
		{"INVALID", 0},
		{"", 0},
		/* That there aren't, yet */
		{"cudaSpecialLaunchKernel_v15000", KERNEL | MEMCPY | MEMSET | CALL},
		{"cudaMemcpyTwice_v15000", MEMCPY | SYNC | CALL},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		CHECK_EQ(api_name__kinds(functions[i].name), functions[i].kinds);
}

/*
 * Whatever the header has with such words is taken, but for questions and those that are
 * named here.
 */
TEST(none_is_missed)
{
	static const char *const words[] = {
		"Launch",  "Memcpy",   "Memset", "Prefetch",	"Alloc",     "Malloc",
		"Free",	   "Register", "Create", "Synchronize", "WaitEvent", "Query",
		"Destroy", "Load",     "Unload", "Reset",	NULL};
	static const char *const others[] = {
		"cudaLaunchHostFunc", "cuLaunchHostFunc",
		/* Of nodes, which graph.c knows; graphs; and what is the program's own */
		"cudaGraph", "cuGraph", "cudaUserObject", "cuUserObject",
		/* Graphics */
		"cudaD3D", "cuD3D", "cudaGL", "cuGL", "cudaEGL", "cuEGL", "cudaVDPAU",
		"cuVDPAU", "cuNN", "cudaEventCreateFromEGLSync",
		/* No memory of the GPU's, or not what is counted as such */
		"cuMemAddressFree", "cuMemRetainAllocationHandle", "cudaMemAdvise",
		"cuBinaryFree", "cuTensorMap", "cuMemPeerRegister", "cuMemPeerUnregister",
		"cudaPeerRegister", "cudaPeerUnregister", "cuMulticastCreate",
		"cuMultiKernel", "cuLink", "__cudaRegister", "__cudaUnregister",
		"cudaArrayGet",
		/* Streams, events, contexts, ... that come and go without */
		"cudaStream", "cuStream", "cudaEvent", "cuEvent", "cuGreenCtx",
		"cuCtxCreate", "cuCtxResetPersistingL2Cache",
		"cudaCtxResetPersistingL2Cache", "cudaCreate", "cudaDestroy", "cuDestroy",
		"cuSurf", "cuTex", "cuSemaphore", "cudaDeviceRegisterAsyncNotification",
		"cuDeviceRegisterAsyncNotification",
		"cudaDeviceUnregisterAsyncNotification",
		"cuDeviceUnregisterAsyncNotification", "cudaLogs", "cuLogs",
		"cuFuncIsLoaded", "cuFuncLoad", "cuModuleGetLoadingMode", NULL};

	unsigned int nr_missed = 0;

	FOR_EACH_NAME(name)
	{
		if (!has_any(name, words) || strstr(name, "Get") || api_name__kinds(name))
			continue;
		if (!find_begin(name, others))
			printf("# %s isn't taken\n", name);
		nr_missed += !find_begin(name, others);
	}
	CHECK_EQ(nr_missed, 0);
}

/* What is taken begins so, behind cu, and is no question. */
TEST(none_is_taken_wrongly)
{
	static const char *const begins[] = {
		/* work */
		"Launch", "GraphLaunch", "Memcpy", "Memset", "MemPrefetch",
		"MemDiscardAndPrefetch",
		/* waiting */
		"DeviceSynchronize", "ThreadSynchronize", "CtxSynchronize",
		"StreamSynchronize", "EventSynchronize", "StreamQuery", "EventQuery",
		"StreamWaitEvent", "CtxWaitEvent", "GreenCtxWaitEvent",
		/* memory */
		"Malloc", "MemAlloc", "HostAlloc", "MemHostAlloc", "HostRegister",
		"MemHostRegister", "HostUnregister", "MemHostUnregister", "GetSymbol",
		"Free", "MemFree", "ArrayCreate", "Array3DCreate", "ArrayDestroy",
		"MipmappedArrayCreate", "MipmappedArrayDestroy", "MemPoolCreate",
		"MemPoolDestroy", "MemCreate", "MemRelease", "MemMap", "MemUnmap",
		"MemSetAccess", "ModuleLoad", "ModuleUnload", "LibraryLoad",
		"LibraryUnload", "CtxDestroy", "CtxDetach", "DevicePrimaryCtxRelease",
		"DevicePrimaryCtxReset", "DeviceReset", "ThreadExit", NULL};
	static const char *const questions[] = {"Get", "Is", "Info", NULL};
	/* It may be answered by allocating. */
	static const char *const allowed[] = {"cudaGetSymbol", NULL};

	unsigned int nr_wrong = 0;

	FOR_EACH_NAME(name)
	{
		const char *rest = strstr(name, "cuda")	       ? strstr(name, "cuda") + 4
				   : !strncmp(name, "cu64", 4) ? name + 4
							       : name + 2;

		if (!api_name__kinds(name))
			continue;
		if (!find_begin(rest, begins) ||
		    (has_any(name, questions) && !find_begin(name, allowed))) {
			printf("# %s is taken\n", name);
			nr_wrong++;
		}
	}
	CHECK_EQ(nr_wrong, 0);
}

/* What stream a function is for by default, or which version it is of, changes nothing. */
TEST(variants_are_alike)
{
	FOR_EACH_NAME(name)
	{
		char other[128];

		snprintf(other, sizeof(other), "%s_ptsz", name);
		CHECK_EQ(api_name__kinds(other), api_name__kinds(name));
		snprintf(other, sizeof(other), "%s_v2", name);
		CHECK_EQ(api_name__kinds(other), api_name__kinds(name));
	}
}

TEST(public_names_have_no_versions_of_cupti)
{
	char name[128];

	api_name__public("__cudaLaunchKernel_v13000", name, sizeof(name));
	CHECK_STR(name, "cudaLaunchKernel");
	api_name__public("cuMemAlloc_v2", name, sizeof(name));
	CHECK_STR(name, "cuMemAlloc_v2");
	api_name__public("cudaMemcpyAsync_ptsz_v7000", name, sizeof(name));
	CHECK_STR(name, "cudaMemcpyAsync_ptsz");
}
