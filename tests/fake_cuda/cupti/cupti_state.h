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

/* share.c: a subscriber of several has left */
void client__reset(size_t i);

/* activity.c */
bool activity__is_enabled(CUpti_ActivityKind kind);
bool activity__has_counter(CUpti_ActivityUnifiedMemoryCounterKind kind);
/* Are there records of waits that gave an error, of queries too early? */
bool activity__has_failed_waits(void);

/* records.c */
void on_kernel(const struct fake_run *run);
void on_copy(const struct fake_copy *run);
void on_wait(const struct fake_wait *wait);
void on_memory(const struct fake_memory *memory);
void on_migration(const struct fake_migration *migration);
void on_api_record(const struct fake_call *call, uint64_t end_ns);
void on_context(const struct fake_context_info *info);
void record__tell_devices(void);

/* version.c: which CUPTI is played */
struct version {
	uint32_t number; /* as cuptiGetVersion() gives it */
	int cuda; /* as CUDA_VERSION */
	bool is_unknown; /* later than any that is known: its records are longer */
};

/* A kind of record that only an unknown version has */
#define UNKNOWN_KIND	   ((CUpti_ActivityKind)200)
#define UNKNOWN_KIND_BYTES 48

const struct version *version__played(void);
bool version__has(const char *function);
/* false: its records came later */
bool version__has_kind(CUpti_ActivityKind kind);
/* Does it know an API function by that name of a callback? */
bool version__has_api(const char *name);

/*
 * A function that not all versions have: where it is missing, dlsym() gives NULL. The
 * resolver runs when the function is looked up, so no constructor is before it.
 */
#define VERSIONED(name_, function_)                                             \
	__attribute__((unused)) static __typeof__(&name_) resolve_##name_(void) \
	{                                                                       \
		return version__has(#name_) ? function_ : NULL;                 \
	}                                                                       \
	__attribute__((ifunc("resolve_" #name_))) __typeof__(name_) name_;

/* buffer.c: records on their way out */
void buffers__start(void);
/*
 * Into the calling thread's buffer, of each client that wants it, cut to the played version's layout; complete, as it
 * is, from @complete_ns on, or COMPLETE_LATE: when there is the script's file.
 */
#define COMPLETE_LATE UINT64_MAX
void buffers__add(const void *record, uint64_t complete_ns);
void buffers__flush(bool forced);
void buffers__set_period(uint32_t period_ms);
/* Of every client */
void buffers__count_dropped(const CUpti_Activity *record);

/* In the version that is played; 0 of a kind that is never made here. */
size_t record_bytes(CUpti_ActivityKind kind);
/* In the version of the headers, which records are made for */
size_t record__known_bytes(CUpti_ActivityKind kind);
/* cuptiActivityGetNextRecord() */
CUptiResult record__next(uint8_t *buffer, size_t valid_bytes, CUpti_Activity **record);
/* Make a record that isn't complete what a forced flush gives. */
void record__interrupt(CUpti_Activity *record);

/* clock.c: of the records, which the client may choose */
uint64_t monotonic_ns(void);
uint64_t to_record_clock(uint64_t time_ns);

#endif
