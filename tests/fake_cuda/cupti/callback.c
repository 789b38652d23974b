// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one subscriber that a process may have, and what it is called for.
 *
 * It is told on the thread that makes the API call. One that unsubscribes while
 * another thread is in its callback is called no more, but that call still ends.
 */
#include "cupti_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUpti_Subscriber_st {
	struct CUpti_Subscriber_st *next_retired;
	CUpti_CallbackFunc callback;
	void *userdata;
	char name[256];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct CUpti_Subscriber_st *) subscriber;
/* Not freed: a callback of another thread may still be on its way. */
static struct CUpti_Subscriber_st *retired;

static const char *const driver_names[] = {
#include "driver_names.h"
};

static const char *const runtime_names[] = {
#include "runtime_names.h"
};

static const char *name_of(CUpti_CallbackDomain domain, uint32_t cbid)
{
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		return cbid < sizeof(driver_names) / sizeof(*driver_names)
			       ? driver_names[cbid]
			       : NULL;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return cbid < sizeof(runtime_names) / sizeof(*runtime_names)
			       ? runtime_names[cbid]
			       : NULL;
	return NULL;
}

bool has_callback(CUpti_CallbackDomain domain, uint32_t cbid)
{
	return name_of(domain, cbid);
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
					  const char **name)
{
	const char *found = name_of(domain, cbid);

	if (!found || !name)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = found;
	return CUPTI_SUCCESS;
}

/* Who has CUPTI already: a subscriber of this process, or one that the script plays. */
static const char *holder(void)
{
	struct CUpti_Subscriber_st *other = atomic_load(&subscriber);

	return other ? other->name : driver_tools()->knobs->subscriber;
}

static CUptiResult subscribe(struct CUpti_Subscriber_st **ret,
			     CUpti_CallbackFunc callback, void *userdata,
			     CUpti_SubscriberParams *params)
{
	const char *name = params && params->subscriberName ? params->subscriberName : "";
	struct CUpti_Subscriber_st *new;
	CUptiResult result = CUPTI_SUCCESS;

	if (!ret || !callback || (params && !params->structSize))
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&mutex);
	if (holder()) {
		if (params && params->oldSubscriberName)
			snprintf(params->oldSubscriberName, params->oldSubscriberSize,
				 "%s", holder());
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
		goto out;
	}
	new = calloc(1, sizeof(*new));
	if (!new) {
		result = CUPTI_ERROR_OUT_OF_MEMORY;
		goto out;
	}
	new->callback = callback;
	new->userdata = userdata;
	snprintf(new->name, sizeof(new->name), "CUPTI%s%s", *name ? " for " : "", name);
	atomic_store(&subscriber, new);
	*ret = new;
out:
	pthread_mutex_unlock(&mutex);
	return result;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle,
				    CUpti_CallbackFunc callback, void *userdata)
{
	CUptiResult result = scripted_error(__func__);

	return result ? result : subscribe(handle, callback, userdata, NULL);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle,
				       CUpti_CallbackFunc callback, void *userdata,
				       CUpti_SubscriberParams *params)
{
	CUptiResult result = scripted_error(__func__);

	return result ? result : subscribe(handle, callback, userdata, params);
}

static bool is_subscriber(struct CUpti_Subscriber_st *handle)
{
	return handle && handle == atomic_load(&subscriber);
}

static CUptiResult set_wants(struct CUpti_Subscriber_st *handle, uint32_t domain,
			     uint32_t first, uint32_t end, bool enable)
{
	if (!is_subscriber(handle) || domain >= CUPTI_CB_DOMAIN_SIZE ||
	    end > FAKE_MAX_CBIDS || first >= end)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = first; i < end; i++)
		atomic_store_explicit(&driver_tools()->wants[domain][i], enable,
				      memory_order_release);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
					 CUpti_CallbackDomain domain,
					 CUpti_CallbackId cbid)
{
	bool is_api = domain == CUPTI_CB_DOMAIN_DRIVER_API ||
		      domain == CUPTI_CB_DOMAIN_RUNTIME_API;
	CUptiResult result = scripted_error(__func__);

	if (result)
		return result;
	if (is_api && !name_of(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	return set_wants(handle, domain, cbid, cbid + 1, enable);
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
				       CUpti_CallbackDomain domain)
{
	CUptiResult result = scripted_error(__func__);

	return result ? result : set_wants(handle, domain, 0, FAKE_MAX_CBIDS, enable);
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult result = scripted_error(__func__);

	for (uint32_t i = 1; !result && i < CUPTI_CB_DOMAIN_SIZE; i++)
		result = set_wants(handle, i, 0, FAKE_MAX_CBIDS, enable);
	return result;
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable,
					   CUpti_SubscriberHandle handle,
					   CUpti_CallbackDomain domain,
					   CUpti_CallbackId cbid)
{
	if (!enable || !is_subscriber(handle) || domain >= CUPTI_CB_DOMAIN_SIZE ||
	    cbid >= FAKE_MAX_CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = atomic_load(&driver_tools()->wants[domain][cbid]);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	if (!is_subscriber(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	cuptiEnableAllDomains(0, handle);
	pthread_mutex_lock(&mutex);
	atomic_store(&subscriber, NULL);
	handle->next_retired = retired;
	retired = handle;
	pthread_mutex_unlock(&mutex);
	return CUPTI_SUCCESS;
}

void unsubscribe_all(void)
{
	struct CUpti_Subscriber_st *handle = atomic_load(&subscriber);

	if (handle)
		cuptiUnsubscribe(handle);
}

void on_api(struct fake_call *call, CUpti_ApiCallbackSite site, void *result)
{
	struct CUpti_Subscriber_st *to = atomic_load(&subscriber);
	CUcontext context = driver_tools()->current_context();
	const CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = name_of(call->domain, call->cbid),
		.functionParams = call->params,
		.functionReturnValue = result,
		.symbolName = call->symbol,
		.context = context,
		.contextUid = driver_tools()->context_id(context),
		.correlationData = &call->correlation_data,
		.correlationId = call->correlation_id,
	};

	if (to)
		to->callback(to->userdata, call->domain, call->cbid, &data);
}

void on_resource(CUpti_CallbackIdResource id, const void *data)
{
	struct CUpti_Subscriber_st *to = atomic_load(&subscriber);

	if (to)
		to->callback(to->userdata, CUPTI_CB_DOMAIN_RESOURCE, id, data);
}
