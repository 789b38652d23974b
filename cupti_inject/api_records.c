// SPDX-License-Identifier: GPL-2.0-or-later
#include "api_records.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "api_name.h"
#include "cupti_clock.h"
#include "launch.h"

static const struct cupti_table *cupti;
static struct log *call_log;

/* By domain: the runtime's is the second */
static bool is_recorded[2][API_MAX_CBIDS];
static atomic_bool has_name[2][API_MAX_CBIDS]; /* in the log */

static CUptiResult switch_one(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on)
{
	bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;

	if (is_runtime ? !cupti->cuptiActivityEnableRuntimeApi
		       : !cupti->cuptiActivityEnableDriverApi)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return is_runtime ? cupti->cuptiActivityEnableRuntimeApi(cbid, on)
			  : cupti->cuptiActivityEnableDriverApi(cbid, on);
}

static CUptiResult switch_all(CUpti_CallbackDomain domain, bool on)
{
	CUpti_ActivityKind kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API
					  ? CUPTI_ACTIVITY_KIND_RUNTIME
					  : CUPTI_ACTIVITY_KIND_DRIVER;

	return on ? cupti->cuptiActivityEnable(kind) : cupti->cuptiActivityDisable(kind);
}

static unsigned int switch_domain(CUpti_CallbackDomain domain, uint32_t events,
				  uint32_t kinds, bool on)
{
	bool *is_wanted = is_recorded[domain == CUPTI_CB_DOMAIN_RUNTIME_API];
	unsigned int nr_wanted = 0, nr_switched = 0;

	/* Not up to the first that has no name: ids have gaps. */
	for (uint32_t cbid = 1; cbid < API_MAX_CBIDS; cbid++) {
		const char *name = NULL;

		is_wanted[cbid] = !cupti->cuptiGetCallbackName(domain, cbid, &name) &&
				  name && api_name__is_wanted(name, events, kinds);
		if (!is_wanted[cbid])
			continue;
		nr_wanted++;
		nr_switched += !switch_one(domain, cbid, on);
	}
	if (!nr_switched && !switch_all(domain, on))
		nr_switched = nr_wanted;
	return nr_switched;
}

unsigned int api_records__enable(const struct cupti_table *table, struct log *log,
				 uint32_t events, uint32_t kinds, bool on)
{
	cupti = table;
	call_log = log;
	if (on)
		memset(has_name, 0, sizeof(has_name));
	return switch_domain(CUPTI_CB_DOMAIN_RUNTIME_API, events, kinds, on) +
	       switch_domain(CUPTI_CB_DOMAIN_DRIVER_API, events, kinds, on);
}

static void tell_name(uint32_t domain, CUpti_CallbackId cbid)
{
	atomic_bool *is_told = &has_name[domain == CUPTI_CB_DOMAIN_RUNTIME_API][cbid];
	const char *cupti_name = NULL;
	char name[128];

	if (atomic_load_explicit(is_told, memory_order_relaxed) ||
	    atomic_exchange(is_told, true) ||
	    cupti->cuptiGetCallbackName((CUpti_CallbackDomain)domain, cbid,
					&cupti_name) ||
	    !cupti_name)
		return;
	api_name__public(cupti_name, name, sizeof(name));
	if (log__api(call_log, GPU_LOG_API_ID(domain, cbid), name,
		     api_name__kinds(cupti_name)))
		atomic_store(is_told, false);
}

void api_records__take(const CUpti_ActivityAPI *call)
{
	bool is_runtime = call->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
	uint32_t domain =
		is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
	struct gpu_log_api_call record = {
		.api = GPU_LOG_API_ID(domain, call->cbid),
		.start_ns = cupti_clock__convert(call->start),
		.end_ns = cupti_clock__convert(call->end),
		.tid = call->threadId,
	};

	if (call->cbid >= API_MAX_CBIDS || !is_recorded[is_runtime][call->cbid])
		return;
	tell_name(domain, call->cbid);
	record.correlation_id = launch__note_correlation(call->correlationId);
	log__api_call(call_log, &record);
}
