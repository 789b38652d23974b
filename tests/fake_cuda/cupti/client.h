/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who records: everybody who uses the functions without a subscriber is one client, and
 * from CUDA 13.2 on each subscriber of several is one. Not both at a time.
 */
#ifndef FAKE_CUDA_CLIENT_H
#define FAKE_CUDA_CLIENT_H

#include "../tools.h"

#define MAX_CLIENTS 4
/* Of the functions without a subscriber; others are subscribers by their number. */
#define CLIENT_OF_ALL 0

typedef void CUPTIAPI request_v2_fn(uint8_t **buffer, size_t *size, size_t *max_nr,
				    void *info);
typedef void CUPTIAPI complete_v2_fn(uint8_t *buffer, size_t size, size_t valid_bytes,
				     void *info);

struct client {
	/* One pair of the two; NULL: it gets no records */
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	request_v2_fn *request_v2;
	complete_v2_fn *complete_v2;
	atomic_size_t nr_dropped;
	atomic_bool is_enabled[CUPTI_ACTIVITY_KIND_COUNT];
	atomic_bool has_api[CUPTI_CB_DOMAIN_SIZE][FAKE_MAX_CBIDS];
};

extern struct client clients[MAX_CLIENTS];

/* share.c: does a record go to a client? */
bool client__wants(size_t i, const CUpti_Activity *record);

/* callback.c: the number of a subscriber of several, 0 of one that is alone or is none */
size_t subscriber__client(CUpti_SubscriberHandle handle);
/* Is there any; are there, or may there be, several? */
bool subscriber__is_there(void);
bool subscriber__is_shared(void);

#endif
