// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marks the parts of its life that it wants to have recorded (record --capture-range): by
 * cudaProfilerStart() and cudaProfilerStop(), in a loop, and once by the driver's functions.
 * Kernels before, between and behind these are not to be in the recording. Prints how often
 * each kernel within was launched by which function, as check_truth.py reads it.
 */
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_RANGES   5
#define NR_WITHIN   200
#define NR_OUTSIDE  300

#define CHECK(call)                                                                      \
	do {                                                                             \
		int error_ = (call);                                                     \
		if (error_) {                                                            \
			fprintf(stderr, "capture_range: %s: error %d\n", #call, error_); \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

__global__ void outside()
{
}

__global__ void within()
{
}

__global__ void by_driver()
{
}

__attribute__((noinline)) static void launch_outside()
{
	for (int i = 0; i < NR_OUTSIDE; i++)
		outside<<<1, 1>>>();
	CHECK(cudaGetLastError());
}

__attribute__((noinline)) static void launch_within()
{
	for (int i = 0; i < NR_WITHIN; i++)
		within<<<1, 1>>>();
	CHECK(cudaGetLastError());
}

__attribute__((noinline)) static void launch_by_driver()
{
	for (int i = 0; i < NR_WITHIN; i++)
		by_driver<<<1, 1>>>();
	CHECK(cudaGetLastError());
}

/* cuProfilerStart() or cuProfilerStop() */
static void call_driver(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *entry = NULL;

	CHECK(cudaGetDriverEntryPointByVersion(name, &entry, 4000, cudaEnableDefault,
					       &found));
	CHECK(!entry);
	CHECK(((int (*)(void))entry)());
}

int main()
{
	launch_outside();
	for (int i = 0; i < NR_RANGES; i++) {
		/* Of what comes before, some is still under way. */
		CHECK(cudaProfilerStart());
		launch_within();
		CHECK(cudaProfilerStop());
		launch_outside();
	}
	CHECK(cudaDeviceSynchronize());
	call_driver("cuProfilerStart");
	launch_by_driver();
	call_driver("cuProfilerStop");
	launch_outside();
	CHECK(cudaDeviceSynchronize());
	printf("launched\t%d\twithin\tlaunch_within\n", NR_RANGES * NR_WITHIN);
	printf("launched\t%d\tby_driver\tlaunch_by_driver\n", NR_WITHIN);
	printf("launched\t0\toutside\tlaunch_outside\n");
	return 0;
}
