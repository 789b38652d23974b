/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the double of libcupti.so.13. */
#ifndef FAKE_CUDA_CUPTI_STATE_H
#define FAKE_CUDA_CUPTI_STATE_H

#include "../tools.h"

/* library.c: libcuda's table, or NULL where there is no libcuda, or a real one. */
struct fake_tools *driver_tools(void);

/* callback.c: does CUPTI know a function of that number? */
bool has_callback(CUpti_CallbackDomain domain, uint32_t cbid);

/* The error that the script wants of a function, FAKE_CUDA_CUPTI_ERRORS. */
CUptiResult scripted_error(const char *function);

/* callback.c */
void unsubscribe_all(void);
void on_api(struct fake_call *call, CUpti_ApiCallbackSite site, void *result);
void on_resource(CUpti_CallbackIdResource id, const void *data);

/* activity.c */
void on_kernel(const struct fake_run *run);
void on_api_record(const struct fake_call *call, uint64_t end_ns);
void on_context(const struct fake_context_info *info);

/* buffer.c: records on their way out */
void buffers__start(CUpti_BuffersCallbackRequestFunc requested,
		    CUpti_BuffersCallbackCompleteFunc completed);
/* Into the calling thread's buffer; complete, as it is, from @complete_ns on. */
void buffers__add(const void *record, size_t bytes, uint64_t complete_ns);
void buffers__flush(bool forced);
void buffers__set_period(uint32_t period_ms);
/* Since the last call */
size_t buffers__take_dropped(void);
void buffers__count_dropped(void);

/* The size of a record of a kind, 0 of one that is never made here. */
size_t record_bytes(CUpti_ActivityKind kind);
/* Make a record that isn't complete what a forced flush gives. */
void record__interrupt(CUpti_Activity *record);

/* clock.c: of the records, which the client may choose */
uint64_t monotonic_ns(void);
uint64_t to_record_clock(uint64_t time_ns);

#endif
