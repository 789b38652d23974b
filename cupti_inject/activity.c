// SPDX-License-Identifier: GPL-2.0-or-later
#include "activity.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cupti_clock.h"
#include "device.h"
#include "fault.h"
#include "launch.h"
#include "marker.h"
#include "record_layout.h"
#include "records.h"
#include "stray.h"

/*
 * CUPTI 13 holds a buffer for each thread that launches: small enough for 1,000
 * threads, large enough (2,000 kernels) that handing over costs nothing.
 */
#define BUFFER_BYTES (512u << 10)
#define BUFFER_ALIGN 64
/*
 * Kept for the next request: a fresh one costs a page fault for each page that is used. A
 * flush gives back one for each thread.
 *
 * Mapped, not allocated: what one thread has allocated and another frees is scattered over
 * malloc's arenas (of 64 threads that launch 50,000 kernels a second, 240 MB in a minute).
 */
#define MAX_SPARE_BUFFERS 64

/* How often kernels that still ran are looked after */
#define DRAIN_STEP_MS 10

static const struct cupti_table *cupti;
static struct log *activity_log;

struct spare_buffer {
	struct spare_buffer *next;
};

static pthread_mutex_t spare_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct spare_buffer *spare_buffers;
static unsigned int nr_spare_buffers;

/* CUPTI before 12.9 crashes if it gets no buffer: this one is for lack of memory. */
static unsigned char last_buffer[64 << 10] __attribute__((aligned(BUFFER_ALIGN)));
static atomic_flag last_buffer_taken = ATOMIC_FLAG_INIT;

static atomic_int nr_buffers_out; /* that CUPTI has */
static bool has_told_versions, has_told_devices;
static atomic_bool has_told_layout; /* that it isn't known */

static struct spare_buffer *take_spare_buffer(void)
{
	struct spare_buffer *spare;

	/* In a forked child, the mutex may be held by a thread that it hasn't got. */
	if (fork_page__is_forked())
		return NULL;
	pthread_mutex_lock(&spare_mutex);
	spare = spare_buffers;
	if (spare) {
		spare_buffers = spare->next;
		nr_spare_buffers--;
	}
	pthread_mutex_unlock(&spare_mutex);
	return spare;
}

static uint8_t *map_buffer(void)
{
	void *buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return buffer == MAP_FAILED ? NULL : buffer;
}

static void CUPTIAPI on_buffer_requested(uint8_t **buffer, size_t *size,
					 size_t *max_nr_records)
{
	int saved_errno = errno;

	*max_nr_records = 0; /* as many as fit */
	*size = BUFFER_BYTES;
	*buffer = (uint8_t *)take_spare_buffer();
	if (!*buffer)
		*buffer = map_buffer();
	if (!*buffer && !atomic_flag_test_and_set(&last_buffer_taken)) {
		*buffer = last_buffer;
		*size = sizeof(last_buffer);
	}
	if (*buffer)
		atomic_fetch_add(&nr_buffers_out, 1);
	else
		*size = 0; /* CUPTI counts what it has to drop */
	errno = saved_errno;
}

static void release_buffer(uint8_t *buffer)
{
	struct spare_buffer *spare = (struct spare_buffer *)buffer;

	if (buffer == last_buffer) {
		atomic_flag_clear(&last_buffer_taken);
		return;
	}
	pthread_mutex_lock(&spare_mutex);
	if (nr_spare_buffers < MAX_SPARE_BUFFERS) {
		spare->next = spare_buffers;
		spare_buffers = spare;
		nr_spare_buffers++;
		spare = NULL;
	}
	pthread_mutex_unlock(&spare_mutex);
	if (spare)
		munmap(spare, BUFFER_BYTES);
}

static void tell_of_layout(void)
{
	if (!atomic_exchange(&has_told_layout, true))
		log__message(
			activity_log, GPU_LOG_WARNING,
			"%s (API version %u) is newer than this perf-gpu, and has "
			"records "
			"that aren't laid out as before: these are left out; a newer "
			"perf-gpu, or an older CUPTI in PERF_GPU_CUPTI, can record them",
			cupti->path, cupti->version);
}

static void CUPTIAPI on_buffer_completed(CUcontext context, uint32_t stream,
					 uint8_t *buffer, size_t size, size_t valid_bytes)
{
	CUpti_Activity *record = NULL;
	struct stray_run run = {};
	size_t nr_dropped = 0;
	int saved_errno = errno;

	(void)size;
	/* What a forked child has of its parent's buffers is the parent's to write. */
	if (fork_page__is_forked())
		return;
	cupti_clock__measure();
	while (valid_bytes &&
	       !cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &record))
		if (!records__take(activity_log, record, cupti->version, &run))
			tell_of_layout();
	if (!cupti->cuptiActivityGetNumDroppedRecords(context, stream, &nr_dropped) &&
	    nr_dropped)
		log__count_lost(activity_log, GPU_LOG_LOSS_CUPTI_DROPPED, nr_dropped);
	stray__end_buffer(&run);
	log__flush(activity_log);
	atomic_fetch_sub(&nr_buffers_out, 1);
	release_buffer(buffer);
	errno = saved_errno;
}

CUptiResult activity__prepare(const struct cupti_table *table, struct log *log,
			      const char **ret_what)
{
	CUptiResult result;

	cupti = table;
	activity_log = log;
	has_told_versions = has_told_devices = false;
	atomic_store(&has_told_layout, false);
	atomic_store(&nr_buffers_out, 0);
	result = cupti_clock__begin(cupti, ret_what);
	if (result)
		return result;
	*ret_what = "cuptiSetThreadIdType";
	result = cupti->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	if (result)
		return result;
	*ret_what = "cuptiActivityRegisterCallbacks";
	return cupti->cuptiActivityRegisterCallbacks(on_buffer_requested,
						     on_buffer_completed);
}

/* What CUPTI has to record for a kind; a kind may have several. */
static const struct {
	enum gpu_log_kind kind;
	CUpti_ActivityKind activity;
} activities[] = {
	{GPU_LOG_KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
	{GPU_LOG_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY},
	{GPU_LOG_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2},
	{GPU_LOG_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET},
	{GPU_LOG_KIND_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
	{GPU_LOG_KIND_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2},
};
#define NR_ACTIVITIES (sizeof(activities) / sizeof(*activities))

static bool is_enabled[NR_ACTIVITIES];

static bool enable_activity(size_t i, struct activity_refusal *refusal)
{
	const uint32_t kind = GPU_LOG_KIND_BIT(activities[i].kind);
	CUptiResult result;

	if (!record_layout__find(activities[i].activity, cupti->version)) {
		refusal->unknown_kinds |= kind;
		return false;
	}
	result = cupti->cuptiActivityEnable(activities[i].activity);
	is_enabled[i] = !result;
	if (!result)
		return true;
	if (!refusal->kinds)
		refusal->result = result;
	refusal->kinds |= kind;
	return false;
}

uint32_t activity__enable(uint32_t kinds, struct activity_refusal *ret_refusal)
{
	struct activity_refusal refusal = {};
	uint32_t enabled = 0;

	for (size_t i = 0; i < NR_ACTIVITIES; i++)
		if (kinds & GPU_LOG_KIND_BIT(activities[i].kind) &&
		    enable_activity(i, &refusal))
			enabled |= GPU_LOG_KIND_BIT(activities[i].kind);
	if (kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT)) {
		fault__want(cupti_clock__now());
		activity__enable_early();
		enabled |= GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT);
	}
	/* Facts about contexts are welcome, but not what it is for. */
	if (enabled)
		cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONTEXT);
	*ret_refusal = refusal;
	return enabled;
}

void activity__enable_early(void)
{
	fault__look(cupti, FAULT_TRY_EARLY);
}

void activity__enable_late(bool is_last, struct activity_refusal *ret_refusal)
{
	struct activity_refusal refusal = {
		.result = fault__look(cupti, is_last ? FAULT_TRY_LAST : FAULT_TRY),
	};

	if (refusal.result)
		refusal.kinds = GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT);
	*ret_refusal = refusal;
}

void activity__disable(void)
{
	for (size_t i = 0; i < NR_ACTIVITIES; i++)
		if (is_enabled[i])
			cupti->cuptiActivityDisable(activities[i].activity);
	memset(is_enabled, 0, sizeof(is_enabled));
	/* Those that are there then, CUPTI tells of when it is enabled again. */
	cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONTEXT);
	fault__pause(cupti_clock__now());
}

void activity__flush(void)
{
	if (!has_told_versions) {
		device__tell_versions(activity_log, cupti->version);
		has_told_versions = true;
	}
	if (!has_told_devices)
		has_told_devices = device__tell_all(activity_log);
	cupti->cuptiActivityFlushAll(0);
	launch__flush();
	log__flush(activity_log);
}

void activity__drain(unsigned int limit_ms)
{
	const struct timespec step = {.tv_nsec = DRAIN_STEP_MS * 1000000};

	activity__flush();
	for (unsigned int ms = 0; ms < limit_ms && atomic_load(&nr_buffers_out);
	     ms += DRAIN_STEP_MS) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
		activity__flush();
	}
	cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}
