// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose right answer is known: kernel k<N> is launched through host
 * function f<N> and through nothing else, and graph_k<N> only by the graph that
 * g<N> launches (capture<N> made it). Threads with a stream each do so in random
 * order, the same in every run. What was launched is printed, a kernel a line, with
 * tabs between the fields; check_truth.py compares it with what was recorded.
 *
 *   launched  1563  k<12>       f<12>
 *   launched  390   graph_k<3>  g<3>
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utility>

#define NR_KERNELS	64
#define NR_GRAPHS	4
#define NODES_PER_GRAPH 3
#define NR_THREADS	8
/* A thread launches a graph, and waits for its stream, once in so many. */
#define GRAPH_EVERY 100
#define WAIT_EVERY  500

#define NOINLINE __attribute__((noinline))

#define CHECK(call)                                               \
	do {                                                      \
		cudaError_t error_ = (call);                      \
		if (error_ != cudaSuccess) {                      \
			fprintf(stderr, "truth: %s: %s\n", #call, \
				cudaGetErrorString(error_));      \
			exit(1);                                  \
		}                                                 \
	} while (0)

struct worker {
	pthread_t thread;
	cudaStream_t stream;
	int *memory;
	unsigned long nr_launches; /* to make */
	uint64_t random;
	unsigned long launched[NR_KERNELS];
	unsigned long graph_launched[NR_GRAPHS]; /* kernels, not graphs */
	cudaGraphExec_t graphs[NR_GRAPHS];
};

template <int N> __global__ void k(int *memory)
{
	*memory = N;
}

template <int N> __global__ void graph_k(int *memory)
{
	*memory = -N;
}

/* The check behind the launch is what keeps the call from being a jump. */
template <int N> NOINLINE static void f(struct worker *w)
{
	k<N><<<1, 32, 0, w->stream>>>(w->memory);
	CHECK(cudaGetLastError());
	w->launched[N]++;
}

template <int N> NOINLINE static void capture(struct worker *w)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES_PER_GRAPH; i++)
		graph_k<N><<<1, 32, 0, w->stream>>>(w->memory);
	CHECK(cudaStreamEndCapture(w->stream, &graph));
	CHECK(cudaGraphInstantiate(&w->graphs[N], graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

template <int N> NOINLINE static void g(struct worker *w)
{
	CHECK(cudaGraphLaunch(w->graphs[N], w->stream));
	w->graph_launched[N] += NODES_PER_GRAPH;
}

typedef void step_fn(struct worker *w);

template <int... N> static step_fn *f_of(int n, std::integer_sequence<int, N...>)
{
	static step_fn *const fns[] = {f<N>...};

	return fns[n];
}

template <int... N> static step_fn *g_of(int n, std::integer_sequence<int, N...>)
{
	static step_fn *const fns[] = {g<N>...};

	return fns[n];
}

template <int... N>
static void capture_all(struct worker *w, std::integer_sequence<int, N...>)
{
	(capture<N>(w), ...);
}

/* xorshift64*, for an order that is the same everywhere. */
static unsigned next_random(struct worker *w, unsigned below)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (w->random * 0x2545f4914f6cdd1dull >> 33) % below;
}

NOINLINE static void *work(void *argument)
{
	struct worker *w = (struct worker *)argument;

	CHECK(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&w->memory, sizeof(*w->memory)));
	capture_all(w, std::make_integer_sequence<int, NR_GRAPHS>());
	for (unsigned long i = 1; i <= w->nr_launches; i++) {
		unsigned n = next_random(w, NR_KERNELS);

		f_of(n, std::make_integer_sequence<int, NR_KERNELS>())(w);
		if (i % GRAPH_EVERY == 0)
			g_of(n % NR_GRAPHS,
			     std::make_integer_sequence<int, NR_GRAPHS>())(w);
		if (i % WAIT_EVERY == 0)
			CHECK(cudaStreamSynchronize(w->stream));
	}
	CHECK(cudaStreamSynchronize(w->stream));
	for (cudaGraphExec_t graph : w->graphs)
		CHECK(cudaGraphExecDestroy(graph));
	return NULL;
}

static void print_counts(FILE *out, const struct worker *workers)
{
	for (int n = 0; n < NR_KERNELS; n++) {
		unsigned long sum = 0;

		for (int t = 0; t < NR_THREADS; t++)
			sum += workers[t].launched[n];
		fprintf(out, "launched\t%lu\tk<%d>\tf<%d>\n", sum, n, n);
	}
	for (int n = 0; n < NR_GRAPHS; n++) {
		unsigned long sum = 0;

		for (int t = 0; t < NR_THREADS; t++)
			sum += workers[t].graph_launched[n];
		fprintf(out, "launched\t%lu\tgraph_k<%d>\tg<%d>\n", sum, n, n);
	}
}

int main(int argc, char **argv)
{
	static struct worker workers[NR_THREADS];
	unsigned long nr_launches = 100000;
	FILE *out = stdout;
	int option;

	while ((option = getopt(argc, argv, "n:o:")) != -1) {
		if (option == 'n')
			nr_launches = strtoul(optarg, NULL, 10);
		if (option == 'o')
			out = fopen(optarg, "w");
		if (option == '?' || !out) {
			fprintf(stderr, "usage: truth [-n LAUNCHES] [-o FILE]\n");
			return 2;
		}
	}
	CHECK(cudaFree(NULL));
	for (int t = 0; t < NR_THREADS; t++) {
		struct worker *w = &workers[t];

		w->random = t + 1;
		w->nr_launches =
			nr_launches / NR_THREADS + (t < (int)(nr_launches % NR_THREADS));
		if (pthread_create(&w->thread, NULL, work, w)) {
			fprintf(stderr, "truth: cannot start a thread\n");
			return 1;
		}
	}
	for (struct worker &w : workers)
		pthread_join(w.thread, NULL);
	print_counts(out, workers);
	return fclose(out) ? 1 : 0;
}
