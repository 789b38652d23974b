// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The subscribers of a process, of which there is one before CUDA 13.2, and what each is
 * called for.
 *
 * It is told on the thread that makes the API call. One that unsubscribes while
 * another thread is in its callback is called no more, but that call still ends.
 */
#include "client.h"
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
	atomic_bool wants[CUPTI_CB_DOMAIN_SIZE][FAKE_MAX_CBIDS];
};

/* As CUDA 13.2 has it: with a member more than our headers */
struct shared_params {
	CUpti_SubscriberParams params;
	uint8_t allows_others;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* One that is alone is the first; those who share have the other places. */
static _Atomic(struct CUpti_Subscriber_st *) subscribers[MAX_CLIENTS];
/* Not freed: a callback of another thread may still be on its way. */
static struct CUpti_Subscriber_st *retired;

static const char *const driver_names[] = {
#include "driver_names.h"
};

static const char *const runtime_names[] = {
#include "runtime_names.h"
};

/* Of the driver's functions it isn't known which version has the first. */
static const char *name_of(CUpti_CallbackDomain domain, uint32_t cbid)
{
	const char *name = NULL;

	if (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
	    cbid < sizeof(driver_names) / sizeof(*driver_names))
		return driver_names[cbid];
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
	    cbid < sizeof(runtime_names) / sizeof(*runtime_names))
		name = runtime_names[cbid];
	return name && version__has_api(name) ? name : NULL;
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

bool subscriber__is_shared(void)
{
	for (size_t i = CLIENT_OF_ALL + 1; i < MAX_CLIENTS; i++)
		if (atomic_load(&subscribers[i]))
			return true;
	return false;
}

/* The first there is: a subscriber of this process, or one that the script plays; or NULL */
static const char *holder(void)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		struct CUpti_Subscriber_st *other = atomic_load(&subscribers[i]);

		if (other)
			return other->name;
	}
	return driver_tools()->knobs->subscriber;
}

bool subscriber__is_there(void)
{
	return holder();
}

/* A place for one more; MAX_CLIENTS if there is none */
static size_t find_place(bool allows_others)
{
	size_t i = CLIENT_OF_ALL;

	if (holder() && !(allows_others && subscriber__is_shared()))
		return MAX_CLIENTS;
	if (allows_others)
		for (i = CLIENT_OF_ALL + 1; i < MAX_CLIENTS; i++)
			if (!atomic_load(&subscribers[i]))
				break;
	return i;
}

static bool allows_others(const CUpti_SubscriberParams *params)
{
	const struct shared_params *shared = (const struct shared_params *)params;

	return version__played()->number >= 130200 && params &&
	       params->structSize > offsetof(struct shared_params, allows_others) &&
	       shared->allows_others;
}

static CUptiResult subscribe(struct CUpti_Subscriber_st **ret,
			     CUpti_CallbackFunc callback, void *userdata,
			     CUpti_SubscriberParams *params)
{
	const char *name = params && params->subscriberName ? params->subscriberName : "";
	struct CUpti_Subscriber_st *new;
	CUptiResult result = CUPTI_SUCCESS;
	size_t place;

	if (!ret || !callback || (params && !params->structSize))
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&mutex);
	place = find_place(allows_others(params));
	if (holder() && params && params->oldSubscriberName)
		snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s",
			 holder());
	if (place == MAX_CLIENTS) {
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
	atomic_store(&subscribers[place], new);
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

static CUptiResult subscribe_v2(CUpti_SubscriberHandle *handle,
				CUpti_CallbackFunc callback, void *userdata,
				CUpti_SubscriberParams *params)
{
	CUptiResult result = scripted_error("cuptiSubscribe_v2");

	return result ? result : subscribe(handle, callback, userdata, params);
}
VERSIONED(cuptiSubscribe_v2, subscribe_v2)

/* The place of a subscriber; MAX_CLIENTS if it is none */
static size_t place_of(struct CUpti_Subscriber_st *handle)
{
	size_t i = 0;

	while (i < MAX_CLIENTS && (!handle || handle != atomic_load(&subscribers[i])))
		i++;
	return i;
}

static bool is_subscriber(struct CUpti_Subscriber_st *handle)
{
	return place_of(handle) < MAX_CLIENTS;
}

size_t subscriber__client(CUpti_SubscriberHandle handle)
{
	size_t place = place_of(handle);

	return place < MAX_CLIENTS ? place : CLIENT_OF_ALL;
}

/* What any of them wants, libcuda is to tell. */
static void tell_wants(uint32_t domain, uint32_t id)
{
	bool is_wanted = false;

	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		struct CUpti_Subscriber_st *other = atomic_load(&subscribers[i]);

		is_wanted |= other && atomic_load(&other->wants[domain][id]);
	}
	atomic_store_explicit(&driver_tools()->wants[domain][id], is_wanted,
			      memory_order_release);
}

static bool is_api_domain(uint32_t domain)
{
	return domain == CUPTI_CB_DOMAIN_DRIVER_API ||
	       domain == CUPTI_CB_DOMAIN_RUNTIME_API;
}

static CUptiResult set_wants(struct CUpti_Subscriber_st *handle, uint32_t domain,
			     uint32_t first, uint32_t end, bool enable)
{
	if (!is_subscriber(handle) || domain >= CUPTI_CB_DOMAIN_SIZE ||
	    end > FAKE_MAX_CBIDS || first >= end)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = first; i < end; i++)
		if (!is_api_domain(domain) || name_of(domain, i)) {
			atomic_store(&handle->wants[domain][i], enable);
			tell_wants(domain, i);
		}
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
					 CUpti_CallbackDomain domain,
					 CUpti_CallbackId cbid)
{
	CUptiResult result = scripted_error(__func__);

	if (result)
		return result;
	if (is_api_domain(domain) && !name_of(domain, cbid))
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
	*enable = atomic_load(&handle->wants[domain][cbid]);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	size_t place = place_of(handle);

	if (place == MAX_CLIENTS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cuptiEnableAllDomains(0, handle);
	if (place != CLIENT_OF_ALL)
		client__reset(place);
	pthread_mutex_lock(&mutex);
	atomic_store(&subscribers[place], NULL);
	handle->next_retired = retired;
	retired = handle;
	pthread_mutex_unlock(&mutex);
	return CUPTI_SUCCESS;
}

void unsubscribe_all(void)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		struct CUpti_Subscriber_st *handle = atomic_load(&subscribers[i]);

		if (handle)
			cuptiUnsubscribe(handle);
	}
}

static void call_all(CUpti_CallbackDomain domain, uint32_t id, const void *data)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		struct CUpti_Subscriber_st *to = atomic_load(&subscribers[i]);

		if (to && atomic_load(&to->wants[domain][id]))
			to->callback(to->userdata, domain, id, data);
	}
}

void on_api(struct fake_call *call, CUpti_ApiCallbackSite site, void *result)
{
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

	call_all(call->domain, call->cbid, &data);
}

void on_resource(CUpti_CallbackIdResource id, const void *data)
{
	/* Both came with CUDA 13.0. */
	if ((id == CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED ||
	     id == CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS) &&
	    version__played()->number < 130000)
		return;
	call_all(CUPTI_CB_DOMAIN_RESOURCE, id, data);
}
