// SPDX-License-Identifier: GPL-2.0-or-later
/* Each version of CUPTI has its own functions and sizes of records. */
#include "profiler.h"

#include <cupti_activity_deprecated.h>

#define MAX_RECORDS 256

/* What was in the buffers, by the bytes from each record to the next */
static struct {
	CUpti_ActivityKind kind;
	size_t bytes;
	union {
		CUpti_ActivityKernel10 kernel;
		CUpti_ActivityMemcpy6 copy;
		char bytes[512];
	} content;
} records[MAX_RECORDS];
static size_t nr_records, nr_buffers;

static void add_record(const CUpti_Activity *record, size_t bytes)
{
	CHECK(nr_records < MAX_RECORDS);
	CHECK(bytes <= sizeof(records->content));
	records[nr_records].kind = record->kind;
	records[nr_records].bytes = bytes;
	memcpy(records[nr_records++].content.bytes, record, bytes);
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
				 size_t size, size_t used)
{
	CUpti_Activity *record = NULL, *last = NULL;

	(void)context;
	(void)stream;
	(void)size;
	nr_buffers++;
	while (!cuptiActivityGetNextRecord(buffer, used, &record)) {
		if (last)
			add_record(last, (size_t)((char *)record - (char *)last));
		last = record;
	}
	if (last)
		add_record(last, (size_t)((char *)buffer + used - (char *)last));
	free(buffer);
}

/* 0: there was none; all of a kind are of one size. */
static size_t size_of(CUpti_ActivityKind kind)
{
	size_t bytes = 0;

	for (size_t i = 0; i < nr_records; i++) {
		if (records[i].kind != kind)
			continue;
		CHECK(!bytes || bytes == records[i].bytes);
		bytes = records[i].bytes;
	}
	return bytes;
}

static bool has(const char *function)
{
	return dlsym(RTLD_DEFAULT, function);
}

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
	CUPTI_ACTIVITY_KIND_MEMORY2,
	CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
	CUPTI_ACTIVITY_KIND_CONTEXT,
	CUPTI_ACTIVITY_KIND_DEVICE,
};
#define NR_KINDS (sizeof(kinds) / sizeof(*kinds))

static void start(const char *version, uint32_t wanted_number)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config = {
		.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
		.enable = 1,
	};
	uint32_t number;
	int nr_devices;

	setenv("FAKE_CUDA_CUPTI_VERSION", version, 1);
	setenv("FAKE_CUDA_DEVICES", "2", 1);
	setenv("FAKE_CUDA_INSTANT", "1", 1);
	CHECK_EQ(cuptiGetVersion(&number), 0);
	CHECK_EQ(number, wanted_number);
	CHECK_EQ(cuptiActivityRegisterCallbacks(profiler__give_buffer, take_buffer), 0);
	CHECK_EQ(cudaGetDeviceCount(&nr_devices), 0);
	CHECK_EQ(cuptiActivityConfigureUnifiedMemoryCounter(&config, 1), 0);
	for (size_t i = 0; i < NR_KINDS; i++)
		CHECK_EQ(cuptiActivityEnable(kinds[i]),
			 kinds[i] == CUPTI_ACTIVITY_KIND_MEMORY2 && number < 15
				 ? CUPTI_ERROR_INVALID_KIND
				 : 0);
}

static void work(void)
{
	const struct cudaMemLocation gpu = {.type = cudaMemLocationTypeDevice, .id = 0};
	void *memory[2], *managed;
	char host[100];

	for (int i = 1; i >= 0; i--) {
		CHECK_EQ(cudaSetDevice(i), 0);
		CHECK_EQ(cudaMalloc(&memory[i], 100), 0);
	}
	CHECK_EQ(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal), 0);
	for (int i = 0; i < 10; i++)
		launch(NULL);
	CHECK_EQ(cudaMemcpy(memory[0], host, 100, cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemcpyPeer(memory[1], 1, memory[0], 0, 100), 0);
	CHECK_EQ(cudaMemset(memory[0], 0, 100), 0);
	CHECK_EQ(cudaMemPrefetchAsync(managed, 100, gpu, 0, NULL), 0);
	CHECK_EQ(cudaStreamSynchronize(NULL), 0);
	finish();
}

static void check_sizes(const size_t *wanted)
{
	work();
	for (size_t i = 0; i < NR_KINDS; i++)
		CHECK_EQ(size_of(kinds[i]), wanted[i]);
	for (size_t i = 0; i < nr_records; i++) {
		if (records[i].kind == CUPTI_ACTIVITY_KIND_MEMCPY)
			CHECK_EQ(records[i].content.copy.bytes, 100);
		if (records[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			CHECK_STR(records[i].content.kernel.name, KERNEL);
	}
}

#define SIZES(kernel_, memcpy_, peer_, memset_, wait_, memory_, migration_, context_, \
	      device_)                                                                \
	((const size_t[]){                                                            \
		sizeof(CUpti_Activity##kernel_), sizeof(CUpti_Activity##memcpy_),     \
		sizeof(CUpti_Activity##peer_), sizeof(CUpti_Activity##memset_),       \
		sizeof(CUpti_Activity##wait_), memory_,                               \
		sizeof(CUpti_Activity##migration_), sizeof(CUpti_Activity##context_), \
		sizeof(CUpti_Activity##device_)})

TEST(cuda_11_0)
{
	start("11.0", 13);
	CHECK(!has("cuptiActivityFlushPeriod"));
	CHECK(!has("cuptiGetGraphId"));
	CHECK(has("cuptiGetGraphNodeId"));
	check_sizes(SIZES(Kernel5, Memcpy3, MemcpyPtoP2, Memset2, Synchronization, 0,
			  UnifiedMemoryCounter2, Context, Device2));
}

TEST(cuda_11_4)
{
	const char *name;

	start("11.4", 15);
	CHECK(!has("cuptiActivityRegisterTimestampCallback"));
	CHECK(!has("cuptiSubscribe_v2"));
	CHECK(has("cuptiActivityFlushPeriod"));
	CHECK_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API,
				      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
				      &name),
		 0);
	CHECK_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API,
				      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
				      &name),
		 CUPTI_ERROR_INVALID_PARAMETER);
	check_sizes(SIZES(Kernel6, Memcpy4, MemcpyPtoP3, Memset3, Synchronization,
			  sizeof(CUpti_ActivityMemory2), UnifiedMemoryCounter2, Context,
			  Device2));
}

TEST(cuda_11_8)
{
	start("11.8", 18);
	CHECK(has("cuptiActivityRegisterTimestampCallback"));
	CHECK(!has("cuptiGetErrorMessage"));
	check_sizes(SIZES(Kernel8, Memcpy5, MemcpyPtoP4, Memset4, Synchronization,
			  sizeof(CUpti_ActivityMemory3), UnifiedMemoryCounter2, Context,
			  Device4));
}

TEST(cuda_12_0)
{
	start("12.0", 19);
	check_sizes(SIZES(Kernel9, Memcpy5, MemcpyPtoP4, Memset4, Synchronization,
			  sizeof(CUpti_ActivityMemory3), UnifiedMemoryCounter2, Context,
			  Device4));
}

TEST(cuda_12_4)
{
	start("12.4", 22);
	CHECK(!has("cuptiActivityEnableDriverApi"));
	CHECK(!has("cuptiActivityEnableRuntimeApi"));
	CHECK(has("cuptiGetGraphExecId"));
	check_sizes(SIZES(Kernel9, Memcpy5, MemcpyPtoP4, Memset4, Synchronization,
			  sizeof(CUpti_ActivityMemory3), UnifiedMemoryCounter2, Context2,
			  Device4));
}

TEST(cuda_12_8)
{
	start("12.8", 26);
	CHECK(has("cuptiActivityEnableDriverApi"));
	CHECK(!has("cuptiSubscribe_v2"));
	check_sizes(SIZES(Kernel9, Memcpy6, MemcpyPtoP4, Memset4, Synchronization2,
			  sizeof(CUpti_ActivityMemory4), UnifiedMemoryCounter3, Context3,
			  Device5));
}

TEST(cuda_13_0_is_that_of_the_headers)
{
	start("13.0", CUPTI_API_VERSION);
	CHECK(has("cuptiSubscribe_v2"));
	check_sizes(SIZES(Kernel10, Memcpy6, MemcpyPtoP4, Memset4, Synchronization2,
			  sizeof(CUpti_ActivityMemory4), UnifiedMemoryCounter3, Context3,
			  Device5));
}

TEST(cuda_13_2_has_longer_kernels_and_devices)
{
	start("13.2", 130200);
	work();
	CHECK_EQ(size_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		 sizeof(CUpti_ActivityKernel10) + 8);
	CHECK_EQ(size_of(CUPTI_ACTIVITY_KIND_DEVICE), sizeof(CUpti_ActivityDevice5) + 8);
}

static size_t nr_of(CUpti_ActivityKind kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_records; i++)
		nr += records[i].kind == kind;
	return nr;
}

static void *launch_one(void *unused)
{
	(void)unused;
	launch(NULL);
	return NULL;
}

/* How many buffers two threads fill, one kernel each */
static size_t nr_buffers_of_two_threads(void)
{
	pthread_t thread;

	CHECK_EQ(cudaFree(NULL), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	nr_buffers = 0;
	launch(NULL);
	CHECK_EQ(pthread_create(&thread, NULL, launch_one, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	return nr_buffers;
}

TEST(threads_have_buffers_of_their_own)
{
	start("13.0", CUPTI_API_VERSION);
	CHECK_EQ(nr_buffers_of_two_threads(), 2);
}

TEST(threads_of_older_ones_share_a_buffer)
{
	start("12.9", 27);
	CHECK_EQ(nr_buffers_of_two_threads(), 1);
}

TEST(older_ones_have_no_records_of_queries_and_of_waits_for_a_context)
{
	start("12.8", 26);
	CHECK_EQ(cudaStreamQuery(NULL), 0);
	work();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), 1);
}

TEST(newer_ones_have_them)
{
	start("13.0", CUPTI_API_VERSION);
	CHECK_EQ(cudaStreamQuery(NULL), 0);
	work();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), 3);
}

TEST(version_between_is_the_one_before)
{
	start("12.7", 24);
	work();
	CHECK_EQ(size_of(CUPTI_ACTIVITY_KIND_MEMCPY), sizeof(CUpti_ActivityMemcpy5));
}

TEST(unknown_version_has_tails_and_kinds_of_its_own)
{
	size_t nr_unknown = 0, nr_kernels = 0;

	start("99.0", 990000);
	work();
	CHECK(size_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) >
	      sizeof(CUpti_ActivityKernel10) + 8);
	CHECK_EQ(size_of(CUPTI_ACTIVITY_KIND_MEMSET), sizeof(CUpti_ActivityMemset4) + 32);
	for (size_t i = 0; i < nr_records; i++) {
		nr_unknown += records[i].kind >= CUPTI_ACTIVITY_KIND_COUNT;
		if (records[i].kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			continue;
		nr_kernels++;
		CHECK_STR(records[i].content.kernel.name, KERNEL);
	}
	CHECK_EQ(nr_kernels, 10);
	CHECK(nr_unknown);
}

TEST(without_the_knob_it_is_the_headers_version)
{
	uint32_t number;

	profiler__start();
	CHECK_EQ(cuptiGetVersion(&number), 0);
	CHECK_EQ(number, CUPTI_API_VERSION);
	plain_kernel__launch(1);
	finish();
	CHECK_EQ(profiler.nr_kernels, 1);
}

/* The version that a copy of the library with a name plays */
static uint32_t version_of_copy(const char *name)
{
	__typeof__(&cuptiGetVersion) get_version;
	char folder[] = "/tmp/fake_cuda-test.XXXXXX", path[256], command[600];
	uint32_t number = 0;
	void *handle;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(command, sizeof(command), "cp %s/libcupti.so.13 %s", FAKE_CUDA_DIR,
		 path);
	CHECK_EQ(system(command), 0);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(handle);
	get_version = dlsym(handle, "cuptiGetVersion");
	CHECK(get_version != cuptiGetVersion);
	CHECK_EQ(get_version(&number), 0);
	CHECK(number > 100 || !dlsym(handle, "cuptiSubscribe_v2"));
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(folder), 0);
	return number;
}

TEST(name_of_the_library_tells_its_version)
{
	CHECK_EQ(version_of_copy("libcupti.so.11.8"), 18);
	CHECK_EQ(version_of_copy("libcupti.so.12"), 27);
	CHECK_EQ(version_of_copy("libcupti.so.13"), CUPTI_API_VERSION);
	CHECK_EQ(version_of_copy("libcupti.so.2025.3.1"), CUPTI_API_VERSION);
}
