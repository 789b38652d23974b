// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/gpu_log_sizes.h"

size_t gpu_log_least_bytes(unsigned int type)
{
	/* No default: the compiler asks for a line of each new type. */
	switch ((enum gpu_log_type)type) {
	case GPU_LOG_PROCESS:
		return sizeof(struct gpu_log_process);
	case GPU_LOG_STRING:
		return sizeof(struct gpu_log_string);
	case GPU_LOG_API:
		return sizeof(struct gpu_log_api);
	case GPU_LOG_DEVICE:
		return sizeof(struct gpu_log_device);
	case GPU_LOG_CONTEXT:
		return sizeof(struct gpu_log_context);
	case GPU_LOG_SHAPE:
		return sizeof(struct gpu_log_shape);
	case GPU_LOG_KERNEL:
		return sizeof(struct gpu_log_kernel);
	case GPU_LOG_LOSS:
		return sizeof(struct gpu_log_loss);
	case GPU_LOG_MESSAGE:
		return sizeof(struct gpu_log_message);
	case GPU_LOG_RECORDER:
		return GPU_LOG_RECORDER_MIN_BYTES;
	case GPU_LOG_END:
		return GPU_LOG_END_MIN_BYTES;
	case GPU_LOG_STACK:
		return sizeof(struct gpu_log_stack);
	case GPU_LOG_TIME:
		return sizeof(struct gpu_log_time);
	case GPU_LOG_LAUNCH:
		return sizeof(struct gpu_log_launch);
	case GPU_LOG_THREAD:
		return sizeof(struct gpu_log_thread);
	case GPU_LOG_MAP:
		return sizeof(struct gpu_log_map);
	case GPU_LOG_PYTHON_CODE:
		return sizeof(struct gpu_log_python_code);
	case GPU_LOG_GRAPH_NODE:
		return sizeof(struct gpu_log_graph_node);
	case GPU_LOG_JIT:
		return sizeof(struct gpu_log_jit);
	case GPU_LOG_API_CALL:
		return sizeof(struct gpu_log_api_call);
	case GPU_LOG_EVENTS:
		return sizeof(struct gpu_log_events);
	case GPU_LOG_OPERATION:
		return sizeof(struct gpu_log_operation);
	case GPU_LOG_ACTIVITY:
		return sizeof(struct gpu_log_activity);
	case GPU_LOG_MEMORY:
		return sizeof(struct gpu_log_memory);
	case GPU_LOG_NVTX:
		return sizeof(struct gpu_log_nvtx);
	case GPU_LOG_RANK:
		return sizeof(struct gpu_log_rank);
	case GPU_LOG_NAMESPACE:
		return sizeof(struct gpu_log_namespace);
	case GPU_LOG_ORIGIN:
		return sizeof(struct gpu_log_origin);
	case GPU_LOG_FORGET:
		return sizeof(struct gpu_log_forget);
	}
	return sizeof(struct gpu_log_record);
}
