// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of CUDA 13.2 and later by which several subscribers record, each by its
 * own buffers. Our headers don't have them: they are as NVIDIA documents them for CUPTI
 * 13.3 ("Multiple Subscribers", "CUPTI Activity API").
 */
#include "client.h"
#include "cupti_state.h"

#include <string.h>

/* Attributes, by their place behind those of cupti_activity.h */
enum { ATTRIBUTE_SHARING = 12, ATTRIBUTE_THREAD_ID_TYPE = 21, ATTRIBUTE_TIMESTAMP = 22 };
enum { SHARING_REFUSED, SHARING_ALLOWED, SHARING_UNDECIDED };

struct client clients[MAX_CLIENTS];

bool client__wants(size_t i, const CUpti_Activity *record)
{
	const CUpti_ActivityAPI *call = (const CUpti_ActivityAPI *)record;

	/* Then there is nobody else, and libcuda knows what he wants. */
	if (i == CLIENT_OF_ALL)
		return !subscriber__is_shared();
	if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER)
		return atomic_load(
			&clients[i].has_api[CUPTI_CB_DOMAIN_DRIVER_API][call->cbid]);
	if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		return atomic_load(
			&clients[i].has_api[CUPTI_CB_DOMAIN_RUNTIME_API][call->cbid]);
	return record->kind < CUPTI_ACTIVITY_KIND_COUNT &&
	       atomic_load(&clients[i].is_enabled[record->kind]);
}

/* The subscriber's client, or the error of a call by another. */
static CUptiResult find(const char *function, CUpti_SubscriberHandle handle,
			struct client **ret)
{
	CUptiResult result = scripted_error(function);
	size_t i = subscriber__client(handle);

	if (result)
		return result;
	if (!i)
		return subscriber__is_there() && !subscriber__is_shared()
			       ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
			       : CUPTI_ERROR_INVALID_PARAMETER;
	*ret = &clients[i];
	return CUPTI_SUCCESS;
}

static bool any_has_api(CUpti_CallbackDomain domain, uint32_t cbid)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		if (atomic_load(&clients[i].has_api[domain][cbid]))
			return true;
	return false;
}

static bool any_has_kind(CUpti_ActivityKind kind)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++)
		if (atomic_load(&clients[i].is_enabled[kind]))
			return true;
	return false;
}

static void set_api(struct client *client, CUpti_CallbackDomain domain, uint32_t first,
		    uint32_t end, bool enable)
{
	for (uint32_t i = first; i < end; i++) {
		atomic_store(&client->has_api[domain][i], enable);
		atomic_store(&driver_tools()->wants_records[domain][i],
			     any_has_api(domain, i));
	}
}

static CUptiResult set_kind(struct client *client, CUpti_ActivityKind kind, bool enable)
{
	struct fake_tools *tools = driver_tools();

	if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return CUPTI_ERROR_INVALID_KIND;
	atomic_store(&client->is_enabled[kind], enable);
	atomic_store(&tools->wants_kind[kind], any_has_kind(kind));
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		set_api(client, CUPTI_CB_DOMAIN_DRIVER_API, 0, FAKE_MAX_CBIDS, enable);
	else if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		set_api(client, CUPTI_CB_DOMAIN_RUNTIME_API, 0, FAKE_MAX_CBIDS, enable);
	else if (enable && kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		tools->tell_contexts();
	else if (enable && kind == CUPTI_ACTIVITY_KIND_DEVICE)
		record__tell_devices();
	return CUPTI_SUCCESS;
}

void client__reset(size_t i)
{
	struct client *client = &clients[i];

	for (int kind = 1; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		if (atomic_load(&client->is_enabled[kind]))
			set_kind(client, (CUpti_ActivityKind)kind, false);
	set_api(client, CUPTI_CB_DOMAIN_DRIVER_API, 0, FAKE_MAX_CBIDS, false);
	set_api(client, CUPTI_CB_DOMAIN_RUNTIME_API, 0, FAKE_MAX_CBIDS, false);
}

CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle handle,
					    CUpti_ActivityKind kind, void *config);
static CUptiResult enable(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
			  void *config)
{
	struct client *client;
	CUptiResult result = find("cuptiActivityEnable_v2", handle, &client);

	(void)config; /* fields of records, which nobody has chosen */
	return result ? result : set_kind(client, kind, true);
}
VERSIONED(cuptiActivityEnable_v2, enable)

CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle handle,
					     CUpti_ActivityKind kind, void *config);
static CUptiResult disable(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
			   void *config)
{
	struct client *client;
	CUptiResult result = find("cuptiActivityDisable_v2", handle, &client);

	(void)config;
	return result ? result : set_kind(client, kind, false);
}
VERSIONED(cuptiActivityDisable_v2, disable)

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
						       request_v2_fn *requested,
						       complete_v2_fn *completed);
static CUptiResult register_callbacks(CUpti_SubscriberHandle handle,
				      request_v2_fn *requested, complete_v2_fn *completed)
{
	struct client *client;
	CUptiResult result = find("cuptiActivityRegisterCallbacks_v2", handle, &client);

	if (result)
		return result;
	if (!requested || !completed)
		return CUPTI_ERROR_INVALID_PARAMETER;
	client->request_v2 = requested;
	client->complete_v2 = completed;
	buffers__start();
	return CUPTI_SUCCESS;
}
VERSIONED(cuptiActivityRegisterCallbacks_v2, register_callbacks)

CUptiResult CUPTIAPI cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle handle,
						   uint8_t *buffer, size_t valid_bytes,
						   CUpti_Activity **record);
static CUptiResult get_next_record(CUpti_SubscriberHandle handle, uint8_t *buffer,
				   size_t valid_bytes, CUpti_Activity **record)
{
	struct client *client;
	CUptiResult result = find("cuptiActivityGetNextRecord_v2", handle, &client);

	return result ? result : record__next(buffer, valid_bytes, record);
}
VERSIONED(cuptiActivityGetNextRecord_v2, get_next_record)

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle handle,
							  CUcontext context,
							  uint32_t stream,
							  size_t *dropped);
static CUptiResult get_nr_dropped(CUpti_SubscriberHandle handle, CUcontext context,
				  uint32_t stream, size_t *dropped)
{
	struct client *client;
	CUptiResult result =
		find("cuptiActivityGetNumDroppedRecords_v2", handle, &client);

	(void)context;
	(void)stream;
	if (!result)
		*dropped = atomic_exchange(&client->nr_dropped, 0);
	return result;
}
VERSIONED(cuptiActivityGetNumDroppedRecords_v2, get_nr_dropped)

static CUptiResult enable_api(const char *function, CUpti_SubscriberHandle handle,
			      CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			      uint8_t on)
{
	struct client *client;
	CUptiResult result = find(function, handle, &client);

	if (result)
		return result;
	if (!has_callback(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	set_api(client, domain, cbid, cbid + 1, on);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle handle,
						     CUpti_CallbackId cbid, uint8_t on);
static CUptiResult enable_driver_api(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid,
				     uint8_t on)
{
	return enable_api("cuptiActivityEnableDriverApi_v2", handle,
			  CUPTI_CB_DOMAIN_DRIVER_API, cbid, on);
}
VERSIONED(cuptiActivityEnableDriverApi_v2, enable_driver_api)

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle handle,
						      CUpti_CallbackId cbid, uint8_t on);
static CUptiResult enable_runtime_api(CUpti_SubscriberHandle handle,
				      CUpti_CallbackId cbid, uint8_t on)
{
	return enable_api("cuptiActivityEnableRuntimeApi_v2", handle,
			  CUPTI_CB_DOMAIN_RUNTIME_API, cbid, on);
}
VERSIONED(cuptiActivityEnableRuntimeApi_v2, enable_runtime_api)

CUptiResult CUPTIAPI cuptiGetTimestamp_v2(CUpti_SubscriberHandle handle, uint64_t *ret);
static CUptiResult get_timestamp(CUpti_SubscriberHandle handle, uint64_t *ret)
{
	struct client *client;
	CUptiResult result = find("cuptiGetTimestamp_v2", handle, &client);

	return result ? result : cuptiGetTimestamp(ret);
}
VERSIONED(cuptiGetTimestamp_v2, get_timestamp)

static CUptiResult give(const void *value, size_t size, size_t *bytes, void *ret)
{
	if (*bytes < size)
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	memcpy(ret, value, size);
	*bytes = size;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle handle,
						  uint32_t attribute, size_t *bytes,
						  void *ret);
static CUptiResult get_attribute(CUpti_SubscriberHandle handle, uint32_t attribute,
				 size_t *bytes, void *ret)
{
	static const uint32_t thread_ids = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
	static const uint64_t no_callback;
	uint8_t sharing = SHARING_UNDECIDED, flag = 0;
	struct client *client;
	CUptiResult result = scripted_error("cuptiActivityGetAttribute_v2");

	if (result)
		return result;
	if (subscriber__is_there())
		sharing = subscriber__is_shared() ? SHARING_ALLOWED : SHARING_REFUSED;
	if (attribute == ATTRIBUTE_SHARING)
		return give(&sharing, sizeof(sharing), bytes, ret);
	result = find("cuptiActivityGetAttribute_v2", handle, &client);
	if (result)
		return result;
	if (attribute == ATTRIBUTE_THREAD_ID_TYPE)
		return give(&thread_ids, sizeof(thread_ids), bytes, ret);
	if (attribute == ATTRIBUTE_TIMESTAMP)
		return give(&no_callback, sizeof(no_callback), bytes, ret);
	return give(&flag, sizeof(flag), bytes, ret);
}
VERSIONED(cuptiActivityGetAttribute_v2, get_attribute)

CUptiResult CUPTIAPI cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle,
						  uint32_t attribute, size_t *bytes,
						  void *value);
static CUptiResult set_attribute(CUpti_SubscriberHandle handle, uint32_t attribute,
				 size_t *bytes, void *value)
{
	struct client *client;
	CUptiResult result = find("cuptiActivitySetAttribute_v2", handle, &client);

	if (result)
		return result;
	if (!bytes || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	/* Thread ids are the system's here, whoever wants what. */
	return attribute == ATTRIBUTE_THREAD_ID_TYPE ? CUPTI_SUCCESS
						     : CUPTI_ERROR_NOT_SUPPORTED;
}
VERSIONED(cuptiActivitySetAttribute_v2, set_attribute)

CUptiResult CUPTIAPI cuptiIsTracingSessionRunning(uint8_t *ret);
static CUptiResult is_running(uint8_t *ret)
{
	if (!ret)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*ret = subscriber__is_there();
	return CUPTI_SUCCESS;
}
VERSIONED(cuptiIsTracingSessionRunning, is_running)
