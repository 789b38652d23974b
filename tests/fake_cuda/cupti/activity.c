// SPDX-License-Identifier: GPL-2.0-or-later
/* Which activity is recorded. */
#include <unistd.h>

#include "client.h"
#include "cupti_state.h"

static atomic_bool is_enabled[CUPTI_ACTIVITY_KIND_COUNT];
static atomic_bool
	has_counter[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD + 1];
/* As the header says, by default all waits have records, also those in vain. */
static atomic_bool has_failed_waits = true;

bool activity__is_enabled(CUpti_ActivityKind kind)
{
	return atomic_load(&is_enabled[kind]);
}

bool activity__has_counter(CUpti_ActivityUnifiedMemoryCounterKind kind)
{
	return atomic_load(&has_counter[kind]);
}

bool activity__has_failed_waits(void)
{
	return atomic_load(&has_failed_waits);
}

/* An error of the script, or of who has to use the functions with a subscriber. */
static CUptiResult refused(const char *function)
{
	CUptiResult result = scripted_error(function);

	if (!result && subscriber__is_shared())
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	return result;
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

	if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT ||
	    !version__has_kind(kind))
		return CUPTI_ERROR_INVALID_KIND;
	atomic_store(&is_enabled[kind], enable);
	if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	    kind == CUPTI_ACTIVITY_KIND_KERNEL)
		atomic_store_explicit(
			&tools->wants_kind[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL],
			enable || tools->knobs->has_strays, memory_order_release);
	else if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		set_records(CUPTI_CB_DOMAIN_DRIVER_API, 0, FAKE_MAX_CBIDS, enable);
	else if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		set_records(CUPTI_CB_DOMAIN_RUNTIME_API, 0, FAKE_MAX_CBIDS, enable);
	else
		atomic_store_explicit(&tools->wants_kind[kind], enable,
				      memory_order_release);
	if (enable && kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		tools->tell_contexts();
	else if (enable && kind == CUPTI_ACTIVITY_KIND_DEVICE)
		record__tell_devices();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult result = refused(__func__);

	return result ? result : set_enabled(kind, true);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult result = refused(__func__);

	if (!result && kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER &&
	    driver_tools()->knobs->has_stuck_faults)
		for (;;)
			pause();
	return result ? result : set_enabled(kind, false);
}

static CUptiResult enable_api(const char *function, CUpti_CallbackDomain domain,
			      CUpti_CallbackId cbid, uint8_t enable)
{
	CUptiResult result = refused(function);

	if (result)
		return result;
	if (!has_callback(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	set_records(domain, cbid, cbid + 1, enable);
	return CUPTI_SUCCESS;
}

static CUptiResult enable_driver_api(CUpti_CallbackId cbid, uint8_t enable)
{
	return enable_api("cuptiActivityEnableDriverApi", CUPTI_CB_DOMAIN_DRIVER_API,
			  cbid, enable);
}
VERSIONED(cuptiActivityEnableDriverApi, enable_driver_api)

static CUptiResult enable_runtime_api(CUpti_CallbackId cbid, uint8_t enable)
{
	return enable_api("cuptiActivityEnableRuntimeApi", CUPTI_CB_DOMAIN_RUNTIME_API,
			  cbid, enable);
}
VERSIONED(cuptiActivityEnableRuntimeApi, enable_runtime_api)

static CUptiResult enable_all_waits(uint8_t enable)
{
	atomic_store(&has_failed_waits, enable);
	return scripted_error("cuptiActivityEnableAllSyncRecords");
}
VERSIONED(cuptiActivityEnableAllSyncRecords, enable_all_waits)

CUptiResult CUPTIAPI cuptiActivityConfigureUnifiedMemoryCounter(
	CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	CUptiResult result = scripted_error(__func__);

	if (result)
		return result;
	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!driver_tools()->is_initialized())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (driver_tools()->knobs->has_late_faults && !driver_tools()->has_contexts())
		return CUPTI_ERROR_NOT_READY;
	for (uint32_t i = 0; i < count; i++)
		if (config[i].kind >= sizeof(has_counter) / sizeof(*has_counter))
			return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = 0; i < count; i++)
		atomic_store(&has_counter[config[i].kind], config[i].enable);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
			       CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	CUptiResult result = refused(__func__);

	if (result)
		return result;
	if (!funcBufferRequested || !funcBufferCompleted)
		return CUPTI_ERROR_INVALID_PARAMETER;
	clients[CLIENT_OF_ALL].request = funcBufferRequested;
	clients[CLIENT_OF_ALL].complete = funcBufferCompleted;
	buffers__start();
	return CUPTI_SUCCESS;
}

CUptiResult record__next(uint8_t *buffer, size_t validBufferSizeBytes,
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

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer,
						size_t validBufferSizeBytes,
						CUpti_Activity **record)
{
	return record__next(buffer, validBufferSizeBytes, record);
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

static CUptiResult flush_period(uint32_t time)
{
	CUptiResult result = scripted_error("cuptiActivityFlushPeriod");

	if (!result)
		buffers__set_period(time);
	return result;
}
VERSIONED(cuptiActivityFlushPeriod, flush_period)

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context,
						       uint32_t streamId, size_t *dropped)
{
	(void)context;
	(void)streamId;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = atomic_exchange(&clients[CLIENT_OF_ALL].nr_dropped, 0);
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
	for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		atomic_store(&driver_tools()->wants_kind[kind], false);
	unsubscribe_all();
	return CUPTI_SUCCESS;
}
