// SPDX-License-Identifier: GPL-2.0-or-later
/* Many GPUs: which a process sees, and that they play at once. */
#include "profiler.h"

static int nr_devices(void)
{
	int nr = -1;

	CHECK_EQ(cudaGetDeviceCount(&nr), 0);
	return nr;
}

/* The last byte of the UUID is the GPU's number from 1 on. */
static int gpu_of(int device)
{
	CUuuid uuid;

	CHECK_EQ(DRIVER(cuDeviceGetUuid_v2)(&uuid, device), 0);
	return uuid.bytes[15] - 1;
}

TEST(visible_devices_are_chosen_and_numbered_anew)
{
	char bus_id[16];
	int device = -1;

	setenv("FAKE_CUDA_DEVICES", "8", 1);
	setenv("CUDA_VISIBLE_DEVICES", "5,2", 1);
	CHECK_EQ(nr_devices(), 2);
	CHECK_EQ(gpu_of(0), 5);
	CHECK_EQ(gpu_of(1), 2);
	CHECK_EQ(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), 1), 0);
	CHECK_STR(bus_id, "0000:03:00.0");
	CHECK_EQ(cudaDeviceGetByPCIBusId(&device, "0000:06:00.0"), 0);
	CHECK_EQ(device, 0);
	CHECK_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
	profiler__start();
	CHECK_EQ(cudaSetDevice(1), 0);
	launch(NULL);
	finish();
	CHECK_EQ(profiler.kernels[0].deviceId, 1);
}

TEST(visible_devices_may_be_named)
{
	setenv("FAKE_CUDA_DEVICES", "8", 1);
	setenv("CUDA_VISIBLE_DEVICES",
	       "GPU-66616b65-2d67-7075-0000-000000000004,GPU-66616b65,7", 1);
	CHECK_EQ(nr_devices(), 3);
	CHECK_EQ(gpu_of(0), 3);
	CHECK_EQ(gpu_of(1), 0);
	CHECK_EQ(gpu_of(2), 7);
}

TEST(visible_devices_end_at_what_there_is_not)
{
	setenv("FAKE_CUDA_DEVICES", "2", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1,2,0", 1);
	CHECK_EQ(nr_devices(), 1);
	CHECK_EQ(gpu_of(0), 1);
}

TEST(program_may_see_none)
{
	int nr = -1;

	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	CHECK_EQ(cudaGetDeviceCount(&nr), cudaErrorNoDevice);
	setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	CHECK_EQ(cudaGetDeviceCount(&nr), cudaErrorNoDevice);
}

TEST(instance_has_a_uuid_that_is_not_its_gpu_s)
{
	CUresult (*get_uuid)(CUuuid *, CUdevice);
	CUuuid gpu, instance;

	setenv("FAKE_CUDA_DEVICES", "2", 1);
	setenv("FAKE_CUDA_MIG", "3", 1);
	CHECK_EQ(nr_devices(), 1); /* a process sees one */
	get_uuid = driver_function("cuDeviceGetUuid");
	CHECK_EQ(get_uuid(&gpu, 0), 0);
	CHECK_EQ(DRIVER(cuDeviceGetUuid_v2)(&instance, 0), 0);
	CHECK(!memcmp(gpu.bytes, "fake-gpu", 8));
	CHECK(!memcmp(instance.bytes, "fake-mig", 8));
}

TEST(instance_is_chosen_by_name)
{
	struct cudaDeviceProp properties;
	CUuuid instance;

	setenv("FAKE_CUDA_DEVICES", "2", 1);
	setenv("FAKE_CUDA_MIG", "3", 1);
	setenv("CUDA_VISIBLE_DEVICES", "MIG-66616b65-2d6d-6967-0000-000000000203", 1);
	CHECK_EQ(nr_devices(), 1);
	CHECK_EQ(DRIVER(cuDeviceGetUuid_v2)(&instance, 0), 0);
	CHECK_EQ(instance.bytes[14], 2);
	CHECK_EQ(instance.bytes[15], 3);
	CHECK_EQ(cudaGetDeviceProperties(&properties, 0), 0);
	CHECK_EQ(properties.multiProcessorCount, 16);
}

TEST(peer_access_is_switched_once)
{
	int can = 0;

	setenv("FAKE_CUDA_DEVICES", "2", 1);
	CHECK_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), 0);
	CHECK_EQ(can, 1);
	CHECK_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
	CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), 0);
	CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
	CHECK_EQ(cudaDeviceDisablePeerAccess(1), 0);
	CHECK_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
}

#define NR_GPUS	    8
#define NR_STREAMS  64
#define NR_THREADS  200
#define NR_LAUNCHES 500

static cudaStream_t streams[NR_STREAMS];

/* Each thread has a stream, and shares it with two others. */
static void *launch_many(void *number)
{
	int i = (int)(intptr_t)number % NR_STREAMS;

	CHECK_EQ(cudaSetDevice(i % NR_GPUS), 0);
	for (int j = 0; j < NR_LAUNCHES; j++)
		launch(streams[i]);
	CHECK_EQ(cudaStreamSynchronize(streams[i]), 0);
	return NULL;
}

static int compare_places(const void *a, const void *b)
{
	const CUpti_ActivityKernel10 *left = a, *right = b;

	if (left->streamId != right->streamId)
		return left->streamId < right->streamId ? -1 : 1;
	return left->start < right->start ? -1 : left->start > right->start;
}

TEST(eight_gpus_with_many_streams_and_threads_play_at_once)
{
	size_t nr_kernels = (size_t)NR_THREADS * NR_LAUNCHES, nr_streams = 1;
	size_t nr_per_gpu[NR_GPUS] = {};
	pthread_t threads[NR_THREADS];

	setenv("FAKE_CUDA_DEVICES", "8", 1);
	setenv("FAKE_CUDA_INSTANT", "1", 1);
	profiler__start();
	for (int i = 0; i < NR_STREAMS; i++) {
		CHECK_EQ(cudaSetDevice(i % NR_GPUS), 0);
		CHECK_EQ(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking),
			 0);
	}
	for (intptr_t i = 0; i < NR_THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, launch_many, (void *)i), 0);
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	finish();
	CHECK_EQ(profiler.nr_kernels, nr_kernels);
	qsort(profiler.kernels, nr_kernels, sizeof(*profiler.kernels), compare_places);
	for (size_t i = 0; i < nr_kernels; i++) {
		const CUpti_ActivityKernel10 *kernel = &profiler.kernels[i];

		nr_per_gpu[kernel->deviceId]++;
		if (!i || kernel->streamId == kernel[-1].streamId)
			CHECK(!i || kernel->start >= kernel[-1].end);
		else
			nr_streams++;
	}
	CHECK_EQ(nr_streams, NR_STREAMS);
	for (int i = 0; i < NR_GPUS; i++)
		CHECK_EQ(nr_per_gpu[i], nr_kernels / NR_GPUS);
	plain_kernel__launch(1);
}
