// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Managed memory that moves: when it is prefetched, and when a kernel runs of which the
 * script says so, in lines "PART DIRECTION BYTES FAULTS".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* A block moves at once, and has a record of its own. */
#define BLOCK_BYTES	    (2u << 20)
#define PREFETCH_LATENCY_NS 2000
#define PREFETCH_GB_S	    50
#define CPU_ID		    UINT32_MAX

#define COUNTER(name_) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##name_

const char *const counter_names[NR_COUNTERS] = {
	[COUNTER(UNKNOWN)] = "unknown",
	[COUNTER(BYTES_TRANSFER_HTOD)] = "HtoD",
	[COUNTER(BYTES_TRANSFER_DTOH)] = "DtoH",
	[COUNTER(CPU_PAGE_FAULT_COUNT)] = "cpu-fault",
	[COUNTER(GPU_PAGE_FAULT)] = "gpu-fault",
	[COUNTER(THRASHING)] = "thrashing",
	[COUNTER(THROTTLING)] = "throttling",
	[COUNTER(REMOTE_MAP)] = "remote-map",
	[COUNTER(BYTES_TRANSFER_DTOD)] = "DtoD",
};

struct migration {
	struct migration *next;
	CUpti_ActivityUnifiedMemoryCounterKind kind;
	uint64_t bytes, nr_faults;
	char part[]; /* of the kernel's name */
};

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static struct migration *migrations;

static struct migration *parse(const char *line)
{
	char part[256], direction[8];
	uint64_t bytes, nr_faults;
	struct migration *migration;

	if (*line == '#' ||
	    sscanf(line, "%255s %7s %lu %lu", part, direction, &bytes, &nr_faults) != 4)
		return NULL;
	migration = malloc(sizeof(*migration) + strlen(part) + 1);
	if (!migration)
		return NULL;
	strcpy(migration->part, part);
	migration->bytes = bytes;
	migration->nr_faults = nr_faults;
	migration->kind = strcmp(direction, "DtoH") ? COUNTER(BYTES_TRANSFER_HTOD)
						    : COUNTER(BYTES_TRANSFER_DTOH);
	return migration;
}

static void read_script(void)
{
	struct migration **end = &migrations;
	size_t size = 0;
	char *line = NULL;
	FILE *file;

	if (!knobs.migrations_path)
		return;
	file = fopen(knobs.migrations_path, "re");
	if (!file) {
		fprintf(stderr, "fake_cuda: FAKE_CUDA_MIGRATIONS=%s: %s\n",
			knobs.migrations_path, strerror(errno));
		abort();
	}
	while (getline(&line, &size, file) > 0) {
		*end = parse(line);
		if (*end) {
			(*end)->next = NULL;
			end = &(*end)->next;
		}
	}
	free(line);
	fclose(file);
}

static void tell(const struct fake_migration *migration, int device)
{
	truth__add_migration(migration, device);
	if (fake_tools__wants(&tools, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER))
		atomic_load(&tools.hooks)->migration(migration);
}

/* Block by block, in @duration_ns from @template->start_ns on */
static void move(const struct fake_migration *template, uint64_t bytes,
		 uint64_t duration_ns, int device)
{
	uint64_t nr_blocks = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;

	for (uint64_t i = 0; i < nr_blocks; i++) {
		struct fake_migration block = *template;

		block.value = i + 1 < nr_blocks ? BLOCK_BYTES : bytes - i * BLOCK_BYTES;
		block.address += i * BLOCK_BYTES;
		block.start_ns += duration_ns * i / nr_blocks;
		block.end_ns = template->start_ns + duration_ns * (i + 1) / nr_blocks;
		tell(&block, device);
	}
}

static void fault(const struct fake_migration *template, uint64_t nr_faults,
		  uint64_t duration_ns, int device)
{
	bool is_cpu = template->kind == COUNTER(BYTES_TRANSFER_DTOH);

	for (uint64_t i = 0; i < nr_faults; i++) {
		struct fake_migration page = *template;

		page.kind =
			is_cpu ? COUNTER(CPU_PAGE_FAULT_COUNT) : COUNTER(GPU_PAGE_FAULT);
		/* The faulting instruction's address; how many faults are in the group */
		page.value = is_cpu ? (uintptr_t)fault : 1;
		page.address += i * BLOCK_BYTES;
		page.from = is_cpu ? CPU_ID : (uint32_t)device;
		page.to = CPU_ID;
		page.flags = is_cpu ? 0 : CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ;
		page.start_ns += duration_ns * i / nr_faults;
		page.end_ns = is_cpu ? page.start_ns : page.start_ns + 1;
		tell(&page, device);
	}
}

const struct migration *migration__find(const char *kernel)
{
	const struct migration *migration;

	pthread_once(&read_once, read_script);
	for (migration = migrations; migration; migration = migration->next)
		if (strstr(kernel, migration->part))
			break;
	return migration;
}

void migration__play(const struct migration *migration, const struct CUstream_st *stream,
		     uint64_t start_ns, uint64_t duration_ns)
{
	int device = stream->context->device;
	bool is_to_host = migration->kind == COUNTER(BYTES_TRANSFER_DTOH);
	const struct fake_migration template = {
		.kind = migration->kind,
		.address = memory__newest_managed(),
		.start_ns = start_ns,
		.from = is_to_host ? (uint32_t)device : CPU_ID,
		.to = is_to_host ? CPU_ID : (uint32_t)device,
		.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE,
	};

	fault(&template, migration->nr_faults, duration_ns, device);
	move(&template, migration->bytes, duration_ns, device);
}

/* @home: a device, or -1 for the CPU */
static CUresult prefetch(CUdeviceptr at, size_t bytes, int home, CUstream handle,
			 bool is_per_thread)
{
	uint64_t duration_ns = PREFETCH_LATENCY_NS + bytes / PREFETCH_GB_S;
	struct fake_migration template = {
		.address = at,
		.to = home < 0 ? CPU_ID : (uint32_t)home,
		.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH,
	};
	struct CUstream_st *stream;
	struct allocation found;

	TRY(stream__get(handle, is_per_thread, &stream));
	if (!bytes || !memory__find_managed((void *)(uintptr_t)at, &found) ||
	    (home >= 0 && !device__is_valid(home)))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (found.home == home || fork_page__is_forked())
		return CUDA_SUCCESS;
	template.from = found.home < 0 ? CPU_ID : (uint32_t)found.home;
	template.kind = home < 0	 ? COUNTER(BYTES_TRANSFER_DTOH)
			: found.home < 0 ? COUNTER(BYTES_TRANSFER_HTOD)
					 : COUNTER(BYTES_TRANSFER_DTOD);
	template.start_ns = stream__run(stream, duration_ns);
	move(&template, bytes, duration_ns, home < 0 ? found.home : home);
	memory__set_home((void *)(uintptr_t)at, home);
	return CUDA_SUCCESS;
}

static int home_of(CUmemLocation location)
{
	return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
}

static CUresult advise(CUdeviceptr at)
{
	struct allocation found;

	return memory__find_managed((void *)(uintptr_t)at, &found)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

/* clang-format off */
DRIVER_API(cuMemPrefetchAsync_v2,
	   (CUdeviceptr at, size_t bytes, CUmemLocation location, unsigned int flags,
	    CUstream stream),
	   (at, bytes, location, flags, stream),
	   prefetch(at, bytes, home_of(location), stream, false))
DRIVER_API(cuMemPrefetchAsync_v2_ptsz,
	   (CUdeviceptr at, size_t bytes, CUmemLocation location, unsigned int flags,
	    CUstream stream),
	   (at, bytes, location, flags, stream),
	   prefetch(at, bytes, home_of(location), stream, true))
DRIVER_API(cuMemAdvise_v2,
	   (CUdeviceptr at, size_t bytes, CUmem_advise advice, CUmemLocation location),
	   (at, bytes, advice, location), advise(at))
/* Those of CUDA 12, whose headers have them under the plain names */
#undef cuMemPrefetchAsync
#undef cuMemAdvise
DRIVER_API(cuMemPrefetchAsync,
	   (CUdeviceptr at, size_t bytes, CUdevice device, CUstream stream),
	   (at, bytes, device, stream), prefetch(at, bytes, device, stream, false))
DRIVER_API(cuMemPrefetchAsync_ptsz,
	   (CUdeviceptr at, size_t bytes, CUdevice device, CUstream stream),
	   (at, bytes, device, stream), prefetch(at, bytes, device, stream, true))
DRIVER_API(cuMemAdvise,
	   (CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice device),
	   (at, bytes, advice, device), advise(at))
