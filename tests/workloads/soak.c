/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches kernels at a rate, from many threads, for a time: paced, so that what is looked
 * at is whether recording keeps up, not how fast it is. Stand-in for CUDA only.
 *
 * usage: soak [-t THREADS] [-r LAUNCHES-A-SECOND] [-s SECONDS]
 *
 * Each thread has a stream, launches some of 8 kernels from stacks of 16 depths every
 * 20 ms, and waits for them once a second. Prints "launched NUMBER in SECONDS s".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "plain_cuda.h"

#define MAX_THREADS 1024
#define NR_KERNELS  8
#define NR_DEPTHS   16
#define TICK_NS	    20000000ull
#define SECOND_NS   1000000000ull

/* A kernel is known on the host by an address: of its name. */
static char names[NR_KERNELS][16];

static struct {
	double rate; /* of a thread, launches a second */
	uint64_t begin_ns, end_ns;
} plan;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t time_ns)
{
	const struct timespec time = {.tv_sec = (time_t)(time_ns / SECOND_NS),
				      .tv_nsec = (long)(time_ns % SECOND_NS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void check(cudaError_t error)
{
	if (!error)
		return;
	fprintf(stderr, "soak: %s\n", cudaGetErrorString(error));
	exit(1);
}

/* Not a tail call, so that the stack has it. */
__attribute__((noinline)) static uint64_t launch(unsigned int depth, uint64_t number,
						 cudaStream_t stream)
{
	const dim3 one = {1, 1, 1};
	volatile unsigned int left = depth;

	if (left)
		return launch(left - 1, number, stream) + 1;
	check(cudaLaunchKernel(names[number % NR_KERNELS], one, one, NULL, 0, stream));
	return left;
}

static void *work(void *ret)
{
	uint64_t number = 0, wanted, synced_ns = plan.begin_ns, tick_ns;
	cudaStream_t stream;

	check(cudaStreamCreate(&stream));
	for (tick_ns = plan.begin_ns; tick_ns < plan.end_ns;) {
		tick_ns += TICK_NS;
		sleep_until(tick_ns);
		wanted = (uint64_t)((double)(tick_ns - plan.begin_ns) / 1e9 * plan.rate);
		for (; number < wanted; number++)
			launch((unsigned int)(number / NR_KERNELS % NR_DEPTHS), number,
			       stream);
		if (tick_ns - synced_ns < SECOND_NS)
			continue;
		synced_ns = tick_ns;
		check(cudaStreamSynchronize(stream));
	}
	check(cudaStreamSynchronize(stream));
	*(uint64_t *)ret = number;
	return NULL;
}

static void register_kernels(void)
{
	void **handle = __cudaRegisterFatBinary(&plain_fat_binary);

	for (int i = 0; i < NR_KERNELS; i++) {
		snprintf(names[i], sizeof(names[i]), "soak%d", i);
		__cudaRegisterFunction(handle, names[i], names[i], names[i], -1, NULL,
				       NULL, NULL, NULL, NULL);
	}
	__cudaRegisterFatBinaryEnd(handle);
}

int main(int argc, char **argv)
{
	static uint64_t launched[MAX_THREADS];
	static pthread_t threads[MAX_THREADS];
	unsigned long nr_threads = 64, rate = 50000, seconds = 60;
	uint64_t sum = 0;
	int option;

	while ((option = getopt(argc, argv, "t:r:s:")) != -1) {
		if (option == 't')
			nr_threads = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			rate = strtoul(optarg, NULL, 10);
		else if (option == 's')
			seconds = strtoul(optarg, NULL, 10);
		else
			goto usage;
	}
	if (!nr_threads || nr_threads > MAX_THREADS || !seconds || optind < argc)
		goto usage;
	register_kernels();
	cudaFree(NULL);
	plan.rate = (double)rate / (double)nr_threads;
	plan.begin_ns = now_ns();
	plan.end_ns = plan.begin_ns + seconds * SECOND_NS;
	for (unsigned long i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, work, &launched[i])) {
			perror("soak: a thread");
			return 1;
		}
	for (unsigned long i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
		sum += launched[i];
	}
	printf("launched %llu in %.1f s\n", (unsigned long long)sum,
	       (double)(now_ns() - plan.begin_ns) / 1e9);
	return 0;
usage:
	fprintf(stderr, "usage: soak [-t THREADS] [-r LAUNCHES-A-SECOND] [-s SECONDS]\n");
	return 2;
}
