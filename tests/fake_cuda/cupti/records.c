// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of what libcuda does, in the newest layout that the headers have; what of
 * it the client sees is up to the version that is played (version.c).
 */
#include "client.h"
#include "cupti_state.h"

#include <string.h>
#include <unistd.h>

/* What every record of the GPU's work has at its own place */
struct times {
	uint64_t *start, *end, *completed; /* the last may be NULL */
};

static bool record__times(CUpti_Activity *record, struct times *ret)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		CUpti_ActivityKernel10 *kernel = (CUpti_ActivityKernel10 *)record;

		*ret = (struct times){&kernel->start, &kernel->end, &kernel->completed};
		return true;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY: {
		CUpti_ActivityMemcpy6 *copy = (CUpti_ActivityMemcpy6 *)record;

		*ret = (struct times){&copy->start, &copy->end, NULL};
		return true;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY2: {
		CUpti_ActivityMemcpyPtoP4 *copy = (CUpti_ActivityMemcpyPtoP4 *)record;

		*ret = (struct times){&copy->start, &copy->end, NULL};
		return true;
	}
	case CUPTI_ACTIVITY_KIND_MEMSET: {
		CUpti_ActivityMemset4 *memset = (CUpti_ActivityMemset4 *)record;

		*ret = (struct times){&memset->start, &memset->end, NULL};
		return true;
	}
	default:
		return false;
	}
}

void record__interrupt(CUpti_Activity *record)
{
	uint64_t now = to_record_clock(monotonic_ns());
	struct times times;

	if (!record__times(record, &times) || *times.end <= now)
		return;
	if (*times.start > now)
		*times.start = 0;
	*times.end = 0;
	if (times.completed)
		*times.completed = 0;
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

/* Behind every so manyth record of work, one that nobody here knows */
#define UNKNOWN_EVERY 8

static void add_unknown_kind(void)
{
	static atomic_uint nr;
	const CUpti_Activity record = {.kind = UNKNOWN_KIND};

	if (atomic_fetch_add(&nr, 1) % UNKNOWN_EVERY == 0)
		buffers__add(&record, 0);
}

/* @record: with its times; they are taken away if the script says so. */
static void add_work(void *record, enum fake_fate fate, uint64_t end_ns)
{
	const struct fake_knobs *knobs = driver_tools()->knobs;
	static atomic_ullong nr_before;
	uint64_t complete_ns = knobs->is_instant ? 0 : end_ns;
	struct times times;

	if (fate == FAKE_FATE_DROPPED) {
		buffers__count_dropped(record);
		return;
	}
	if (fate == FAKE_FATE_UNKNOWN_TIME && record__times(record, &times)) {
		*times.start = *times.end = 0;
		if (times.completed)
			*times.completed = 0;
		complete_ns = 0;
	}
	if (knobs->late_until && atomic_fetch_add(&nr_before, 1) >= knobs->late_after)
		complete_ns = COMPLETE_LATE;
	buffers__add(record, complete_ns);
	if (version__played()->is_unknown)
		add_unknown_kind();
}

void on_kernel(const struct fake_run *run)
{
	CUpti_ActivityKernel10 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.registersPerThread = (uint16_t)run->registers,
		.start = to_record_clock(run->start_ns),
		.end = to_record_clock(run->end_ns),
		.completed = to_record_clock(run->end_ns),
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
		/* In CUDA 11.0's the member was padding. */
		.graphId = version__played()->number < 14 ? 0 : run->graph,
		.channelID = run->stream,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
		.clusterX = run->cluster[0],
		.clusterY = run->cluster[1],
		.clusterZ = run->cluster[2],
	};

	add_work(&record, run->fate, run->end_ns);
}

static void on_memset(const struct fake_copy *run)
{
	CUpti_ActivityMemset4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = run->value,
		.bytes = run->bytes,
		.start = to_record_clock(run->start_ns),
		.end = to_record_clock(run->end_ns),
		.deviceId = run->device,
		.contextId = run->context,
		.streamId = run->stream,
		.correlationId = run->correlation_id,
		.flags = run->is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
		.memoryKind = (uint16_t)run->dst_kind,
		.graphNodeId = run->graph_node,
		.graphId = run->graph,
		.channelID = run->stream,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	add_work(&record, run->fate, run->end_ns);
}

static void on_peer_copy(const struct fake_copy *run)
{
	CUpti_ActivityMemcpyPtoP4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = (uint8_t)run->direction,
		.srcKind = (uint8_t)run->src_kind,
		.dstKind = (uint8_t)run->dst_kind,
		.flags = run->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = run->bytes,
		.start = to_record_clock(run->start_ns),
		.end = to_record_clock(run->end_ns),
		.deviceId = run->device,
		.contextId = run->context,
		.streamId = run->stream,
		.srcDeviceId = run->src_device,
		.srcContextId = run->src_context,
		.dstDeviceId = run->dst_device,
		.dstContextId = run->dst_context,
		.correlationId = run->correlation_id,
		.graphNodeId = run->graph_node,
		.graphId = run->graph,
		.channelID = run->stream,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
	};

	add_work(&record, run->fate, run->end_ns);
}

void on_copy(const struct fake_copy *run)
{
	CUpti_ActivityMemcpy6 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = (uint8_t)run->direction,
		.srcKind = (uint8_t)run->src_kind,
		.dstKind = (uint8_t)run->dst_kind,
		.flags = run->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = run->bytes,
		.start = to_record_clock(run->start_ns),
		.end = to_record_clock(run->end_ns),
		.deviceId = run->device,
		.contextId = run->context,
		.streamId = run->stream,
		.correlationId = run->correlation_id,
		.runtimeCorrelationId = run->correlation_id,
		.graphNodeId = run->graph_node,
		.graphId = run->graph,
		.channelID = run->stream,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		.copyCount = run->nr,
	};

	if (run->is_memset)
		on_memset(run);
	else if (run->direction == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
		on_peer_copy(run);
	else
		add_work(&record, run->fate, run->end_ns);
}

/*
 * Beside a driver of CUDA 13, CUDA 12.8's has no records of queries, nor of waits for a
 * context (H200); NVIDIA names the latter as mended by 13.0 Update 1.
 */
static bool has_record(const struct fake_wait *wait)
{
	uint32_t version = version__played()->number;

	if (wait->is_query && version < 130000)
		return false;
	if (wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE &&
	    version < 130001)
		return false;
	return !wait->result || activity__has_failed_waits();
}

void on_wait(const struct fake_wait *wait)
{
	const CUpti_ActivitySynchronization2 record = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = wait->type,
		.start = to_record_clock(wait->start_ns),
		.end = to_record_clock(wait->end_ns),
		.correlationId = wait->correlation_id,
		.contextId = wait->context,
		.streamId = wait->stream,
		.cudaEventId = wait->event,
		.cudaEventSyncId = wait->event_sync,
		.returnValue = wait->result,
	};

	if (has_record(wait))
		buffers__add(&record, 0);
}

void on_memory(const struct fake_memory *memory)
{
	CUpti_ActivityMemory4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = memory->operation,
		.memoryKind = memory->kind,
		.correlationId = memory->correlation_id,
		.address = memory->address,
		.bytes = memory->bytes,
		.timestamp = to_record_clock(memory->time_ns),
		.PC = (uintptr_t)__builtin_return_address(0),
		.processId = (uint32_t)getpid(),
		.deviceId = memory->device,
		.contextId = memory->context,
		.streamId = memory->stream,
		.name = memory->name,
		.isAsync = memory->is_async,
	};

	if (memory->has_pool) {
		record.memoryPoolConfig.memoryPoolType =
			CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
		record.memoryPoolConfig.address = memory->pool_address;
		record.memoryPoolConfig.releaseThreshold = memory->pool_threshold;
		record.memoryPoolConfig.pool.size = memory->pool_bytes;
		record.memoryPoolConfig.utilizedSize = memory->pool_used_bytes;
	}
	buffers__add(&record, 0);
}

void on_migration(const struct fake_migration *migration)
{
	const CUpti_ActivityUnifiedMemoryCounter3 record = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind = migration->kind,
		.value = migration->value,
		.start = to_record_clock(migration->start_ns),
		.end = to_record_clock(migration->end_ns),
		.address = migration->address,
		.srcId = migration->from,
		.dstId = migration->to,
		.processId = (uint32_t)getpid(),
		.flags = migration->flags,
	};

	if (activity__has_counter(migration->kind))
		buffers__add(&record,
			     driver_tools()->knobs->is_instant ? 0 : migration->end_ns);
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
		buffers__add(&record, 0);
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

	if (subscriber__is_shared() || activity__is_enabled(CUPTI_ACTIVITY_KIND_CONTEXT))
		buffers__add(&record, 0);
}

void record__tell_devices(void)
{
	/* The client reads names from the records for as long as it lives. */
	static struct fake_device_info devices[64];

	for (int i = 0; driver_tools()->device_info(i, &devices[i]); i++) {
		/* CUDA 12.8's is the first to give the instance's. */
		bool has_own_uuid = version__played()->cuda >= 12080;
		const CUpti_ActivityDevice5 record = {
			.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			.id = (uint32_t)i,
			.name = devices[i].name,
			.uuid = has_own_uuid ? devices[i].uuid : devices[i].gpu_uuid,
			.isMigEnabled = devices[i].is_mig,
			.gpuInstanceId =
				devices[i].is_mig ? devices[i].instance + 7 : UINT32_MAX,
			.computeInstanceId = devices[i].is_mig ? 0 : UINT32_MAX,
			.migUuid = devices[i].is_mig ? devices[i].uuid : (CUuuid){},
			.globalMemorySize = devices[i].memory_bytes,
			.computeCapabilityMajor = (uint32_t)devices[i].compute_major,
			.computeCapabilityMinor = (uint32_t)devices[i].compute_minor,
			.numMultiprocessors = (uint32_t)devices[i].nr_multiprocessors,
			.numThreadsPerWarp = 32,
			.isCudaVisible = 1,
		};

		buffers__add(&record, 0);
	}
}
