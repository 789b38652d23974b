// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many threads that use many streams of all GPUs: each thread has a GPU, and goes round
 * all streams of it, so that each stream is used by all threads of its GPU. GPU N runs
 * kernel k<N>, which only on_gpu<N> launches. What was done is printed, with tabs: what
 * check_truth.py reads, what check_events.py reads (see event_truth.cu), and for each
 * stream what check_streams.py reads.
 *
 *   launched  6250  k<3>  on_gpu<3>
 *   did       gpu-memcpy  bytes  625  1245000  -  -  DtoD  on_gpu<3>
 *   stream    3  17  TAG  KERNELS  COPIES  BYTES  MEMSETS
 *
 * CUPTI's numbers of streams are its own; so all memsets in a stream, and there is one at
 * least, are of a size that no other has: TAG bytes.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utility>

#define MAX_GPUS     16
#define MAX_STREAMS  256
#define BUFFER_BYTES (4 * MAX_GPUS * MAX_STREAMS)
/* Once in so many launches, a copy; and a memset in the middle between two */
#define COPY_EVERY 10

#define NOINLINE __attribute__((noinline))

#define CHECK(call)                                                   \
	do {                                                          \
		cudaError_t error_ = (call);                          \
		if (error_ != cudaSuccess) {                          \
			fprintf(stderr, "multi_gpu: %s: %s\n", #call, \
				cudaGetErrorString(error_));          \
			exit(1);                                      \
		}                                                     \
	} while (0)

struct stream {
	cudaStream_t stream;
	char *from, *to; /* on the GPU */
	unsigned long tag;
	unsigned long nr_kernels, nr_copies, nr_copied_bytes, nr_memsets; /* atomic */
};

struct worker {
	pthread_t thread;
	int gpu, number;
};

static int nr_gpus, nr_streams = 64, nr_threads = 200, nr_launches = 250;
static struct stream streams[MAX_GPUS][MAX_STREAMS];
static unsigned long nr_launched[MAX_GPUS];

template <int N> __global__ void k(char *memory)
{
	*memory = N;
}

static void count(unsigned long *counter, unsigned long nr)
{
	__atomic_fetch_add(counter, nr, __ATOMIC_RELAXED);
}

template <int N> NOINLINE static void on_gpu(struct stream *s, int step)
{
	k<N><<<1, 32, 0, s->stream>>>(s->to);
	CHECK(cudaGetLastError());
	count(&s->nr_kernels, 1);
	count(&nr_launched[N], 1);
	if (step % COPY_EVERY == 0) {
		CHECK(cudaMemcpyAsync(s->to, s->from, s->tag + step,
				      cudaMemcpyDeviceToDevice, s->stream));
		count(&s->nr_copies, 1);
		count(&s->nr_copied_bytes, s->tag + step);
	}
	if (step % COPY_EVERY == COPY_EVERY / 2) {
		CHECK(cudaMemsetAsync(s->to, 0, s->tag, s->stream));
		count(&s->nr_memsets, 1);
	}
}

typedef void step_fn(struct stream *s, int step);

template <int... N> static step_fn *step_on(int gpu, std::integer_sequence<int, N...>)
{
	static step_fn *const fns[] = {on_gpu<N>...};

	return fns[gpu];
}

NOINLINE static void make_streams(int gpu)
{
	char *memory;

	CHECK(cudaSetDevice(gpu));
	CHECK(cudaMalloc((void **)&memory, 2 * BUFFER_BYTES));
	for (int i = 0; i < nr_streams; i++) {
		struct stream *s = &streams[gpu][i];

		CHECK(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
		s->from = memory;
		s->to = memory + BUFFER_BYTES;
		s->tag = 4 * (gpu * nr_streams + i + 1);
		CHECK(cudaMemsetAsync(s->to, 0, s->tag, s->stream));
		s->nr_memsets = 1;
	}
	CHECK(cudaDeviceSynchronize());
}

NOINLINE static void *work(void *argument)
{
	struct worker *w = (struct worker *)argument;
	step_fn *step = step_on(w->gpu, std::make_integer_sequence<int, MAX_GPUS>());

	CHECK(cudaSetDevice(w->gpu));
	for (int i = 0; i < nr_launches; i++)
		step(&streams[w->gpu][(w->number + i) % nr_streams], i);
	CHECK(cudaDeviceSynchronize());
	return NULL;
}

/* @bytes: 0 if it is ns, which isn't known */
static void print_did(FILE *out, const char *event, unsigned long nr, unsigned long bytes,
		      const char *leaf, const char *function)
{
	if (bytes)
		fprintf(out, "did\t%s\tbytes\t%lu\t%lu\t-\t-\t%s\t%s\n", event, nr, bytes,
			leaf, function);
	else
		fprintf(out, "did\t%s\tns\t%lu\t-\t-\t-\t%s\t%s\n", event, nr, leaf,
			function);
}

static void print_gpu(FILE *out, int gpu)
{
	unsigned long nr_copies = 0, nr_copied_bytes = 0, nr_memsets = 0, nr_set_bytes = 0;
	char function[16], kernel[16];

	for (int i = 0; i < nr_streams; i++) {
		const struct stream *s = &streams[gpu][i];

		nr_copies += s->nr_copies;
		nr_copied_bytes += s->nr_copied_bytes;
		nr_memsets += s->nr_memsets - 1; /* the first was make_streams()'s */
		nr_set_bytes += (s->nr_memsets - 1) * s->tag;
	}
	snprintf(function, sizeof(function), "on_gpu<%d>", gpu);
	snprintf(kernel, sizeof(kernel), "k<%d>", gpu);
	fprintf(out, "launched\t%lu\t%s\t%s\n", nr_launched[gpu], kernel, function);
	print_did(out, "gpu-memcpy", nr_copies, nr_copied_bytes, "DtoD", function);
	print_did(out, "gpu-memset", nr_memsets, nr_set_bytes, "device", function);
	print_did(out, "gpu-launch", nr_launched[gpu], 0, "cudaLaunchKernel", function);
	print_did(out, "gpu-launch", nr_copies, 0, "cudaMemcpyAsync", function);
	print_did(out, "gpu-launch", nr_memsets, 0, "cudaMemsetAsync", function);
}

static void print_counts(FILE *out)
{
	unsigned long nr_set_bytes = 0;

	for (int gpu = 0; gpu < nr_gpus; gpu++) {
		print_gpu(out, gpu);
		for (int i = 0; i < nr_streams; i++)
			nr_set_bytes += streams[gpu][i].tag;
	}
	print_did(out, "gpu-memset", nr_gpus * nr_streams, nr_set_bytes, "device",
		  "make_streams");
	print_did(out, "gpu-alloc", nr_gpus, 2ul * nr_gpus * BUFFER_BYTES, "device",
		  "make_streams");
	print_did(out, "gpu-sync", nr_gpus, 0, "context", "make_streams");
	print_did(out, "gpu-sync", nr_threads, 0, "context", "work");
	for (int gpu = 0; gpu < nr_gpus; gpu++)
		for (int i = 0; i < nr_streams; i++) {
			const struct stream *s = &streams[gpu][i];

			fprintf(out, "stream\t%d\t%d\t%lu\t%lu\t%lu\t%lu\t%lu\n", gpu, i,
				s->tag, s->nr_kernels, s->nr_copies, s->nr_copied_bytes,
				s->nr_memsets);
		}
}

static void run_threads(void)
{
	struct worker *workers = (struct worker *)calloc(nr_threads, sizeof(*workers));

	for (int i = 0; i < nr_threads; i++) {
		workers[i].gpu = i % nr_gpus;
		workers[i].number = i / nr_gpus;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
			fprintf(stderr, "multi_gpu: cannot start a thread\n");
			exit(1);
		}
	}
	for (int i = 0; i < nr_threads; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
}

int main(int argc, char **argv)
{
	FILE *out = stdout;
	int option;

	while ((option = getopt(argc, argv, "t:s:n:o:")) != -1) {
		if (option == 't')
			nr_threads = atoi(optarg);
		if (option == 's')
			nr_streams = atoi(optarg);
		if (option == 'n')
			nr_launches = atoi(optarg);
		if (option == 'o')
			out = fopen(optarg, "w");
		if (option == '?' || !out || nr_streams < 1 || nr_streams > MAX_STREAMS ||
		    nr_threads < 1 || nr_launches < 1 || nr_launches > BUFFER_BYTES / 2) {
			fprintf(stderr, "usage: multi_gpu [-t THREADS] [-s STREAMS] "
					"[-n LAUNCHES] [-o FILE]\n");
			return 2;
		}
	}
	CHECK(cudaGetDeviceCount(&nr_gpus));
	if (nr_gpus > MAX_GPUS)
		nr_gpus = MAX_GPUS;
	for (int gpu = 0; gpu < nr_gpus; gpu++)
		make_streams(gpu);
	run_threads();
	print_counts(out);
	return fclose(out) ? 1 : 0;
}
