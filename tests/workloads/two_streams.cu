// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One of every way to launch a kernel, for a small recording whose stacks can be
 * read by eye: templates, overloads, namespaces and lambdas, two streams that
 * overlap, <<<>>>, cooperative, cudaLaunchKernelExC, the driver's cuLaunchKernelEx
 * and a graph. Prints how often each kernel was launched by which function, as
 * check_truth.py reads it.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NR_VALUES  (1 << 16)
#define BLOCK	   256
#define NR_REDUCED 4 /* blocks that reduce; few enough to run together */
#define NOINLINE   __attribute__((noinline))

#define CHECK(call)                                                                    \
	do {                                                                           \
		int error_ = (call);                                                   \
		if (error_) {                                                          \
			fprintf(stderr, "two_streams: %s: error %d\n", #call, error_); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

namespace math
{
template <typename T> __global__ void scale(T *values, T factor)
{
	values[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

namespace detail
{
__global__ void offset(float *values, float by)
{
	values[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

__global__ void offset(double *values, double by)
{
	values[blockIdx.x * blockDim.x + threadIdx.x] += by;
}
} // namespace detail

/* Cooperative for the launch's sake. */
__global__ void reduce(const float *values, float *sum)
{
	float mine = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < NR_VALUES;
	     i += gridDim.x * blockDim.x)
		mine += values[i];
	atomicAdd(sum, mine);
}
} // namespace math

template <typename F> __global__ void for_each(float *values, F function)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	values[i] = function(values[i]);
}

__global__ void from_ex(float *values, float value)
{
	values[threadIdx.x] = value;
}

__global__ void from_driver(float *values)
{
	values[threadIdx.x] = 1;
}

__global__ void from_graph(float *values)
{
	values[threadIdx.x] = 2;
}

struct pipeline {
	cudaStream_t stream;
	float *values;
	double *precise;
	float *sum;
	cudaGraphExec_t graph;
};

template <typename T> NOINLINE static void launch_scale(T *values, cudaStream_t stream)
{
	math::scale<T><<<NR_VALUES / BLOCK, BLOCK, 0, stream>>>(values, T(2));
	CHECK(cudaGetLastError());
}

NOINLINE static void launch_offset(float *values, cudaStream_t stream)
{
	math::detail::offset<<<NR_VALUES / BLOCK, BLOCK, 0, stream>>>(values, 1.0f);
	CHECK(cudaGetLastError());
}

NOINLINE static void launch_offset(double *values, cudaStream_t stream)
{
	math::detail::offset<<<NR_VALUES / BLOCK, BLOCK, 0, stream>>>(values, 1.0);
	CHECK(cudaGetLastError());
}

/* Not static, or nvcc puts a hash of this file into the name of the kernel. */
NOINLINE void launch_lambda(struct pipeline *p)
{
	for_each<<<NR_VALUES / BLOCK, BLOCK, 0, p->stream>>>(
		p->values, [] __device__(float x) { return x * x; });
	CHECK(cudaGetLastError());
}

NOINLINE static void launch_cooperative(struct pipeline *p)
{
	void *arguments[] = {&p->values, &p->sum};

	CHECK(cudaLaunchCooperativeKernel((const void *)math::reduce, dim3(NR_REDUCED),
					  dim3(BLOCK), arguments, 0, p->stream));
}

NOINLINE static void launch_ex(struct pipeline *p)
{
	cudaLaunchConfig_t config = {};
	float value = 3;
	void *arguments[] = {&p->values, &value};

	config.gridDim = dim3(1);
	config.blockDim = dim3(BLOCK);
	config.stream = p->stream;
	CHECK(cudaLaunchKernelExC(&config, (const void *)from_ex, arguments));
}

/* As frameworks do it: the driver's function, got without linking libcuda. */
NOINLINE static void launch_driver(struct pipeline *p)
{
	static decltype(&cuLaunchKernelEx) launch;
	static cudaFunction_t function;
	CUlaunchConfig config = {};
	void *arguments[] = {&p->values};

	if (!launch) {
		cudaDriverEntryPointQueryResult found;
		void *entry;

		CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry, 12000,
						       cudaEnableDefault, &found));
		launch = (decltype(launch))entry;
		CHECK(cudaGetFuncBySymbol(&function, (const void *)from_driver));
	}
	config.gridDimX = config.gridDimY = config.gridDimZ = 1;
	config.blockDimX = BLOCK;
	config.blockDimY = config.blockDimZ = 1;
	config.hStream = p->stream;
	CHECK(launch(&config, function, arguments, NULL));
}

NOINLINE static void capture_graph(struct pipeline *p)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeThreadLocal));
	from_graph<<<1, BLOCK, 0, p->stream>>>(p->values);
	from_graph<<<1, BLOCK, 0, p->stream>>>(p->values);
	CHECK(cudaStreamEndCapture(p->stream, &graph));
	CHECK(cudaGraphInstantiate(&p->graph, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

NOINLINE static void replay_graph(struct pipeline *p)
{
	CHECK(cudaGraphLaunch(p->graph, p->stream));
}

NOINLINE static void run_step(struct pipeline *p)
{
	launch_scale(p->values, p->stream);
	launch_scale(p->precise, p->stream);
	launch_offset(p->values, p->stream);
	launch_offset(p->precise, p->stream);
	launch_lambda(p);
	launch_cooperative(p);
	launch_ex(p);
	launch_driver(p);
	replay_graph(p);
}

NOINLINE static void set_up(struct pipeline *p)
{
	CHECK(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&p->values, NR_VALUES * sizeof(*p->values)));
	CHECK(cudaMalloc(&p->precise, NR_VALUES * sizeof(*p->precise)));
	CHECK(cudaMalloc(&p->sum, sizeof(*p->sum)));
	capture_graph(p);
}

static void print_counts(int n)
{
	printf("launched\t%d\tmath::scale<float>\tlaunch_scale<float>\n", n);
	printf("launched\t%d\tmath::scale<double>\tlaunch_scale<double>\n", n);
	printf("launched\t%d\tmath::detail::offset(float*, float)\tlaunch_offset\n", n);
	printf("launched\t%d\tmath::detail::offset(double*, double)\tlaunch_offset\n", n);
	printf("launched\t%d\tmath::reduce\tlaunch_cooperative\n", n);
	printf("launched\t%d\tfor_each\tlaunch_lambda\n", n);
	printf("launched\t%d\tfrom_ex\tlaunch_ex\n", n);
	printf("launched\t%d\tfrom_driver\tlaunch_driver\n", n);
	printf("launched\t%d\tfrom_graph\treplay_graph\n", 2 * n);
}

int main(int argc, char **argv)
{
	struct pipeline pipelines[2] = {};
	int nr_steps = 10, option;

	while ((option = getopt(argc, argv, "n:")) == 'n')
		nr_steps = atoi(optarg);
	if (option != -1 || nr_steps < 1) {
		fprintf(stderr, "usage: two_streams [-n STEPS]\n");
		return 2;
	}
	for (struct pipeline &p : pipelines)
		set_up(&p);
	for (int i = 0; i < nr_steps; i++)
		for (struct pipeline &p : pipelines)
			run_step(&p);
	for (struct pipeline &p : pipelines)
		CHECK(cudaStreamSynchronize(p.stream));
	print_counts(2 * nr_steps);
	return 0;
}
