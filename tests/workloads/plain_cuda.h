/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels in plain C, for programs that only ever run on the stand-in for CUDA:
 * they are registered with the runtime as nvcc's generated code does it, but have
 * no GPU code. So the tests of processes and crashes need no nvcc.
 *
 * PLAIN_KERNEL_NAME is what the kernel is called (_Z12plain_kernelv).
 */
#ifndef PERF_GPU_TESTS_PLAIN_CUDA_H
#define PERF_GPU_TESTS_PLAIN_CUDA_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function,
			    char *device_function, const char *device_name,
			    int thread_limit, void *thread_id, void *block_id,
			    void *block_dim, void *grid_dim, int *warp_size);

/* crt/host_runtime.h has this struct only for nvcc. */
static struct {
	int magic, version;
	const void *data;
	void *filename_or_fatbins;
} plain_fat_binary = {0x466243b1, 1, NULL, NULL};

/* What a kernel is known by on the host: its address. */
static void plain_kernel(void)
{
}

__attribute__((constructor)) static void plain_kernel__register(void)
{
	void **handle = __cudaRegisterFatBinary(&plain_fat_binary);
	char *name = getenv("PLAIN_KERNEL_NAME");

	if (!name)
		name = (char *)"_Z12plain_kernelv";
	__cudaRegisterFunction(handle, (const char *)plain_kernel, name, name, -1, NULL,
			       NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(handle);
}

/* Launches it a number of times on the default stream, and waits for it. */
__attribute__((noinline, unused)) static void
plain_kernel__launch(unsigned long nr_launches)
{
	dim3 one = {1, 1, 1};
	cudaError_t error = cudaSuccess;

	for (unsigned long i = 0; i < nr_launches && !error; i++)
		error = cudaLaunchKernel((const void *)plain_kernel, one, one, NULL, 0,
					 NULL);
	if (!error)
		error = cudaDeviceSynchronize();
	if (error) {
		fprintf(stderr, "launch: %s\n", cudaGetErrorString(error));
		exit(1);
	}
}

#endif
