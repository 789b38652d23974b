// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_check.h"

#include <stdint.h>

#include "cupti_clock.h"
#include "readable.h"
#include "record_layout.h"

/* CUPTI's enumerations have some ten members each, and get one now and then. */
#define MAX_ENUM    64
#define MAX_DEVICES 4096
/* A thread block's, in each direction (CUDA: 1,024 since there is CUDA 2) */
#define MAX_BLOCK 65536
/* How far times may lie ahead: CUPTI interpolates those of the GPU. */
#define MAX_AHEAD_NS (3600ull * 1000000000)

static bool is_time(uint64_t time_ns)
{
	return !time_ns ||
	       cupti_clock__convert(time_ns) < cupti_clock__now() + MAX_AHEAD_NS;
}

/* An end of 0: it goes on; one before the start: the time isn't known. */
static bool are_times(uint64_t start_ns, uint64_t end_ns)
{
	return is_time(start_ns) && is_time(end_ns);
}

/* NULL, or one that begins in memory */
static bool is_string(const char *text)
{
	const struct readable readable = readable__begin();

	return !text || readable__check(&readable, (uintptr_t)text, 1);
}

static bool is_size(int32_t size, int32_t max)
{
	return size > 0 && size <= max;
}

static bool is_kernel(const record_kernel *kernel)
{
	return are_times(kernel->start, kernel->end) && kernel->deviceId < MAX_DEVICES &&
	       is_size(kernel->gridX, INT32_MAX) && is_size(kernel->gridY, INT32_MAX) &&
	       is_size(kernel->gridZ, INT32_MAX) && is_size(kernel->blockX, MAX_BLOCK) &&
	       is_size(kernel->blockY, MAX_BLOCK) && is_size(kernel->blockZ, MAX_BLOCK) &&
	       is_string(kernel->name);
}

static bool is_memcpy(const record_memcpy *copy)
{
	return are_times(copy->start, copy->end) && copy->deviceId < MAX_DEVICES &&
	       copy->copyKind < MAX_ENUM && copy->srcKind < MAX_ENUM &&
	       copy->dstKind < MAX_ENUM;
}

static bool is_peer_memcpy(const record_peer_memcpy *copy)
{
	return are_times(copy->start, copy->end) && copy->srcDeviceId < MAX_DEVICES &&
	       copy->dstDeviceId < MAX_DEVICES && copy->copyKind < MAX_ENUM &&
	       copy->srcKind < MAX_ENUM && copy->dstKind < MAX_ENUM;
}

static bool is_memset(const record_memset *set)
{
	return are_times(set->start, set->end) && set->deviceId < MAX_DEVICES &&
	       set->memoryKind < MAX_ENUM;
}

static bool is_sync(const record_sync *sync)
{
	return are_times(sync->start, sync->end) && (uint32_t)sync->type < MAX_ENUM;
}

static bool is_memory(const record_memory *memory)
{
	return is_time(memory->timestamp) &&
	       (uint32_t)memory->memoryOperationType < MAX_ENUM &&
	       (uint32_t)memory->memoryKind < MAX_ENUM && is_string(memory->name);
}

static bool is_fault(const record_fault *fault)
{
	return is_time(fault->start) && (uint32_t)fault->counterKind < MAX_ENUM;
}

bool record_check__is_plausible(const CUpti_Activity *record)
{
	const void *body = record;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return is_kernel(body);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return is_memcpy(body);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return is_peer_memcpy(body);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return is_memset(body);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return is_sync(body);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return is_memory(body);
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		return is_fault(body);
	default:
		return true;
	}
}
