// SPDX-License-Identifier: GPL-2.0-or-later
#include "stray.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Of so many buffers the end is remembered: a buffer for each of 1,000 threads */
#define NR_ENDS 1024

static atomic_bool are_expected;
static atomic_uint_fast64_t nr_strays;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct stray_run ends[NR_ENDS]; /* the oldest is overwritten */
static size_t next_end;

void stray__begin(bool expected)
{
	pthread_mutex_lock(&mutex);
	memset(ends, 0, sizeof(ends));
	next_end = 0;
	pthread_mutex_unlock(&mutex);
	atomic_store(&nr_strays, 0);
	atomic_store(&are_expected, expected);
}

void stray__expect(void)
{
	atomic_store(&are_expected, true);
}

/* A run that began in an earlier buffer of the thread, if there is one of the id. */
static void find_begin(struct stray_run *run, uint64_t correlation_id)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < NR_ENDS && !run->has_begun; i++)
		if (ends[i].has_begun && ends[i].correlation_id == correlation_id)
			*run = ends[i];
	pthread_mutex_unlock(&mutex);
}

static void begin_run(struct stray_run *run, const struct gpu_log_shape *shape,
		      uint64_t correlation_id)
{
	*run = (struct stray_run){
		.correlation_id = correlation_id,
		.device = shape->device,
		.graph = shape->graph,
		.has_begun = true,
	};
}

/* Can it be of the same launch as the run's first? */
static bool goes_on(const struct stray_run *run, const struct gpu_log_shape *shape)
{
	/* A graph may have others in it, and a node may run several times. */
	if (run->graph && shape->graph)
		return true;
	return !run->graph && !shape->graph && shape->device != run->device;
}

static bool is_stray(struct stray_run *run, const struct gpu_log_shape *shape,
		     uint64_t correlation_id)
{
	if (!run->has_begun)
		find_begin(run, correlation_id);
	if (!run->has_begun || run->correlation_id != correlation_id) {
		begin_run(run, shape, correlation_id);
		return false;
	}
	run->is_over = run->is_over || !goes_on(run, shape);
	return run->is_over;
}

bool stray__is(struct stray_run *run, const struct gpu_log_shape *shape,
	       uint64_t correlation_id, uint64_t first_id)
{
	bool is;

	/* What a condition in a graph has started has no id: that tells nothing. */
	if (!correlation_id)
		return false;
	is = is_stray(run, shape, correlation_id);
	if (!atomic_load_explicit(&are_expected, memory_order_relaxed))
		return false;
	is |= correlation_id < first_id;
	if (is)
		atomic_fetch_add_explicit(&nr_strays, 1, memory_order_relaxed);
	return is;
}

void stray__end_buffer(const struct stray_run *run)
{
	if (!run->has_begun)
		return;
	pthread_mutex_lock(&mutex);
	ends[next_end] = *run;
	next_end = (next_end + 1) % NR_ENDS;
	pthread_mutex_unlock(&mutex);
}

uint64_t stray__count(void)
{
	return atomic_load(&nr_strays);
}
