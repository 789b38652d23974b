// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What recording costs a launch. Blocks of launches of an empty kernel, recorded
 * and not recorded by turns within one process: the machine's noise is as large as
 * what is measured, but it is the same for a block and its neighbour.
 *
 *   bare      nothing is switched: how far apart equal blocks are. Also what runs
 *             under another profiler.
 *   activity  CUPTI's kernel activity records alone, by this program itself: what
 *             any profiler that knows GPU times has to pay
 *   perf-gpu  under `perf-gpu record`: perf_gpu_resume() and perf_gpu_pause() of
 *             the injected library
 *
 * Prints one line with tabs, all in ns a launch, as first quartile, median and third
 * quartile: VARIANT, off (3 numbers), on (3), on - off of neighbours (3).
 */
#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE      __attribute__((noinline))
#define MAX_PAIRS     10000
#define NR_WARM_UP    30 /* launches behind each switch, not timed */
#define BUFFER_BYTES  (1 << 20)
#define BUFFER_ALIGNS 64

#define CHECK(call)                                                                    \
	do {                                                                           \
		int error_ = (call);                                                   \
		if (error_) {                                                          \
			fprintf(stderr, "launch_loop: %s: error %d\n", #call, error_); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

/* How a variant is set up, before CUDA is, and switched. */
struct variant {
	const char *name;
	void (*prepare)(void);
	void (*find)(void); /* after CUDA is set up */
	void (*on)(void);
	void (*off)(void);
};

__global__ void empty()
{
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void nothing(void)
{
}

/* ---- activity: CUPTI without callbacks ---- */

static struct {
	decltype(&cuptiActivityEnable) enable;
	decltype(&cuptiActivityDisable) disable;
	decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
	decltype(&cuptiActivityRegisterTimestampCallback) register_timestamps;
} cupti;

static void request_buffer(uint8_t **ret_buffer, size_t *ret_bytes,
			   size_t *ret_max_records)
{
	*ret_buffer = (uint8_t *)aligned_alloc(BUFFER_ALIGNS, BUFFER_BYTES);
	*ret_bytes = BUFFER_BYTES;
	*ret_max_records = 0;
}

static void complete_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t)
{
	free(buffer);
}

static void *open_cupti(void)
{
	static const char *const paths[] = {
		"libcupti.so.13", "libcupti.so.12", "libcupti.so",
		"/usr/local/cuda/lib64/libcupti.so",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
	const char *chosen = getenv("CUPTI_LIBRARY");
	void *library = chosen ? dlopen(chosen, RTLD_NOW) : NULL;

	for (const char *path : paths)
		if (!library)
			library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "launch_loop: %s; name the file in CUPTI_LIBRARY\n",
			dlerror());
		exit(1);
	}
	return library;
}

template <typename F> static void resolve(void *library, const char *name, F *ret)
{
	*ret = (F)dlsym(library, name);
	if (!*ret) {
		fprintf(stderr, "launch_loop: %s\n", dlerror());
		exit(1);
	}
}

static void activity_prepare(void)
{
	void *library = open_cupti();

	resolve(library, "cuptiActivityEnable", &cupti.enable);
	resolve(library, "cuptiActivityDisable", &cupti.disable);
	resolve(library, "cuptiActivityRegisterCallbacks", &cupti.register_callbacks);
	resolve(library, "cuptiActivityRegisterTimestampCallback",
		&cupti.register_timestamps);
	/* As the library does it: its clock is part of the price. */
	CHECK(cupti.register_timestamps(now_ns));
	CHECK(cupti.register_callbacks(request_buffer, complete_buffer));
}

static void activity_on(void)
{
	CHECK(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void activity_off(void)
{
	CHECK(cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

/* ---- perf-gpu ---- */

static void (*perf_gpu_resume)(void);
static void (*perf_gpu_pause)(void);

/* The driver has opened the library outside the global scope. */
static int find_library(struct dl_phdr_info *info, size_t, void *)
{
	void *library;

	if (!strstr(info->dlpi_name, "libperf-gpu-inject.so"))
		return 0;
	library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return 0;
	resolve(library, "perf_gpu_resume", &perf_gpu_resume);
	resolve(library, "perf_gpu_pause", &perf_gpu_pause);
	return 1;
}

static void perf_gpu_find(void)
{
	if (!dl_iterate_phdr(find_library, NULL)) {
		fprintf(stderr, "launch_loop: not under perf-gpu record\n");
		exit(1);
	}
}

static void perf_gpu_on(void)
{
	perf_gpu_resume();
}

static void perf_gpu_off(void)
{
	perf_gpu_pause();
}

static const struct variant variants[] = {
	{"bare", nothing, nothing, nothing, nothing},
	{"activity", activity_prepare, nothing, activity_on, activity_off},
	{"perf-gpu", nothing, perf_gpu_find, perf_gpu_on, perf_gpu_off},
};

/* ---- the loop ---- */

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

NOINLINE static void run_pairs(const struct variant *variant, int nr_pairs,
			       int nr_launches, double *off, double *on)
{
	for (int i = 0; i < nr_pairs; i++) {
		variant->off();
		off[i] = time_block(nr_launches);
		variant->on();
		on[i] = time_block(nr_launches);
	}
}

/* run_pairs() from further down the stack: a stack has to be walked, too. */
NOINLINE static void descend(int nr_frames, const struct variant *variant, int nr_pairs,
			     int nr_launches, double *off, double *on)
{
	if (nr_frames > 0)
		descend(nr_frames - 1, variant, nr_pairs, nr_launches, off, on);
	else
		run_pairs(variant, nr_pairs, nr_launches, off, on);
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

static const struct variant *find_variant(const char *name)
{
	for (const struct variant &v : variants)
		if (!strcmp(v.name, name))
			return &v;
	return NULL;
}

int main(int argc, char **argv)
{
	static double off[MAX_PAIRS], on[MAX_PAIRS], difference[MAX_PAIRS];
	const struct variant *variant = &variants[0];
	int nr_pairs = 300, nr_launches = 500, nr_frames = 12, option;

	while ((option = getopt(argc, argv, "v:p:n:d:")) != -1) {
		if (option == 'v')
			variant = find_variant(optarg);
		else if (option == 'p')
			nr_pairs = atoi(optarg);
		else if (option == 'n')
			nr_launches = atoi(optarg);
		else if (option == 'd')
			nr_frames = atoi(optarg);
		if (option == '?' || !variant)
			goto usage;
	}
	if (nr_pairs < 1 || nr_pairs > MAX_PAIRS || nr_launches < 1)
		goto usage;
	variant->prepare();
	CHECK(cudaFree(NULL));
	time_block(nr_launches); /* loads the kernel */
	variant->find();
	descend(nr_frames, variant, nr_pairs, nr_launches, off, on);
	for (int i = 0; i < nr_pairs; i++)
		difference[i] = on[i] - off[i];
	printf("%s", variant->name);
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
