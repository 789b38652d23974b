// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What walking a stack costs in a recorded process, without a launch around it:
 *
 *   unwind [-l] warm                ns a walk at several depths, median of batches
 *   unwind [-l] threads NR          resident memory and first walks of threads, which
 *                                   walk one stack each and stay
 *   unwind [-l] objects FILE...     a stack through a function each of shared objects:
 *                                   the first walk, the second, and another thread's
 *
 * -l walks by libunwind's unw_backtrace(), which is what others do. Objects have
 *
 *   void pass_through(void **next);   calls next[0](next + 1)
 *
 * Prints lines with tabs: what, number, unit.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES	127
#define NOINLINE	__attribute__((noinline))
#define NR_BATCHES	101
#define NR_OTHER_FRAMES 7 /* of a walk, around descend() */
#define NR_WALKS	1000 /* in a batch */
#define MAX_OBJECTS	10000

static size_t (*walk__run)(uint64_t *frames); /* walk.c */
static int (*unw_backtrace)(void **buffer, int size);

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

NOINLINE static size_t walk(void)
{
	uint64_t frames[MAX_FRAMES];

	if (unw_backtrace)
		return (size_t)unw_backtrace((void **)frames, MAX_FRAMES);
	return walk__run(frames);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void time_walks(void *unused)
{
	double batches[NR_BATCHES];
	size_t nr_frames = walk();

	(void)unused;
	for (int i = 0; i < NR_BATCHES; i++) {
		uint64_t start_ns = now_ns();

		for (int j = 0; j < NR_WALKS; j++)
			walk();
		batches[i] = (double)(now_ns() - start_ns) / NR_WALKS;
	}
	qsort(batches, NR_BATCHES, sizeof(*batches), compare);
	printf("walk of %zu frames\t%.0f\tns\n", nr_frames, batches[NR_BATCHES / 2]);
}

/* Calls FN from so many frames further down. */
NOINLINE static void descend(unsigned int nr_frames, void (*fn)(void *), void *argument)
{
	if (nr_frames > 0)
		descend(nr_frames - 1, fn, argument);
	else
		fn(argument);
	__asm__ volatile(""); /* no tail call */
}

/* ---- threads ---- */

struct thread {
	pthread_t id;
	uint64_t first_ns;
	size_t nr_frames;
	pthread_barrier_t *barrier;
};

static void time_first(void *argument)
{
	struct thread *thread = argument;
	uint64_t start_ns = now_ns();

	thread->nr_frames = walk();
	thread->first_ns = now_ns() - start_ns;
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	pthread_barrier_wait(thread->barrier);
	descend(30, time_first, thread);
	pthread_barrier_wait(thread->barrier);
	pthread_barrier_wait(thread->barrier);
	return NULL;
}

static unsigned long resident_kib(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*u %lu", &pages) != 1)
		exit(1);
	fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static void walk_in_threads(unsigned int nr_threads)
{
	struct thread *threads = calloc(nr_threads, sizeof(*threads));
	double *first_ns = calloc(nr_threads, sizeof(*first_ns));
	pthread_barrier_t barrier;
	pthread_attr_t attr;
	unsigned long before_kib;

	if (!threads || !first_ns)
		exit(1);
	pthread_barrier_init(&barrier, NULL, nr_threads + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (unsigned int i = 0; i < nr_threads; i++) {
		threads[i].barrier = &barrier;
		if (pthread_create(&threads[i].id, &attr, run_thread, &threads[i]))
			exit(1);
	}
	/* Let them touch their stacks; what comes then is of the walks */
	usleep(200000);
	before_kib = resident_kib();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	printf("memory of %u threads\t%lu\tKiB\n", nr_threads,
	       resident_kib() - before_kib);
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < nr_threads; i++) {
		pthread_join(threads[i].id, NULL);
		first_ns[i] = (double)threads[i].first_ns;
	}
	qsort(first_ns, nr_threads, sizeof(*first_ns), compare);
	printf("first walk of a thread, %zu frames\t%.1f\tus\n", threads[0].nr_frames,
	       first_ns[nr_threads / 2] / 1000);
	pthread_attr_destroy(&attr);
	pthread_barrier_destroy(&barrier);
	free(first_ns);
	free(threads);
}

/* ---- objects ---- */

static void *chain[MAX_OBJECTS + 1];

/* The last of the chain */
static void time_three(void **end)
{
	struct thread first, second;

	(void)end;
	time_first(&first);
	time_first(&second);
	printf("first walk of %zu frames\t%.1f\tus\n", first.nr_frames,
	       (double)first.first_ns / 1000);
	printf("second walk\t%.1f\tus\n", (double)second.first_ns / 1000);
}

static void call_chain(void *unused)
{
	(void)unused;
	((void (*)(void **))(uintptr_t)chain[0])(chain + 1);
}

static void *call_chain_in_thread(void *unused)
{
	call_chain(unused);
	return NULL;
}

static int walk_through(int nr_objects, char **paths)
{
	unsigned long before_kib;
	pthread_t thread;
	int nr = 0;

	if (nr_objects > MAX_OBJECTS)
		return 2;
	for (int i = 0; i < nr_objects; i++) {
		void *handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);

		if (!handle) {
			fprintf(stderr, "unwind: %s\n", dlerror());
			return 1;
		}
		/* As many as a stack takes; the others are only to be searched. */
		if (i >= nr_objects - 110)
			chain[nr++] = dlsym(handle, "pass_through");
	}
	chain[nr] = (void *)(uintptr_t)time_three;
	before_kib = resident_kib();
	call_chain(NULL);
	printf("memory\t%lu\tKiB\n", resident_kib() - before_kib);
	printf("in another thread:\n");
	if (pthread_create(&thread, NULL, call_chain_in_thread, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

static void *open_library(const char *name, const char *function)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	void *ret = handle ? dlsym(handle, function) : NULL;

	if (!ret) {
		fprintf(stderr, "unwind: %s\n", dlerror());
		exit(1);
	}
	return ret;
}

static void open_walk(void)
{
	int (*walk__open)(void) =
		(int (*)(void))(uintptr_t)open_library("libwalk.so", "walk__open");
	uint64_t start_ns = now_ns();

	if (walk__open()) {
		fprintf(stderr, "unwind: no libunwind\n");
		exit(1);
	}
	printf("opening\t%.1f\tus\n", (double)(now_ns() - start_ns) / 1000);
	walk__run =
		(size_t(*)(uint64_t *))(uintptr_t)open_library("libwalk.so", "walk__run");
}

int main(int argc, char **argv)
{
	static const unsigned int depths[] = {10, 30, 60, 127};

	if (argc > 1 && !strcmp(argv[1], "-l")) {
		unw_backtrace = (int (*)(void **, int))(
			uintptr_t)open_library("libunwind.so.8", "unw_backtrace");
		argc--;
		argv++;
	} else {
		open_walk();
	}
	if (argc == 2 && !strcmp(argv[1], "warm")) {
		for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++)
			descend(depths[i] - NR_OTHER_FRAMES, time_walks, NULL);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "threads")) {
		walk_in_threads((unsigned int)atoi(argv[2]));
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "objects"))
		return walk_through(argc - 2, argv + 2);
	fprintf(stderr, "usage: unwind [-l] warm | threads NR | objects FILE...\n");
	return 2;
}
