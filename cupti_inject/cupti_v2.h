/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The API of CUPTI 13.2 and later by which several subscribers of a process record beside
 * each other, as far as it is used here, for our headers are older. In 13.2 it is a beta,
 * in which some of the functions are missing.
 *
 * From NVIDIA's documentation of CUPTI 13.3: "Multiple Subscribers" (its rules),
 * "CUPTI Activity API" and "CUpti_SubscriberParams" (https://docs.nvidia.com/cupti/). The
 * attributes' numbers count on from those of cupti_activity.h in its order.
 */
#ifndef PERF_GPU_INJECT_CUPTI_V2_H
#define PERF_GPU_INJECT_CUPTI_V2_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* CUpti_SubscriberParams, which has one member more than ours */
struct cupti_v2_subscriber_params {
	size_t struct_size;
	const char *name;
	char *old_name; /* of the subscriber that is there */
	size_t old_name_bytes;
	uint8_t allows_others; /* the first subscriber's holds for all */
	uint8_t pad[7];
};

_Static_assert(sizeof(struct cupti_v2_subscriber_params) == 40, "an ABI");

/* CUpti_ActivityAttribute */
enum cupti_v2_attribute {
	/* uint8_t: enum cupti_v2_sharing; read only, and with subscriber NULL too */
	CUPTI_V2_ATTRIBUTE_SHARING = 12,
	CUPTI_V2_ATTRIBUTE_THREAD_ID_TYPE = 21, /* CUpti_ActivityThreadIdType */
	CUPTI_V2_ATTRIBUTE_TIMESTAMP = 22, /* CUpti_TimestampCallbackFunc */
};

enum cupti_v2_sharing {
	CUPTI_V2_SHARING_REFUSED = 0,
	CUPTI_V2_SHARING_ALLOWED = 1,
	CUPTI_V2_SHARING_UNDECIDED = 2, /* there is no subscriber */
};

/* The infos say nothing that is needed of the records of all members. */
typedef void CUPTIAPI cupti_v2_request_fn(uint8_t **buffer, size_t *size,
					  size_t *max_nr_records, void *info);
typedef void CUPTIAPI cupti_v2_complete_fn(uint8_t *buffer, size_t size,
					   size_t valid_bytes, void *info);

/* By their names in the library. Those without which nothing works, then the others. */
struct cupti_v2 {
	CUptiResult (*cuptiSubscribe_v2)(CUpti_SubscriberHandle *ret,
					 CUpti_CallbackFunc callback, void *userdata,
					 struct cupti_v2_subscriber_params *params);
	CUptiResult (*cuptiActivityEnable_v2)(CUpti_SubscriberHandle subscriber,
					      CUpti_ActivityKind kind, void *config);
	CUptiResult (*cuptiActivityDisable_v2)(CUpti_SubscriberHandle subscriber,
					       CUpti_ActivityKind kind, void *config);
	CUptiResult (*cuptiActivityRegisterCallbacks_v2)(
		CUpti_SubscriberHandle subscriber, cupti_v2_request_fn *requested,
		cupti_v2_complete_fn *completed);
	CUptiResult (*cuptiActivityGetAttribute_v2)(CUpti_SubscriberHandle subscriber,
						    enum cupti_v2_attribute attribute,
						    size_t *bytes, void *value);
	CUptiResult (*cuptiActivitySetAttribute_v2)(CUpti_SubscriberHandle subscriber,
						    enum cupti_v2_attribute attribute,
						    size_t *bytes, void *value);
	/* Asks for nothing: it leaves open by which API the process is going to be recorded. */
	CUptiResult (*cuptiIsTracingSessionRunning)(uint8_t *ret);
	/* Not in 13.2 */
	CUptiResult (*cuptiActivityGetNextRecord_v2)(CUpti_SubscriberHandle subscriber,
						     uint8_t *buffer, size_t valid_bytes,
						     CUpti_Activity **record);
	CUptiResult (*cuptiActivityGetNumDroppedRecords_v2)(
		CUpti_SubscriberHandle subscriber, CUcontext context, uint32_t stream,
		size_t *ret);
	CUptiResult (*cuptiGetTimestamp_v2)(CUpti_SubscriberHandle subscriber,
					    uint64_t *ret);
	/* From 13.4 on */
	CUptiResult (*cuptiActivityEnableDriverApi_v2)(CUpti_SubscriberHandle subscriber,
						       CUpti_CallbackId cbid, uint8_t on);
	CUptiResult (*cuptiActivityEnableRuntimeApi_v2)(CUpti_SubscriberHandle subscriber,
							CUpti_CallbackId cbid,
							uint8_t on);
};

#endif
