// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture_range.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "api_name.h"
#include "no_cancel.h"
#include "recording.h"

/* 0: not known */
static atomic_uint start_cbid, stop_cbid;

static CUptiResult enable(const struct cupti_table *cupti,
			  CUpti_SubscriberHandle subscriber, const char *name,
			  atomic_uint *ret_cbid)
{
	/* Not up to the first that has no name: ids have gaps. */
	for (uint32_t cbid = 1; cbid < API_MAX_CBIDS; cbid++) {
		const char *its = NULL;

		if (cupti->cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &its) ||
		    !its || strcmp(its, name) != 0)
			continue;
		/* Before it is called */
		atomic_store(ret_cbid, cbid);
		return cupti->cuptiEnableCallback(1, subscriber,
						  CUPTI_CB_DOMAIN_DRIVER_API, cbid);
	}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

int capture_range__begin(const struct cupti_table *cupti,
			 CUpti_SubscriberHandle subscriber)
{
	return enable(cupti, subscriber, "cuProfilerStart", &start_cbid) ||
			       enable(cupti, subscriber, "cuProfilerStop", &stop_cbid)
		       ? -ENOSYS
		       : 0;
}

bool capture_range__has(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return domain == CUPTI_CB_DOMAIN_DRIVER_API &&
	       (cbid == atomic_load_explicit(&start_cbid, memory_order_relaxed) ||
		cbid == atomic_load_explicit(&stop_cbid, memory_order_relaxed));
}

void capture_range__on_call(CUpti_CallbackId cbid, CUpti_ApiCallbackSite site)
{
	const bool is_start = cbid == atomic_load(&start_cbid);
	int cancel_state;

	if (is_start != (site == CUPTI_API_EXIT))
		return;
	/* Who is cancelled on the way would leave others waiting for the switch's end. */
	cancel_state = no_cancel__begin();
	recording__turn(RECORDING_OFF_BY_RANGE, is_start);
	no_cancel__end(cancel_state);
}
