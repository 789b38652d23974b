// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch.h"

#include <cupti.h>
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES  (1 << 20)
#define BUFFER_ALIGNS 64

struct variant {
	const char *name;
	void (*prepare)(void);
	void (*on)(void);
	void (*off)(void);
};

static const struct variant *variant;

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void *resolve(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (!address)
		die("bench: %s", dlerror());
	return address;
}

static void nothing(void)
{
}

/* ---- activity: CUPTI without callbacks ---- */

static struct {
	__typeof__(&cuptiActivityEnable) enable;
	__typeof__(&cuptiActivityDisable) disable;
} cupti;

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void request_buffer(uint8_t **ret_buffer, size_t *ret_bytes,
			   size_t *ret_max_records)
{
	*ret_buffer = aligned_alloc(BUFFER_ALIGNS, BUFFER_BYTES);
	*ret_bytes = BUFFER_BYTES;
	*ret_max_records = 0;
}

static void complete_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
			    size_t bytes, size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	(void)valid_bytes;
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

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && !library; i++)
		library = dlopen(paths[i], RTLD_NOW);
	if (!library)
		die("bench: %s; name the file in CUPTI_LIBRARY", dlerror());
	return library;
}

static void activity_prepare(void)
{
	void *library = open_cupti();
	__typeof__(&cuptiActivityRegisterCallbacks) register_callbacks;
	__typeof__(&cuptiActivityRegisterTimestampCallback) register_timestamps;

	cupti.enable = resolve(library, "cuptiActivityEnable");
	cupti.disable = resolve(library, "cuptiActivityDisable");
	register_callbacks = resolve(library, "cuptiActivityRegisterCallbacks");
	register_timestamps = resolve(library, "cuptiActivityRegisterTimestampCallback");
	/* As the injected library does it: its clock is part of the price. */
	if (register_timestamps(monotonic_ns) ||
	    register_callbacks(request_buffer, complete_buffer))
		die("bench: CUPTI refuses its callbacks");
}

static void activity_on(void)
{
	if (cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		die("bench: cuptiActivityEnable failed");
}

static void activity_off(void)
{
	if (cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		die("bench: cuptiActivityDisable failed");
}

/* ---- perf-gpu ---- */

static struct {
	void (*resume)(void);
	void (*pause)(void);
} perf_gpu;

/* The driver has opened the library outside the global scope. */
static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	void *library;

	(void)size;
	(void)data;
	if (!strstr(info->dlpi_name, "libperf-gpu-inject.so"))
		return 0;
	library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return 0;
	perf_gpu.resume = resolve(library, "perf_gpu_resume");
	perf_gpu.pause = resolve(library, "perf_gpu_pause");
	return 1;
}

static void perf_gpu_find(void)
{
	if (!perf_gpu.resume && !dl_iterate_phdr(find_library, NULL))
		die("bench: not under perf-gpu record");
}

static void perf_gpu_on(void)
{
	perf_gpu_find();
	perf_gpu.resume();
}

static void perf_gpu_off(void)
{
	perf_gpu_find();
	perf_gpu.pause();
}

static const struct variant variants[] = {
	{"bare", nothing, nothing, nothing},
	{"activity", activity_prepare, activity_on, activity_off},
	{"perf-gpu", nothing, perf_gpu_on, perf_gpu_off},
};

void switch__prepare(const char *name)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		if (!strcmp(variants[i].name, name))
			variant = &variants[i];
	if (!variant)
		die("bench: no variant %s: there are bare, activity and perf-gpu", name);
	variant->prepare();
}

void switch__on(void)
{
	variant->on();
}

void switch__off(void)
{
	variant->off();
}
