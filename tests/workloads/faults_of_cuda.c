// SPDX-License-Identifier: GPL-2.0-or-later
/* What a program does with CUDA, and with threads that use it. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "fault_gpu.h"
#include "faults.h"

#define NR_THREADS	   10000
#define NR_THREADS_AT_ONCE 8

static void *open_runtime(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!runtime) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(9);
	}
	return runtime;
}

static void call_runtime(void *runtime, const char *name)
{
	cudaError_t (*function)(void) =
		(cudaError_t(*)(void))(uintptr_t)dlsym(runtime, name);
	cudaError_t error = function ? function() : cudaErrorUnknown;

	if (error) {
		fprintf(stderr, "%s: %d\n", name, (int)error);
		_exit(9);
	}
}

static int reset_device(void)
{
	void *runtime = open_runtime();

	gpu__launch(NR_LAUNCHES);
	call_runtime(runtime, "cudaDeviceReset");
	gpu__forget();
	gpu__launch(NR_LAUNCHES);
	call_runtime(runtime, "cudaDeviceReset");
	return 0;
}

static int destroy_context(void)
{
	gpu__launch(NR_LAUNCHES);
	for (int i = 0; i < 3; i++) {
		gpu__create_context();
		gpu__launch(NR_LAUNCHES);
		gpu__destroy_context();
	}
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static int close_runtime(void)
{
	for (int i = 0; i < 2; i++) {
		void *runtime = open_runtime();

		call_runtime(runtime, "cudaDeviceSynchronize");
		gpu__launch(NR_LAUNCHES);
		dlclose(runtime);
		gpu__launch(NR_LAUNCHES);
	}
	return 0;
}

static int fail_launches(void)
{
	gpu__launch(NR_LAUNCHES);
	gpu__launch_wrongly(NR_LAUNCHES);
	gpu__launch(NR_LAUNCHES);
	return 0;
}

static int fail_for_good(void)
{
	gpu__launch(NR_LAUNCHES);
	gpu__trap(NR_LAUNCHES);
	return 6;
}

static void *launch_once(void *unused)
{
	(void)unused;
	gpu__launch(1);
	return NULL;
}

static int end_threads(void)
{
	pthread_t threads[NR_THREADS_AT_ONCE];

	for (int i = 0; i < NR_THREADS; i += NR_THREADS_AT_ONCE) {
		for (int j = 0; j < NR_THREADS_AT_ONCE; j++)
			if (pthread_create(&threads[j], NULL, launch_once, NULL))
				return 1;
		for (int j = 0; j < NR_THREADS_AT_ONCE; j++)
			pthread_join(threads[j], NULL);
	}
	return 0;
}

const struct fault faults_of_cuda[] = {
	{"reset", reset_device},
	{"ctx-destroy", destroy_context},
	{"dlclose", close_runtime},
	{"failed-launches", fail_launches},
	{"error-state", fail_for_good},
	{"threads", end_threads},
	{},
};
