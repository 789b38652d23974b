// SPDX-License-Identifier: GPL-2.0-or-later
/* Which activity is recorded, and the records of it. */
#include "cupti_state.h"

#include <string.h>
#include <unistd.h>

static atomic_bool is_enabled[CUPTI_ACTIVITY_KIND_COUNT];
/* The client reads names from the records for as long as it lives. */
static struct fake_device_info devices[64];

size_t record_bytes(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(CUpti_ActivityKernel10);
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		return sizeof(CUpti_ActivityContext3);
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_DEVICE:
		return sizeof(CUpti_ActivityDevice5);
	default:
		return 0;
	}
}

void record__interrupt(CUpti_Activity *record)
{
	CUpti_ActivityKernel10 *kernel = (CUpti_ActivityKernel10 *)record;
	uint64_t now = to_record_clock(monotonic_ns());

	if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernel->end <= now)
		return;
	if (kernel->start > now)
		kernel->start = 0;
	kernel->end = 0;
	kernel->completed = 0;
}

/* Of a launch that nobody is told of, the real one seems to give the last one's. */
static uint32_t correlation_id_of(const struct fake_run *run)
{
	static _Thread_local uint32_t last;
	const struct fake_tools *tools = driver_tools();

	if (!tools->knobs->has_strays)
		return run->correlation_id;
	if (atomic_load(&tools->wants[CUPTI_CB_DOMAIN_DRIVER_API]
				     [CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel]))
		last = run->correlation_id;
	return last;
}

void on_kernel(const struct fake_run *run)
{
	const struct fake_knobs *knobs = driver_tools()->knobs;
	bool has_time = run->fate != FAKE_FATE_UNKNOWN_TIME;
	CUpti_ActivityKernel10 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.registersPerThread = (uint16_t)run->registers,
		.start = has_time ? to_record_clock(run->start_ns) : 0,
		.end = has_time ? to_record_clock(run->end_ns) : 0,
		.completed = has_time ? to_record_clock(run->end_ns) : 0,
		.deviceId = run->device,
		.contextId = run->context,
		.streamId = run->stream,
		.gridX = (int32_t)run->grid[0],
		.gridY = (int32_t)run->grid[1],
		.gridZ = (int32_t)run->grid[2],
		.blockX = (int32_t)run->block[0],
		.blockY = (int32_t)run->block[1],
		.blockZ = (int32_t)run->block[2],
		.staticSharedMemory = (int32_t)run->static_shared_bytes,
		.dynamicSharedMemory = (int32_t)run->dynamic_shared_bytes,
		.correlationId = correlation_id_of(run),
		.gridId = run->correlation_id,
		.name = run->name,
		.launchType =
			run->is_cooperative
				? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
				: CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR,
		.graphNodeId = run->graph_node,
		.graphId = run->graph,
		.clusterX = run->cluster[0],
		.clusterY = run->cluster[1],
		.clusterZ = run->cluster[2],
	};
	uint64_t complete_ns = knobs->is_instant || !has_time ? 0 : run->end_ns;

	if (run->fate == FAKE_FATE_DROPPED) {
		buffers__count_dropped();
		return;
	}
	if (knobs->late_ns)
		complete_ns =
			(complete_ns ? complete_ns : monotonic_ns()) + knobs->late_ns;
	buffers__add(&record, sizeof(record), complete_ns);
}

void on_api_record(const struct fake_call *call, uint64_t end_ns)
{
	const CUpti_ActivityAPI record = {
		.kind = call->domain == CUPTI_CB_DOMAIN_RUNTIME_API
				? CUPTI_ACTIVITY_KIND_RUNTIME
				: CUPTI_ACTIVITY_KIND_DRIVER,
		.cbid = call->cbid,
		.start = to_record_clock(call->start_ns),
		.end = to_record_clock(end_ns),
		.processId = (uint32_t)getpid(),
		.threadId = (uint32_t)gettid(),
		.correlationId = call->correlation_id,
	};

	if (!driver_tools()->is_forked())
		buffers__add(&record, sizeof(record), 0);
}

void on_context(const struct fake_context_info *info)
{
	const CUpti_ActivityContext3 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = info->context,
		.deviceId = info->device,
		.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
		.nullStreamId = (uint16_t)info->null_stream,
	};

	if (atomic_load(&is_enabled[CUPTI_ACTIVITY_KIND_CONTEXT]))
		buffers__add(&record, sizeof(record), 0);
}

static void tell_devices(void)
{
	for (int i = 0; driver_tools()->device_info(i, &devices[i]); i++) {
		const CUpti_ActivityDevice5 record = {
			.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			.id = (uint32_t)i,
			.name = devices[i].name,
			.uuid = devices[i].uuid,
			.globalMemorySize = devices[i].memory_bytes,
			.computeCapabilityMajor = (uint32_t)devices[i].compute_major,
			.computeCapabilityMinor = (uint32_t)devices[i].compute_minor,
			.numMultiprocessors = (uint32_t)devices[i].nr_multiprocessors,
			.numThreadsPerWarp = 32,
			.isCudaVisible = 1,
		};

		buffers__add(&record, sizeof(record), 0);
	}
}

static void set_records(CUpti_CallbackDomain domain, uint32_t first, uint32_t end,
			bool enable)
{
	for (uint32_t i = first; i < end; i++)
		atomic_store_explicit(&driver_tools()->wants_records[domain][i], enable,
				      memory_order_release);
}

static CUptiResult set_enabled(CUpti_ActivityKind kind, bool enable)
{
	struct fake_tools *tools = driver_tools();

	if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return CUPTI_ERROR_INVALID_KIND;
	atomic_store(&is_enabled[kind], enable);
	if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	    kind == CUPTI_ACTIVITY_KIND_KERNEL)
		atomic_store_explicit(&tools->wants_kernels,
				      enable || tools->knobs->has_strays,
				      memory_order_release);
	else if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		set_records(CUPTI_CB_DOMAIN_DRIVER_API, 0, FAKE_MAX_CBIDS, enable);
	else if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		set_records(CUPTI_CB_DOMAIN_RUNTIME_API, 0, FAKE_MAX_CBIDS, enable);
	else if (enable && kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		tools->tell_contexts();
	else if (enable && kind == CUPTI_ACTIVITY_KIND_DEVICE)
		tell_devices();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult result = scripted_error(__func__);

	return result ? result : set_enabled(kind, true);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult result = scripted_error(__func__);

	return result ? result : set_enabled(kind, false);
}

static CUptiResult enable_api(const char *function, CUpti_CallbackDomain domain,
			      CUpti_CallbackId cbid, uint8_t enable)
{
	CUptiResult result = scripted_error(function);

	if (result)
		return result;
	if (!has_callback(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	set_records(domain, cbid, cbid + 1, enable);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return enable_api(__func__, CUPTI_CB_DOMAIN_DRIVER_API, cbid, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return enable_api(__func__, CUPTI_CB_DOMAIN_RUNTIME_API, cbid, enable);
}

CUptiResult CUPTIAPI
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
			       CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	CUptiResult result = scripted_error(__func__);

	if (result)
		return result;
	if (!funcBufferRequested || !funcBufferCompleted)
		return CUPTI_ERROR_INVALID_PARAMETER;
	buffers__start(funcBufferRequested, funcBufferCompleted);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer,
						size_t validBufferSizeBytes,
						CUpti_Activity **record)
{
	uint8_t *next, *end;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	end = buffer + validBufferSizeBytes;
	next = *record ? (uint8_t *)*record + record_bytes((*record)->kind) : buffer;
	if (next >= end)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!record_bytes(((CUpti_Activity *)next)->kind))
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult result = scripted_error(__func__);

	if (result)
		return result;
	/* A forked child has neither the worker nor locks in a known state. */
	if (!driver_tools()->is_forked())
		buffers__flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlush(CUcontext context, uint32_t streamId,
					uint32_t flag)
{
	(void)context;
	(void)streamId;
	return cuptiActivityFlushAll(flag);
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t time)
{
	CUptiResult result = scripted_error(__func__);

	if (!result)
		buffers__set_period(time);
	return result;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context,
						       uint32_t streamId, size_t *dropped)
{
	(void)context;
	(void)streamId;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = buffers__take_dropped();
	return CUPTI_SUCCESS;
}

/* Buffers that are out stay where they are. */
CUptiResult CUPTIAPI cuptiFinalize(void)
{
	CUptiResult result = scripted_error(__func__);

	if (result)
		return result;
	for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		atomic_store(&is_enabled[kind], false);
	atomic_store(&driver_tools()->wants_kernels, false);
	unsubscribe_all();
	return CUPTI_SUCCESS;
}
