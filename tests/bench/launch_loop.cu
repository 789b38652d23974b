// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What recording costs a launch. Blocks of launches of an empty kernel, recorded
 * and not recorded by turns within one process: the machine's noise is as large as
 * what is measured, but it is the same for a block and its neighbour.
 *
 * Prints one line with tabs, all in ns a launch, as first quartile, median and third
 * quartile: VARIANT (see switch.h), off (3 numbers), on (3), on - off of neighbours (3).
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "switch.h"

#define NOINLINE      __attribute__((noinline))
#define MAX_PAIRS     10000
#define NR_WARM_UP    30 /* launches behind each switch, not timed */

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

/* Returns ns a launch. */
NOINLINE static double time_block(int nr_launches)
{
	uint64_t start_ns, end_ns;

	for (int i = 0; i < NR_WARM_UP; i++)
		empty<<<1, 1>>>();
	CHECK(cudaDeviceSynchronize());
	start_ns = now_ns();
	for (int i = 0; i < nr_launches; i++)
		empty<<<1, 1>>>();
	end_ns = now_ns();
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGetLastError());
	return (double)(end_ns - start_ns) / nr_launches;
}

NOINLINE static void run_pairs(int nr_pairs, int nr_launches, double *off, double *on)
{
	for (int i = 0; i < nr_pairs; i++) {
		switch__off();
		off[i] = time_block(nr_launches);
		switch__on();
		on[i] = time_block(nr_launches);
	}
}

/* run_pairs() from further down the stack: a stack has to be walked, too. */
NOINLINE static void descend(int nr_frames, int nr_pairs, int nr_launches, double *off,
			     double *on)
{
	if (nr_frames > 0)
		descend(nr_frames - 1, nr_pairs, nr_launches, off, on);
	else
		run_pairs(nr_pairs, nr_launches, off, on);
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

int main(int argc, char **argv)
{
	static double off[MAX_PAIRS], on[MAX_PAIRS], difference[MAX_PAIRS];
	const char *variant = "bare";
	int nr_pairs = 300, nr_launches = 500, nr_frames = 12, option;

	while ((option = getopt(argc, argv, "v:p:n:d:")) != -1) {
		if (option == 'v')
			variant = optarg;
		else if (option == 'p')
			nr_pairs = atoi(optarg);
		else if (option == 'n')
			nr_launches = atoi(optarg);
		else if (option == 'd')
			nr_frames = atoi(optarg);
		if (option == '?')
			goto usage;
	}
	if (nr_pairs < 1 || nr_pairs > MAX_PAIRS || nr_launches < 1)
		goto usage;
	switch__prepare(variant);
	CHECK(cudaFree(NULL));
	time_block(nr_launches); /* loads the kernel */
	descend(nr_frames, nr_pairs, nr_launches, off, on);
	for (int i = 0; i < nr_pairs; i++)
		difference[i] = on[i] - off[i];
	printf("%s", variant);
	print_quartiles(off, nr_pairs);
	print_quartiles(on, nr_pairs);
	print_quartiles(difference, nr_pairs);
	printf("\n");
	return 0;
usage:
	fprintf(stderr, "usage: launch_loop [-v bare|activity|perf-gpu] [-p PAIRS] "
			"[-n LAUNCHES] [-d FRAMES]\n");
	return 2;
}
