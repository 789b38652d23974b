// SPDX-License-Identifier: GPL-2.0-or-later
#include "cupti_share.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cupti_v2.h"

/* CUPTI's CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN, twice */
#define MAX_HOLDER_BYTES 128

/* cuptiGetVersion() of CUDA 13.2 */
#define OLDEST_SHARED 130200

static struct cupti_v2 v2;
static struct cupti_table plain; /* as the library has it */
static CUpti_SubscriberHandle subscriber;
static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;

static void find_functions(void *handle)
{
#define GET(name) v2.name = (__typeof__(v2.name))(uintptr_t)dlsym(handle, #name)
	GET(cuptiSubscribe_v2);
	GET(cuptiActivityEnable_v2);
	GET(cuptiActivityDisable_v2);
	GET(cuptiActivityRegisterCallbacks_v2);
	GET(cuptiActivityGetAttribute_v2);
	GET(cuptiActivitySetAttribute_v2);
	GET(cuptiIsTracingSessionRunning);
	GET(cuptiActivityGetNextRecord_v2);
	GET(cuptiActivityGetNumDroppedRecords_v2);
	GET(cuptiGetTimestamp_v2);
	GET(cuptiActivityEnableDriverApi_v2);
	GET(cuptiActivityEnableRuntimeApi_v2);
#undef GET
}

static bool has_functions(void)
{
	return v2.cuptiSubscribe_v2 && v2.cuptiActivityEnable_v2 &&
	       v2.cuptiActivityDisable_v2 && v2.cuptiActivityRegisterCallbacks_v2 &&
	       v2.cuptiActivityGetAttribute_v2 && v2.cuptiActivitySetAttribute_v2 &&
	       v2.cuptiIsTracingSessionRunning;
}

/*
 * Is the driver as new as CUPTI is? Several subscribers need it to be; and with an older
 * one, CUPTI 13.3.0 crashes where it is asked for a session.
 */
static bool has_new_driver(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int (*get_version)(int *) = NULL;
	int version = 0;

	if (!handle)
		return false;
	get_version =
		(__typeof__(get_version))(uintptr_t)dlsym(handle, "cuDriverGetVersion");
	if (get_version)
		get_version(&version);
	dlclose(handle); /* who has loaded it keeps it */
	return (uint32_t)version >= plain.version / 100 * 10;
}

/* The library that others have loaded. 0, -EAGAIN, or -ENOSYS if it has room for one only */
static int find_library(char *why, size_t why_bytes)
{
	static enum { UNKNOWN, USABLE, UNUSABLE } library = UNKNOWN;
	void *handle;
	int err;

	if (library == UNKNOWN) {
		err = cupti_table__open_loaded(&plain, why, why_bytes);
		if (err == -ENOENT)
			return -EAGAIN;
		library = UNUSABLE;
		handle = err ? NULL : dlopen(plain.path, RTLD_NOW | RTLD_NOLOAD);
		if (handle) {
			find_functions(handle);
			dlclose(handle); /* the table keeps it */
			if (has_functions() && plain.version >= OLDEST_SHARED &&
			    has_new_driver())
				library = USABLE;
		}
	}
	return library == USABLE ? 0 : -ENOSYS;
}

/* What the first subscriber has said of others. -EAGAIN: there is none; -EBUSY: he refuses */
static int look_for_others(void)
{
	uint8_t is_running = false, sharing = CUPTI_V2_SHARING_REFUSED;
	size_t bytes = sizeof(sharing);

	if (v2.cuptiIsTracingSessionRunning(&is_running) || !is_running)
		return -EAGAIN;
	if (v2.cuptiActivityGetAttribute_v2(NULL, CUPTI_V2_ATTRIBUTE_SHARING, &bytes,
					    &sharing))
		return -EBUSY;
	if (sharing == CUPTI_V2_SHARING_ALLOWED)
		return 0;
	return sharing == CUPTI_V2_SHARING_UNDECIDED ? -EAGAIN : -EBUSY;
}

/*
 * Set an attribute that is known to be of that size: where the numbers were others, a flag
 * that holds for all subscribers isn't to be met.
 */
static CUptiResult set_attribute(enum cupti_v2_attribute attribute, size_t size,
				 void *value)
{
	unsigned char old[16];
	size_t bytes = sizeof(old);
	CUptiResult result;

	result = v2.cuptiActivityGetAttribute_v2(subscriber, attribute, &bytes, old);
	if (result)
		return result;
	if (bytes != size)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return v2.cuptiActivitySetAttribute_v2(subscriber, attribute, &bytes, value);
}

/* --- the table's functions, by our subscriber ------------------------------------------- */

static CUptiResult CUPTIAPI share_enable(CUpti_ActivityKind kind)
{
	return v2.cuptiActivityEnable_v2(subscriber, kind, NULL);
}

static CUptiResult CUPTIAPI share_disable(CUpti_ActivityKind kind)
{
	return v2.cuptiActivityDisable_v2(subscriber, kind, NULL);
}

static CUptiResult CUPTIAPI share_enable_driver_api(CUpti_CallbackId cbid, uint8_t on)
{
	return v2.cuptiActivityEnableDriverApi_v2(subscriber, cbid, on);
}

static CUptiResult CUPTIAPI share_enable_runtime_api(CUpti_CallbackId cbid, uint8_t on)
{
	return v2.cuptiActivityEnableRuntimeApi_v2(subscriber, cbid, on);
}

static void CUPTIAPI on_requested(uint8_t **buffer, size_t *size, size_t *max_nr_records,
				  void *info)
{
	(void)info;
	request_buffer(buffer, size, max_nr_records);
}

static void CUPTIAPI on_completed(uint8_t *buffer, size_t size, size_t valid_bytes,
				  void *info)
{
	(void)info;
	complete_buffer(NULL, 0, buffer, size, valid_bytes);
}

static CUptiResult CUPTIAPI
share_register_callbacks(CUpti_BuffersCallbackRequestFunc requested,
			 CUpti_BuffersCallbackCompleteFunc completed)
{
	request_buffer = requested;
	complete_buffer = completed;
	return v2.cuptiActivityRegisterCallbacks_v2(subscriber, on_requested,
						    on_completed);
}

static CUptiResult CUPTIAPI share_next_record(uint8_t *buffer, size_t valid_bytes,
					      CUpti_Activity **record)
{
	if (!v2.cuptiActivityGetNextRecord_v2)
		return plain.cuptiActivityGetNextRecord(buffer, valid_bytes, record);
	return v2.cuptiActivityGetNextRecord_v2(subscriber, buffer, valid_bytes, record);
}

static CUptiResult CUPTIAPI share_nr_dropped(CUcontext context, uint32_t stream,
					     size_t *ret)
{
	if (!v2.cuptiActivityGetNumDroppedRecords_v2)
		return plain.cuptiActivityGetNumDroppedRecords(context, stream, ret);
	return v2.cuptiActivityGetNumDroppedRecords_v2(subscriber, context, stream, ret);
}

/*
 * All subscribers' buffers are flushed. A forced flush would give the others kernels that
 * still run, and never again.
 */
static CUptiResult CUPTIAPI share_flush(uint32_t flag)
{
	return plain.cuptiActivityFlushAll(flag &
					   ~(uint32_t)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

static CUptiResult CUPTIAPI share_set_thread_id_type(CUpti_ActivityThreadIdType type)
{
	return set_attribute(CUPTI_V2_ATTRIBUTE_THREAD_ID_TYPE, sizeof(type), &type);
}

/* The records' clock is CLOCK_REALTIME, as long as nobody has set another. */
static CUptiResult CUPTIAPI share_timestamp(uint64_t *ret)
{
	struct timespec time;

	if (v2.cuptiGetTimestamp_v2)
		return v2.cuptiGetTimestamp_v2(subscriber, ret);
	clock_gettime(CLOCK_REALTIME, &time);
	*ret = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	return CUPTI_SUCCESS;
}

static void fill_table(struct cupti_table *table)
{
	*table = plain;
	table->cuptiActivityEnable = share_enable;
	table->cuptiActivityDisable = share_disable;
	table->cuptiActivityEnableDriverApi =
		v2.cuptiActivityEnableDriverApi_v2 ? share_enable_driver_api : NULL;
	table->cuptiActivityEnableRuntimeApi =
		v2.cuptiActivityEnableRuntimeApi_v2 ? share_enable_runtime_api : NULL;
	table->cuptiActivityRegisterCallbacks = share_register_callbacks;
	table->cuptiActivityGetNextRecord = share_next_record;
	table->cuptiActivityGetNumDroppedRecords = share_nr_dropped;
	table->cuptiActivityFlushAll = share_flush;
	table->cuptiSetThreadIdType = share_set_thread_id_type;
	/*
	 * CUPTI before 13.4 takes the callback, if at all, only of one who is alone; and one
	 * that comes when contexts are there may not hold for all records.
	 */
	table->cuptiActivityRegisterTimestampCallback = NULL;
	table->cuptiGetTimestamp = share_timestamp;
}

/* There is nothing to be called for: launches are others' to tell of. */
static void CUPTIAPI ignore(void *userdata, CUpti_CallbackDomain domain,
			    CUpti_CallbackId cbid, const void *data)
{
	(void)userdata;
	(void)domain;
	(void)cbid;
	(void)data;
}

int cupti_share__join(struct cupti_table *ret, char *holder, size_t holder_bytes,
		      char *why, size_t why_bytes)
{
	char name[MAX_HOLDER_BYTES] = "";
	struct cupti_v2_subscriber_params params = {
		.struct_size = sizeof(params),
		.name = "perf-gpu",
		.old_name = name,
		.old_name_bytes = sizeof(name),
		.allows_others = true,
	};
	CUptiResult result;
	int err;

	err = find_library(why, why_bytes);
	if (!err)
		err = look_for_others();
	if (err)
		return err;
	result = v2.cuptiSubscribe_v2(&subscriber, ignore, NULL, &params);
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		return -EBUSY; /* he has left, and another come */
	if (result) {
		snprintf(why, why_bytes, "%s: cuptiSubscribe_v2 failed: %s", plain.path,
			 cupti_table__error(&plain, result));
		return -EIO;
	}
	name[sizeof(name) - 1] = '\0';
	snprintf(holder, holder_bytes, "%s", name);
	fill_table(ret);
	return 0;
}

void cupti_share__leave(void)
{
	plain.cuptiUnsubscribe(subscriber);
}
