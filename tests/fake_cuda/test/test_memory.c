// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocations and migrations have their records, and the truth has all there is. */
#include "events.h"

static const CUpti_ActivityMemory4 *check_memory(size_t n, int operation, int kind,
						 uint64_t bytes)
{
	const union profiler_event *found = event(CUPTI_ACTIVITY_KIND_MEMORY2, n);

	CHECK(found);
	CHECK_EQ(found->memory.memoryOperationType, operation);
	CHECK_EQ(found->memory.memoryKind, kind);
	CHECK_EQ(found->memory.bytes, bytes);
	CHECK(found->memory.address && found->memory.timestamp);
	CHECK_EQ(found->memory.processId, getpid());
	return &found->memory;
}

#define ALLOCATED(n_, kind_, bytes_)                                      \
	check_memory(n_, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, \
		     CUPTI_ACTIVITY_MEMORY_KIND_##kind_, bytes_)
#define FREED(n_, kind_, bytes_)                                       \
	check_memory(n_, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, \
		     CUPTI_ACTIVITY_MEMORY_KIND_##kind_, bytes_)

TEST(memory_has_a_record_when_it_comes_and_when_it_goes)
{
	const struct cudaChannelFormatDesc format = {.x = 32};
	const CUpti_ActivityMemory4 *memory;
	static char registered[4096];
	void *device, *pinned, *other, *managed, *pitched;
	cudaArray_t array;
	size_t pitch;
	uint32_t id;

	profiler__start();
	profiler__enable(CUPTI_CB_DOMAIN_RUNTIME_API);
	record(CUPTI_ACTIVITY_KIND_MEMORY2);
	CHECK_EQ(cudaMalloc(&device, 1000), 0);
	id = last_id();
	CHECK_EQ(cudaMallocHost(&pinned, 2000), 0);
	CHECK_EQ(cudaHostAlloc(&other, 3000, cudaHostAllocDefault), 0);
	CHECK_EQ(cudaMallocManaged(&managed, 4000, cudaMemAttachGlobal), 0);
	CHECK_EQ(cudaMallocPitch(&pitched, &pitch, 100, 10), 0);
	CHECK_EQ(cudaMallocArray(&array, &format, 8, 8, 0), 0);
	CHECK_EQ(cudaHostRegister(registered, sizeof(registered), 0), 0);
	CHECK_EQ(cudaHostUnregister(registered), 0);
	CHECK_EQ(cudaFree(device), 0);
	CHECK_EQ(cudaFree(NULL), 0);
	CHECK_EQ(cudaFreeHost(pinned), 0);
	CHECK_EQ(cudaFreeHost(other), 0);
	CHECK_EQ(cudaFree(managed), 0);
	CHECK_EQ(cudaFree(pitched), 0);
	CHECK_EQ(cudaFreeArray(array), 0);
	CHECK_EQ(cudaFree(device), cudaErrorInvalidValue);
	finish();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMORY2), 12);
	memory = ALLOCATED(0, DEVICE, 1000);
	CHECK_EQ(memory->correlationId, id);
	CHECK_EQ(memory->streamId, CUPTI_INVALID_STREAM_ID);
	CHECK_EQ(memory->isAsync, 0);
	CHECK(memory->address == (uintptr_t)device);
	CHECK(!memory->name);
	ALLOCATED(1, PINNED, 2000);
	ALLOCATED(2, PINNED, 3000);
	ALLOCATED(3, MANAGED, 4000);
	ALLOCATED(4, DEVICE, 5120);
	ALLOCATED(5, ARRAY, 256);
	CHECK(FREED(6, DEVICE, 1000)->address == (uintptr_t)device);
	FREED(7, PINNED, 2000);
	FREED(8, PINNED, 3000);
	FREED(9, MANAGED, 4000);
	FREED(10, DEVICE, 5120);
	FREED(11, ARRAY, 256);
}

/* What nvcc's code calls before main() for a __device__ variable */
static int variable;

static void register_variable(void)
{
	void **(*add_binary)(void *) = dlsym(RTLD_DEFAULT, "__cudaRegisterFatBinary");
	void (*add_variable)(void **, char *, char *, const char *, int, size_t, int,
			     int) = dlsym(RTLD_DEFAULT, "__cudaRegisterVar");
	static char image[] = "first";

	CHECK(add_binary && add_variable);
	add_variable(add_binary(image), (char *)&variable, NULL, "a_variable", 0,
		     sizeof(variable), 0, 0);
}

TEST(variable_has_memory_of_its_own_kind_and_name)
{
	const CUpti_ActivityMemory4 *memory;
	int value = 7, back = 0;

	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMORY2);
	record(CUPTI_ACTIVITY_KIND_MEMCPY);
	register_variable();
	CHECK_EQ(cudaMemcpyToSymbol(&variable, &value, 4, 0, cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemcpyFromSymbol(&back, &variable, 4, 0, cudaMemcpyDeviceToHost), 0);
	CHECK_EQ(back, 7);
	finish();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMORY2), 1);
	memory = ALLOCATED(0, DEVICE_STATIC, sizeof(variable));
	CHECK_STR(memory->name, "a_variable");
	CHECK_EQ(memory->correlationId, 0);
	CHECK_EQ(memory->contextId, 0);
	CHECK_EQ(memory->streamId, 0);
	/* Copies don't tell it apart. */
	CHECK_EQ(event(CUPTI_ACTIVITY_KIND_MEMCPY, 0)->copy.dstKind,
		 CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
}

TEST(memory_of_a_pool_is_in_a_stream_s_order)
{
	const struct cudaMemPoolProps props = {
		.allocType = cudaMemAllocationTypePinned,
		.location = {.type = cudaMemLocationTypeDevice, .id = 0},
	};
	const CUpti_ActivityMemory4 *memory;
	cudaStream_t stream;
	cudaMemPool_t pool;
	uint32_t stream_id;
	void *first, *second;

	profiler__start();
	record(CUPTI_ACTIVITY_KIND_MEMORY2);
	CHECK_EQ(cudaStreamCreate(&stream), 0);
	CHECK_EQ(cuptiGetStreamIdEx(NULL, stream, 0, &stream_id), 0);
	CHECK_EQ(cudaMemPoolCreate(&pool, &props), 0);
	CHECK_EQ(cudaMallocAsync(&first, 1000, stream), 0);
	CHECK_EQ(cudaMallocFromPoolAsync(&second, 500, pool, stream), 0);
	CHECK_EQ(cudaFreeAsync(second, stream), 0);
	CHECK_EQ(cudaFree(first), 0);
	CHECK_EQ(cudaMemPoolDestroy(pool), 0);
	finish();
	CHECK_EQ(nr_of(CUPTI_ACTIVITY_KIND_MEMORY2), 4);
	memory = ALLOCATED(0, DEVICE, 1000);
	CHECK_EQ(memory->isAsync, 1);
	CHECK_EQ(memory->streamId, stream_id);
	CHECK_EQ(memory->memoryPoolConfig.memoryPoolType,
		 CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
	CHECK_EQ(memory->memoryPoolConfig.utilizedSize, 1000);
	CHECK_EQ(ALLOCATED(1, DEVICE, 500)->memoryPoolConfig.utilizedSize, 500);
	memory = FREED(2, DEVICE, 500);
	CHECK_EQ(memory->isAsync, 1);
	CHECK_EQ(memory->memoryPoolConfig.utilizedSize, 0);
	CHECK_EQ(memory->memoryPoolConfig.pool.size, 500);
	CHECK_EQ(FREED(3, DEVICE, 1000)->isAsync, 0);
}

TEST(counters_of_unified_memory_come_behind_the_driver)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config = {
		.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD};

	CHECK_EQ(cuptiActivityConfigureUnifiedMemoryCounter(&config, 1),
		 CUPTI_ERROR_NOT_INITIALIZED);
}

static void configure_counters(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig configs[] = {
		{.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
		 .enable = 1},
		{.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
		 .enable = 1},
		{.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
		 .enable = 1},
	};
	int nr_devices;

	CHECK_EQ(cudaGetDeviceCount(&nr_devices), 0);
	CHECK_EQ(cuptiActivityConfigureUnifiedMemoryCounter(configs, 3), 0);
	record(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

static uint64_t sum_of_counter(CUpti_ActivityUnifiedMemoryCounterKind kind,
			       size_t *ret_nr)
{
	const union profiler_event *found;
	uint64_t sum = 0;

	*ret_nr = 0;
	for (size_t i = 0; (found = event(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, i));
	     i++) {
		if (found->migration.counterKind != kind)
			continue;
		sum += found->migration.value;
		++*ret_nr;
	}
	return sum;
}

TEST(prefetched_memory_migrates_once)
{
	const struct cudaMemLocation gpu = {.type = cudaMemLocationTypeDevice, .id = 0};
	const struct cudaMemLocation cpu = {.type = cudaMemLocationTypeHost};
	const CUpti_ActivityUnifiedMemoryCounter3 *first;
	void *managed, *device;
	size_t nr;

	profiler__start();
	configure_counters();
	CHECK_EQ(cudaMallocManaged(&managed, 5 * MB, cudaMemAttachGlobal), 0);
	CHECK_EQ(cudaMalloc(&device, MB), 0);
	CHECK_EQ(cudaMemPrefetchAsync(managed, 5 * MB, gpu, 0, NULL), 0);
	CHECK_EQ(cudaMemPrefetchAsync(managed, 5 * MB, gpu, 0, NULL), 0);
	CHECK_EQ(cudaMemPrefetchAsync(managed, 5 * MB, cpu, 0, NULL), 0);
	CHECK_EQ(cudaMemPrefetchAsync(device, MB, cpu, 0, NULL), cudaErrorInvalidValue);
	finish();
	CHECK_EQ(sum_of_counter(
			 CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
			 &nr),
		 5 * MB);
	CHECK_EQ(nr, 3);
	CHECK_EQ(sum_of_counter(
			 CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
			 &nr),
		 5 * MB);
	first = &event(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 0)->migration;
	CHECK_EQ(first->flags, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH);
	CHECK_EQ(first->dstId, 0);
	CHECK(first->address == (uintptr_t)managed);
	CHECK(first->start < first->end);
}

TEST(script_plays_migrations_with_a_kernel)
{
	const union profiler_event *found;
	size_t nr;

	set_script("FAKE_CUDA_DURATIONS", "plain_kernel 1000000\n");
	set_script("FAKE_CUDA_MIGRATIONS", "# a comment\nplain HtoD 3000000 4\n");
	profiler__start();
	launch(NULL); /* before: not recorded */
	finish();
	configure_counters();
	launch(NULL);
	finish();
	unset_script("FAKE_CUDA_DURATIONS");
	unset_script("FAKE_CUDA_MIGRATIONS");
	CHECK_EQ(sum_of_counter(
			 CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
			 &nr),
		 3000000);
	CHECK_EQ(nr, 2);
	sum_of_counter(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, &nr);
	CHECK_EQ(nr, 4);
	CHECK_EQ(profiler.nr_kernels, 2);
	for (size_t i = 0; (found = event(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, i));
	     i++) {
		CHECK(found->migration.start >= profiler.kernels[1].start);
		CHECK(found->migration.end <= profiler.kernels[1].end);
	}
}

/* The lines of the truth that begin with "# " and @what */
static void check_truth(const char *path, const char *what, const char *wanted)
{
	char line[256], found[2048] = "";
	FILE *file = fopen(path, "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "# ", 2) && !strncmp(line + 2, what, strlen(what)))
			strncat(found, line, sizeof(found) - strlen(found) - 1);
	fclose(file);
	CHECK_STR(found, wanted);
}

static void work_for_truth(void)
{
	void *device, *leaked, *pinned;
	char host[100];

	CHECK_EQ(cudaMalloc(&device, 1000), 0);
	CHECK_EQ(cudaMalloc(&leaked, 300), 0);
	CHECK_EQ(cudaMallocHost(&pinned, 50), 0);
	CHECK_EQ(cudaMemcpy(device, host, 100, cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemcpy(device, host, 60, cudaMemcpyHostToDevice), 0);
	CHECK_EQ(cudaMemset(device, 0, 1000), 0);
	CHECK_EQ(cudaFree(device), 0);
	plain_kernel__launch(1);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
}

TEST(truth_has_all_of_it)
{
	const char *path;
	pid_t pid;

	set_script("FAKE_CUDA_TRUTH", "");
	set_script("FAKE_CUDA_DURATIONS",
		   "memcpy HtoD 1000\nmemset 2000\nplain_kernel 5000\n");
	setenv("FAKE_CUDA_INSTANT", "1", 1);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		work_for_truth();
		exit(0);
	}
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	path = getenv("FAKE_CUDA_TRUTH");
	check_truth(path, "memcpy",
		    "# memcpy 0 HtoD pageable device 2 160 2000 0 0 0 0\n");
	check_truth(path, "memset", "# memset 0 device 1 1000 2000 0 0 0 0\n");
	check_truth(path, "alloc",
		    "# alloc 0 pinned 1 50 0 0 1 50\n"
		    "# alloc 0 device 2 1300 1 1000 1 300\n");
	check_truth(path, "device",
		    "# device 0 66616b65-2d67-7075-0000-000000000001 1 5000\n");
	unset_script("FAKE_CUDA_TRUTH");
	unset_script("FAKE_CUDA_DURATIONS");
}
