// SPDX-License-Identifier: GPL-2.0-or-later
#include "refusal.h"

#include <stdio.h>

static const char *const words[] = {
	[GPU_LOG_KIND_KERNEL] = "kernels",
	[GPU_LOG_KIND_MEMCPY] = "copies",
	[GPU_LOG_KIND_MEMSET] = "memsets",
	[GPU_LOG_KIND_SYNC] = "syncs",
	[GPU_LOG_KIND_CALL] = "API calls",
	[GPU_LOG_KIND_MEMORY] = "allocations",
	[GPU_LOG_KIND_FAULT] = "faults of unified memory",
	[GPU_LOG_KIND_NVTX] = "NVTX ranges",
};
#define NR_KINDS (sizeof(words) / sizeof(*words))

/* "kernels, copies, memsets" */
static void say_kinds(uint32_t kinds, char *ret, size_t size)
{
	size_t length = 0;

	*ret = 0;
	for (size_t kind = 0; kind < NR_KINDS && length < size; kind++)
		if (kinds & GPU_LOG_KIND_BIT(kind))
			length += (size_t)snprintf(ret + length, size - length, "%s%s",
						   length ? ", " : "", words[kind]);
}

void refusal__tell(const struct activity_refusal *refusal, struct log *log,
		   const struct cupti_table *cupti, enum gpu_log_severity severity)
{
	char kinds[128];

	say_kinds(refusal->kinds, kinds, sizeof(kinds));
	if (refusal->kinds)
		log__message(log, severity,
			     "%s can't record %s: %s (is it older than the driver's "
			     "CUDA, or is profiling forbidden to this user?)",
			     cupti->path, kinds,
			     cupti_table__error(cupti, refusal->result));
	say_kinds(refusal->unknown_kinds, kinds, sizeof(kinds));
	if (refusal->unknown_kinds)
		log__message(log, severity,
			     "%s (API version %u) is too old to record %s: install a "
			     "newer CUPTI, or set PERF_GPU_CUPTI to the path of one",
			     cupti->path, cupti->version, kinds);
}
