// SPDX-License-Identifier: GPL-2.0-or-later
#include "records.h"

#include "api_records.h"
#include "cupti_clock.h"
#include "fault.h"
#include "launch.h"
#include "record_check.h"
#include "record_layout.h"

_Static_assert((int)GPU_LOG_MEMORY_MANAGED_STATIC ==
		       (int)CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC,
	       "the numbers are CUPTI's");
_Static_assert((int)GPU_LOG_SYNC_CONTEXT ==
		       (int)CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
	       "the numbers are CUPTI's");
_Static_assert(
	(int)GPU_LOG_FAULT_DTOD ==
		(int)CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
	"the numbers are CUPTI's");
_Static_assert((int)GPU_LOG_ALLOCATED ==
			       (int)CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION &&
		       (int)GPU_LOG_FREED ==
			       (int)CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
	       "the numbers are CUPTI's");

static struct gpu_log_activity times(uint32_t correlation_id, uint64_t start,
				     uint64_t end)
{
	return (struct gpu_log_activity){
		.correlation_id = launch__widen(correlation_id),
		.start_ns = cupti_clock__convert(start),
		.end_ns = cupti_clock__convert(end),
	};
}

/* Is work not to be written? What has another's id gets none, and so no stack. */
static bool leaves_out(struct stray_run *run, const struct stray_work *work,
		       uint64_t *correlation_id, uint64_t start_ns)
{
	switch (stray__is(run, work, *correlation_id, start_ns)) {
	case STRAY_OFF:
		return true;
	case STRAY_UNTOLD:
		*correlation_id = 0;
		return false;
	default:
		return false;
	}
}

static void take_kernel(struct log *log, const record_kernel *kernel, uint32_t graph,
			struct stray_run *run)
{
	uint64_t correlation_id = launch__widen(kernel->correlationId);
	const uint64_t start_ns = cupti_clock__convert(kernel->start);
	const struct stray_work work = {.device = kernel->deviceId, .graph = graph};
	struct gpu_log_shape shape = {
		.device = kernel->deviceId,
		.context = kernel->contextId,
		.stream = kernel->streamId,
		.grid = {(uint32_t)kernel->gridX, (uint32_t)kernel->gridY,
			 (uint32_t)kernel->gridZ},
		.block = {(uint32_t)kernel->blockX, (uint32_t)kernel->blockY,
			  (uint32_t)kernel->blockZ},
		.registers_per_thread = kernel->registersPerThread,
		.static_shared_bytes = (uint32_t)kernel->staticSharedMemory,
		.dynamic_shared_bytes = (uint32_t)kernel->dynamicSharedMemory,
		.graph = graph,
		.graph_node = kernel->graphNodeId,
	};

	if (leaves_out(run, &work, &correlation_id, start_ns))
		return;
	/* A forced flush hands out running kernels, and never again. */
	if (kernel->start && !kernel->end)
		log__count_lost(log, GPU_LOG_LOSS_UNFINISHED, 1);
	log__kernel(log, kernel->name ? kernel->name : "", &shape, correlation_id,
		    start_ns, cupti_clock__convert(kernel->end));
}

static void take_context(struct log *log, const record_context *context)
{
	struct gpu_log_context record = {
		.context = context->contextId,
		.device = context->deviceId,
		.null_stream = context->nullStreamId,
	};

	log__context(log, &record);
}

/* The same of a copy or memset */
static void append_work(struct log *log, struct stray_run *run,
			struct gpu_log_operation *operation,
			struct gpu_log_activity *activity)
{
	const struct stray_work work = {
		.device = operation->device, .graph = operation->graph, .is_copy = true};

	if (leaves_out(run, &work, &activity->correlation_id, activity->start_ns))
		return;
	if (activity->start_ns && !activity->end_ns)
		log__count_lost(log, GPU_LOG_LOSS_UNFINISHED, 1);
	log__activity(log, operation, activity);
}

static void take_memcpy(struct log *log, const record_memcpy *copy, uint32_t graph,
			struct stray_run *run)
{
	struct gpu_log_activity activity =
		times(copy->correlationId, copy->start, copy->end);
	struct gpu_log_operation operation = {
		.kind = GPU_LOG_KIND_MEMCPY,
		.what = copy->copyKind,
		.src_kind = copy->srcKind,
		.dst_kind = copy->dstKind,
		.is_async = copy->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC,
		.device = copy->deviceId,
		.context = copy->contextId,
		.stream = copy->streamId,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
		.graph = graph,
		.graph_node = copy->graphNodeId,
	};

	activity.bytes = copy->bytes;
	append_work(log, run, &operation, &activity);
}

static void take_peer_memcpy(struct log *log, const record_peer_memcpy *copy,
			     uint32_t graph, struct stray_run *run)
{
	struct gpu_log_activity activity =
		times(copy->correlationId, copy->start, copy->end);
	struct gpu_log_operation operation = {
		.kind = GPU_LOG_KIND_MEMCPY,
		.what = copy->copyKind,
		.src_kind = copy->srcKind,
		.dst_kind = copy->dstKind,
		.is_async = copy->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC,
		.device = copy->deviceId,
		.context = copy->contextId,
		.stream = copy->streamId,
		.src_device = copy->srcDeviceId,
		.dst_device = copy->dstDeviceId,
		.graph = graph,
		.graph_node = copy->graphNodeId,
	};

	activity.bytes = copy->bytes;
	append_work(log, run, &operation, &activity);
}

static void take_memset(struct log *log, const record_memset *set, uint32_t graph,
			struct stray_run *run)
{
	struct gpu_log_activity activity =
		times(set->correlationId, set->start, set->end);
	struct gpu_log_operation operation = {
		.kind = GPU_LOG_KIND_MEMSET,
		.dst_kind = set->memoryKind,
		.is_async = set->flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC,
		.device = set->deviceId,
		.context = set->contextId,
		.stream = set->streamId,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
		.graph = graph,
		.graph_node = set->graphNodeId,
	};

	activity.bytes = set->bytes;
	append_work(log, run, &operation, &activity);
}

static void take_sync(struct log *log, const record_sync *sync)
{
	struct gpu_log_activity activity =
		times(sync->correlationId, sync->start, sync->end);
	struct gpu_log_operation operation = {
		.kind = GPU_LOG_KIND_SYNC,
		.what = (uint32_t)sync->type,
		.device = GPU_LOG_NO_DEVICE,
		.context = sync->contextId,
		.stream = sync->streamId,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
	};

	if (!stray__has_id_of_pause(activity.correlation_id))
		log__activity(log, &operation, &activity);
}

static void take_memory(struct log *log, const record_memory *memory)
{
	struct gpu_log_operation operation = {
		.kind = GPU_LOG_KIND_MEMORY,
		.what = (uint32_t)memory->memoryOperationType,
		.dst_kind = (uint32_t)memory->memoryKind,
		.is_async = !!memory->isAsync,
		.device = memory->deviceId,
		.context = memory->contextId,
		.stream = memory->streamId,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
	};
	struct gpu_log_memory record = {
		.correlation_id = launch__widen(memory->correlationId),
		.time_ns = cupti_clock__convert(memory->timestamp),
		.bytes = memory->bytes,
		.address = memory->address,
	};
	const bool has_name = memory->name && *memory->name;

	if (!stray__has_id_of_pause(record.correlation_id))
		log__memory(log, has_name ? memory->name : NULL, &operation, &record);
}

/* Between which devices, as far as the header says that the two ids are valid */
static void set_fault_devices(const record_fault *fault,
			      struct gpu_log_operation *operation)
{
	switch ((int)fault->counterKind) {
	case GPU_LOG_FAULT_HTOD:
		operation->device = operation->dst_device = fault->dstId;
		break;
	case GPU_LOG_FAULT_DTOH:
		operation->device = operation->src_device = fault->srcId;
		break;
	case GPU_LOG_FAULT_DTOD:
	case GPU_LOG_FAULT_REMOTE_MAP:
		operation->device = operation->src_device = fault->srcId;
		operation->dst_device = fault->dstId;
		break;
	case GPU_LOG_FAULT_GPU_PAGE:
	case GPU_LOG_FAULT_THROTTLING:
		operation->device = fault->srcId;
		break;
	}
}

/* Bytes that moved, or how many faults */
static uint64_t fault_value(const record_fault *fault)
{
	switch ((int)fault->counterKind) {
	case GPU_LOG_FAULT_HTOD:
	case GPU_LOG_FAULT_DTOH:
	case GPU_LOG_FAULT_DTOD:
	case GPU_LOG_FAULT_GPU_PAGE: /* of the same page */
		return fault->value;
	default: /* the value is an address or a size */
		return 1;
	}
}

static bool has_end(const record_fault *fault)
{
	return (int)fault->counterKind != GPU_LOG_FAULT_CPU_PAGE &&
	       (int)fault->counterKind != GPU_LOG_FAULT_THRASHING &&
	       (int)fault->counterKind != GPU_LOG_FAULT_REMOTE_MAP;
}

static void take_fault(struct log *log, const record_fault *fault)
{
	struct gpu_log_activity activity = {
		.start_ns = cupti_clock__convert(fault->start),
		.end_ns =
			cupti_clock__convert(has_end(fault) ? fault->end : fault->start),
		.bytes = fault_value(fault),
	};
	struct gpu_log_operation operation = {
		.kind = GPU_LOG_KIND_FAULT,
		.what = (uint32_t)fault->counterKind,
		.device = GPU_LOG_NO_DEVICE,
		.src_device = GPU_LOG_NO_DEVICE,
		.dst_device = GPU_LOG_NO_DEVICE,
	};

	if (!fault__is_taken(activity.start_ns))
		return;
	set_fault_devices(fault, &operation);
	log__activity(log, &operation, &activity);
}

static void take(struct log *log, const CUpti_Activity *record, uint32_t version,
		 struct stray_run *run)
{
	const void *body = record;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		take_kernel(log, body, record_layout__graph(record, version), run);
		break;
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		take_context(log, body);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		api_records__take(body);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		take_memcpy(log, body, record_layout__graph(record, version), run);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		take_peer_memcpy(log, body, record_layout__graph(record, version), run);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		take_memset(log, body, record_layout__graph(record, version), run);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		take_sync(log, body);
		break;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		take_memory(log, body);
		break;
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		take_fault(log, body);
		break;
	default:
		break;
	}
}

bool records__take(struct log *log, const CUpti_Activity *record, uint32_t version,
		   struct stray_run *run)
{
	if (version > CUPTI_NEWEST_KNOWN && !record_check__is_plausible(record)) {
		log__count_lost(log, GPU_LOG_LOSS_CUPTI_DROPPED, 1);
		return false;
	}
	take(log, record, version, run);
	return true;
}
