// SPDX-License-Identifier: GPL-2.0-or-later
#include "activity.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api_records.h"
#include "device.h"
#include "launch.h"
#include "marker.h"
#include "stray.h"

/*
 * CUPTI 13 holds a buffer for each thread that launches: small enough for 1,000
 * threads, large enough (2,000 kernels) that handing over costs nothing.
 */
#define BUFFER_BYTES (512u << 10)
#define BUFFER_ALIGN 64
/* Kept for the next request: a fresh one costs 128 page faults. */
#define MAX_SPARE_BUFFERS 16

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
static bool has_told_devices;

static uint64_t CUPTIAPI monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

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

static void CUPTIAPI on_buffer_requested(uint8_t **buffer, size_t *size,
					 size_t *max_nr_records)
{
	int saved_errno = errno;

	*max_nr_records = 0; /* as many as fit */
	*size = BUFFER_BYTES;
	*buffer = (uint8_t *)take_spare_buffer();
	if (!*buffer)
		*buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
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
	free(spare);
}

/*
 * The members that are read stand at the same place in every version of the
 * record since CUpti_ActivityKernel6.
 */
static void take_kernel(const CUpti_ActivityKernel10 *kernel, struct stray_run *run)
{
	uint64_t correlation_id = launch__widen(kernel->correlationId);
	struct gpu_log_shape shape = {
		.device = kernel->deviceId,
		.context = kernel->contextId,
		.stream = kernel->streamId,
		.grid = {(uint32_t)kernel->gridX, (uint32_t)kernel->gridY,
			 (uint32_t)kernel->gridZ},
		.block = {(uint32_t)kernel->blockX, (uint32_t)kernel->blockY,
			  (uint32_t)kernel->blockZ},
		.registers_per_thread = kernel->registersPerThread,
		.static_shared_bytes = (uint32_t)kernel->staticSharedMemory,
		.dynamic_shared_bytes = (uint32_t)kernel->dynamicSharedMemory,
		.graph = kernel->graphId,
		.graph_node = kernel->graphNodeId,
	};

	if (stray__is(run, &shape, correlation_id, launch__first()))
		return;
	/* A forced flush hands out running kernels, and never again. */
	if (kernel->start && !kernel->end)
		log__count_lost(activity_log, GPU_LOG_LOSS_UNFINISHED, 1);
	log__kernel(activity_log, kernel->name ? kernel->name : "", &shape,
		    correlation_id, kernel->start, kernel->end);
}

static void take_context(const CUpti_ActivityContext3 *context)
{
	struct gpu_log_context record = {
		.context = context->contextId,
		.device = context->deviceId,
		.null_stream = context->nullStreamId,
	};

	log__context(activity_log, &record);
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
	launch__flush();
	while (valid_bytes &&
	       !cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			take_kernel((const CUpti_ActivityKernel10 *)record, &run);
		else if (record->kind == CUPTI_ACTIVITY_KIND_CONTEXT)
			take_context((const CUpti_ActivityContext3 *)record);
		else if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER ||
			 record->kind == CUPTI_ACTIVITY_KIND_RUNTIME)
			api_records__take((const CUpti_ActivityAPI *)record);
	}
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
	has_told_devices = false;
	atomic_store(&nr_buffers_out, 0); /* cuptiFinalize() gives none back */
	*ret_what = "cuptiActivityRegisterTimestampCallback";
	result = cupti->cuptiActivityRegisterTimestampCallback(monotonic_ns);
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

CUptiResult activity__enable(void)
{
	CUptiResult result;

	result = cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	/* Facts about contexts are welcome, kernels are what it is for. */
	if (!result)
		cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONTEXT);
	return result;
}

CUptiResult activity__disable(void)
{
	return cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

void activity__flush(void)
{
	if (!has_told_devices) {
		device__tell(activity_log, cupti->version);
		has_told_devices = true;
	}
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
