// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/gpu_record.h"

#include "util/gpu_log_sizes.h"

union any_record {
	struct gpu_log_record record;
	struct gpu_log_kernel kernel;
	struct gpu_log_activity activity;
	struct gpu_log_memory memory;
	struct gpu_log_api_call call;
};

bool gpu_record__has_key(const struct gpu_log_record *record)
{
	switch (record->type) {
	case GPU_LOG_KERNEL:
	case GPU_LOG_ACTIVITY:
	case GPU_LOG_MEMORY:
	case GPU_LOG_API_CALL:
		return gpu_log_record__is_whole(record);
	default:
		return false;
	}
}

uint64_t gpu_record__key(const struct gpu_log_record *record)
{
	const union any_record *any = (const void *)record;

	if (!gpu_record__has_key(record))
		return 0;
	switch (record->type) {
	case GPU_LOG_KERNEL:
		return any->kernel.correlation_id;
	case GPU_LOG_ACTIVITY:
		return any->activity.correlation_id;
	case GPU_LOG_MEMORY:
		return any->memory.correlation_id;
	case GPU_LOG_API_CALL:
		return any->call.correlation_id;
	default:
		return 0;
	}
}

uint64_t gpu_record__start_ns(const struct gpu_log_record *record)
{
	const union any_record *any = (const void *)record;

	if (!gpu_record__has_key(record))
		return 0;
	switch (record->type) {
	case GPU_LOG_KERNEL:
		return any->kernel.start_ns;
	case GPU_LOG_ACTIVITY:
		return any->activity.start_ns;
	case GPU_LOG_MEMORY:
		return any->memory.time_ns;
	case GPU_LOG_API_CALL:
		return any->call.start_ns;
	default:
		return 0;
	}
}

uint64_t gpu_record__end_ns(const struct gpu_log_record *record)
{
	const union any_record *any = (const void *)record;

	if (!gpu_record__has_key(record))
		return 0;
	switch (record->type) {
	case GPU_LOG_KERNEL:
		return any->kernel.end_ns;
	case GPU_LOG_ACTIVITY:
		return any->activity.end_ns;
	case GPU_LOG_API_CALL:
		return any->call.end_ns;
	default:
		return gpu_record__start_ns(record);
	}
}
