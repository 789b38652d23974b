// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `make fuzz` links around a target: no input may take more than a second of CPU
 * time per 100 kB, nor more memory than ten times its size and 64 MB. What takes more
 * dies here, so that libFuzzer keeps the input as it keeps those that crash.
 *
 * The linker gives libFuzzer this __wrap_ in the place of the target (--wrap), so that a
 * target needs to know nothing of it. One thread.
 */
#include <sanitizer/allocator_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/log.h"

#define NS_PER_S      1000000000ull
#define STEP_BYTES    100000 /* for each that has begun, a second */
#define MEMORY_FACTOR 10
#define MEMORY_BYTES  (64ull << 20)
/* ASan, UBSan and coverage together; measured: 3 to 5 times */
#define SANITIZER_SLOWS 5

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct {
	uint64_t bytes, peak_bytes;
} heap;

static void note_malloc(const volatile void *data, size_t bytes)
{
	(void)data;
	heap.bytes += bytes;
	if (heap.bytes > heap.peak_bytes)
		heap.peak_bytes = heap.bytes;
}

static void note_free(const volatile void *data)
{
	heap.bytes -= data ? __sanitizer_get_allocated_size(data) : 0;
}

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
		abort();
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_verbosity = -1;
	if (!__sanitizer_install_malloc_and_free_hooks(note_malloc, note_free))
		abort();
	return 0;
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_set_up; /* the first input pays for what a target keeps */
	const uint64_t max_ns = (1 + size / STEP_BYTES) * NS_PER_S * SANITIZER_SLOWS;
	const uint64_t max_bytes = MEMORY_FACTOR * size + MEMORY_BYTES;
	uint64_t start_ns, took_ns, start_bytes = heap.bytes;
	int ret;

	heap.peak_bytes = heap.bytes;
	start_ns = cpu_time_ns();
	ret = __real_LLVMFuzzerTestOneInput(data, size);
	took_ns = cpu_time_ns() - start_ns;
	if (is_set_up && took_ns > max_ns) {
		fprintf(stderr, "an input of %zu bytes took %.1f s of CPU time\n", size,
			(double)took_ns / NS_PER_S);
		abort();
	}
	if (is_set_up && heap.peak_bytes - start_bytes > max_bytes) {
		fprintf(stderr, "an input of %zu bytes took %llu bytes of memory\n", size,
			(unsigned long long)(heap.peak_bytes - start_bytes));
		abort();
	}
	is_set_up = true;
	return ret;
}
