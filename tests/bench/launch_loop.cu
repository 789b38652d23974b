// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What recording costs a launch, or another call of CUDA's. Blocks of launches of an
 * empty kernel, recorded and not recorded by turns within one process: the machine's
 * noise is as large as what is measured, but it is the same for a block and its neighbour.
 *
 * Prints one line with tabs, all in ns a launch, as first quartile, median and third
 * quartile: VARIANT (see switch.h), off (3 numbers), on (3), on - off of neighbours (3).
 * With -w a line for each LOOP, whose name is in the place of the variant's; a block of
 * each is run before recording is switched.
 */
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "switch.h"

#define NOINLINE   __attribute__((noinline))
#define MAX_PAIRS  1000
#define NR_WARM_UP 30 /* calls before each block, not timed */
#define COPY_BYTES 4096

#define CHECK(call)                                                                    \
	do {                                                                           \
		int error_ = (call);                                                   \
		if (error_) {                                                          \
			fprintf(stderr, "launch_loop: %s: error %d\n", #call, error_); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

__global__ void empty()
{
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ---- the loops: each calls CUDA so many times ---- */

static struct {
	char *device, *other_device;
	cudaStream_t stream;
} memory;

static void launch(int nr)
{
	for (int i = 0; i < nr; i++)
		empty<<<1, 1>>>();
	CHECK(cudaGetLastError());
}

static void copy(int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK(cudaMemcpyAsync(memory.other_device, memory.device, COPY_BYTES,
				      cudaMemcpyDeviceToDevice, NULL));
}

static void set(int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK(cudaMemsetAsync(memory.device, 0, COPY_BYTES, NULL));
}

/* There is nothing to wait for: it is the call that is measured. */
static void sync(int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK(cudaStreamSynchronize(memory.stream));
}

/* From the pool, which has the memory already: two calls */
static void alloc(int nr)
{
	void *at;

	for (int i = 0; i < nr; i++) {
		CHECK(cudaMallocAsync(&at, COPY_BYTES, memory.stream));
		CHECK(cudaFreeAsync(at, memory.stream));
	}
}

/* Two calls of NVTX's */
static void range(int nr)
{
	for (int i = 0; i < nr; i++) {
		nvtxRangePushA("range");
		nvtxRangePop();
	}
}

static struct loop {
	const char *name;
	void (*run)(int nr);
	bool is_wanted;
	double off[MAX_PAIRS], on[MAX_PAIRS]; /* ns a round */
} loops[] = {
	{"launch", launch, false, {}, {}}, {"copy", copy, false, {}, {}},
	{"memset", set, false, {}, {}},	   {"sync", sync, false, {}, {}},
	{"alloc", alloc, false, {}, {}},   {"range", range, false, {}, {}},
};

static void prepare_memory(void)
{
	CHECK(cudaMalloc((void **)&memory.device, COPY_BYTES));
	CHECK(cudaMalloc((void **)&memory.other_device, COPY_BYTES));
	CHECK(cudaStreamCreateWithFlags(&memory.stream, cudaStreamNonBlocking));
}

/* ---- time ---- */

/* Returns ns a round. */
NOINLINE static double time_block(const struct loop *loop, int nr_rounds)
{
	uint64_t start_ns, end_ns;

	loop->run(NR_WARM_UP);
	CHECK(cudaDeviceSynchronize());
	start_ns = now_ns();
	loop->run(nr_rounds);
	end_ns = now_ns();
	CHECK(cudaDeviceSynchronize());
	return (double)(end_ns - start_ns) / nr_rounds;
}

NOINLINE static void run_pairs(int nr_pairs, int nr_rounds)
{
	for (int i = 0; i < nr_pairs; i++) {
		switch__off();
		for (struct loop &loop : loops)
			if (loop.is_wanted)
				loop.off[i] = time_block(&loop, nr_rounds);
		switch__on();
		for (struct loop &loop : loops)
			if (loop.is_wanted)
				loop.on[i] = time_block(&loop, nr_rounds);
	}
}

/* run_pairs() from further down the stack: a stack has to be walked, too. */
NOINLINE static void descend(int nr_frames, int nr_pairs, int nr_rounds)
{
	if (nr_frames > 0)
		descend(nr_frames - 1, nr_pairs, nr_rounds);
	else
		run_pairs(nr_pairs, nr_rounds);
	__asm__ volatile(""); /* no tail call */
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_quartiles(double *values, int n)
{
	qsort(values, n, sizeof(*values), compare);
	for (int quarter = 1; quarter < 4; quarter++)
		printf("\t%.0f", values[(n - 1) * quarter / 4]);
}

static void print_loop(struct loop *loop, const char *name, int nr_pairs)
{
	static double difference[MAX_PAIRS];

	for (int i = 0; i < nr_pairs; i++)
		difference[i] = loop->on[i] - loop->off[i];
	printf("%s", name);
	print_quartiles(loop->off, nr_pairs);
	print_quartiles(loop->on, nr_pairs);
	print_quartiles(difference, nr_pairs);
	printf("\n");
}

/* @names: by commas. Returns whether there are all of them. */
static bool want_loops(char *names)
{
	bool is_known = true;

	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		bool is_found = false;

		for (struct loop &loop : loops)
			if (!strcmp(loop.name, name))
				loop.is_wanted = is_found = true;
		is_known &= is_found;
	}
	return is_known;
}

static int usage(void)
{
	fprintf(stderr, "usage: launch_loop [-v bare|activity|perf-gpu] [-p PAIRS] "
			"[-n LAUNCHES] [-d FRAMES]\n"
			"                   [-w LOOP,...]: loops are");
	for (struct loop &loop : loops)
		fprintf(stderr, " %s", loop.name);
	fprintf(stderr, "\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *variant = "bare";
	char *wanted = NULL;
	int nr_pairs = 300, nr_rounds = 500, nr_frames = 12, option;

	while ((option = getopt(argc, argv, "v:p:n:d:w:")) != -1) {
		if (option == 'v')
			variant = optarg;
		else if (option == 'p')
			nr_pairs = atoi(optarg);
		else if (option == 'n')
			nr_rounds = atoi(optarg);
		else if (option == 'd')
			nr_frames = atoi(optarg);
		else if (option == 'w')
			wanted = optarg;
		else
			return usage();
	}
	if (nr_pairs < 1 || nr_pairs > MAX_PAIRS || nr_rounds < 1 ||
	    (wanted && !want_loops(wanted)))
		return usage();
	if (!wanted)
		loops[0].is_wanted = true;
	switch__prepare(variant);
	prepare_memory();
	for (struct loop &loop : loops)
		if (loop.is_wanted)
			time_block(&loop, nr_rounds); /* loads what it needs */
	descend(nr_frames, nr_pairs, nr_rounds);
	for (struct loop &loop : loops)
		if (loop.is_wanted)
			print_loop(&loop, wanted ? loop.name : variant, nr_pairs);
	return 0;
}
