// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/gpu_log_definitions.h"

#include "util/gpu_log_sizes.h"

bool gpu_log_record__is_definition(const struct gpu_log_record *record)
{
	const struct gpu_log_nvtx *nvtx = (const void *)record;

	/* No default: the compiler asks for a line of each new type. */
	switch ((enum gpu_log_type)record->type) {
	case GPU_LOG_KERNEL:
	case GPU_LOG_ACTIVITY:
	case GPU_LOG_MEMORY:
	case GPU_LOG_API_CALL:
	case GPU_LOG_LOSS:
	case GPU_LOG_END:
	case GPU_LOG_FORGET:
	/* Of the recorder, and of launch logs: in no log of a process's GPU records */
	case GPU_LOG_RECORDER:
	case GPU_LOG_STACK:
	case GPU_LOG_TIME:
	case GPU_LOG_LAUNCH:
	case GPU_LOG_THREAD:
	case GPU_LOG_MAP:
		return false;
	case GPU_LOG_NVTX:
		return gpu_log_record__is_whole(record) &&
		       (nvtx->operation == GPU_LOG_NVTX_PUSH ||
			nvtx->operation == GPU_LOG_NVTX_START);
	case GPU_LOG_PROCESS:
	case GPU_LOG_STRING:
	case GPU_LOG_API:
	case GPU_LOG_DEVICE:
	case GPU_LOG_CONTEXT:
	case GPU_LOG_SHAPE:
	case GPU_LOG_MESSAGE:
	case GPU_LOG_PYTHON_CODE:
	case GPU_LOG_GRAPH_NODE:
	case GPU_LOG_JIT:
	case GPU_LOG_EVENTS:
	case GPU_LOG_OPERATION:
	case GPU_LOG_RANK:
	case GPU_LOG_NAMESPACE:
	case GPU_LOG_ORIGIN:
		break;
	}
	return true;
}
