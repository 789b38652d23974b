// SPDX-License-Identifier: GPL-2.0-or-later
#include "stray.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Of so many buffers the end is remembered: a buffer for each of 1,000 threads */
#define NR_ENDS 1024

static atomic_bool are_expected;
static atomic_uint_fast64_t nr_strays, nr_untold;
static atomic_uint_fast64_t off_since_ns = UINT64_MAX; /* UINT64_MAX: it is on */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct stray_run ends[NR_ENDS]; /* the oldest is overwritten */
static size_t next_end;

/*
 * Ids of launches while recording was off: the last so many times. Who switches it on
 * and off more often waits for kernels of launches of 1,000 times ago.
 */
#define NR_PAUSES 1000

struct pause {
	uint64_t from, to; /* ids; without to; UINT64_MAX: it goes on */
};

static struct pause pauses[NR_PAUSES]; /* of the mutex, too */
static size_t nr_pauses; /* up to now */
static atomic_uint_fast64_t off_from = UINT64_MAX; /* of the pause that goes on */

static void begin_pause(uint64_t from)
{
	pauses[nr_pauses++ % NR_PAUSES] = (struct pause){.from = from, .to = UINT64_MAX};
}

void stray__begin(bool expected)
{
	pthread_mutex_lock(&mutex);
	memset(ends, 0, sizeof(ends));
	next_end = 0;
	nr_pauses = 0;
	if (expected)
		begin_pause(0);
	pthread_mutex_unlock(&mutex);
	stray__before_on();
	atomic_store(&nr_strays, 0);
	atomic_store(&nr_untold, 0);
	atomic_store(&are_expected, expected);
}

void stray__off_from(uint64_t correlation_id, uint64_t time_ns)
{
	atomic_store(&off_since_ns, time_ns);
	pthread_mutex_lock(&mutex);
	begin_pause(correlation_id);
	pthread_mutex_unlock(&mutex);
	atomic_store(&off_from, correlation_id);
	atomic_store(&are_expected, true);
}

void stray__before_on(void)
{
	atomic_store(&off_since_ns, UINT64_MAX);
	atomic_store(&off_from, UINT64_MAX);
}

void stray__on_from(uint64_t correlation_id)
{
	pthread_mutex_lock(&mutex);
	if (nr_pauses)
		pauses[(nr_pauses - 1) % NR_PAUSES].to = correlation_id;
	pthread_mutex_unlock(&mutex);
}

bool stray__is_off(uint64_t correlation_id)
{
	return correlation_id >= atomic_load_explicit(&off_from, memory_order_relaxed);
}

/* Is the id from while recording was off? */
static bool is_of_pause(uint64_t correlation_id)
{
	bool is = false;

	pthread_mutex_lock(&mutex);
	/* The latest first: most kernels are of launches behind it. */
	for (size_t i = nr_pauses; i > 0 && nr_pauses - i < NR_PAUSES; i--) {
		const struct pause *pause = &pauses[(i - 1) % NR_PAUSES];

		is = correlation_id >= pause->from && correlation_id < pause->to;
		if (correlation_id >= pause->from)
			break;
	}
	pthread_mutex_unlock(&mutex);
	return is;
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

static void begin_run(struct stray_run *run, const struct stray_work *work,
		      uint64_t correlation_id)
{
	*run = (struct stray_run){
		.correlation_id = correlation_id,
		.first = *work,
		.has_begun = true,
	};
}

/* Can it be of the same launch as the run's first? */
static bool goes_on(const struct stray_work *first, const struct stray_work *work)
{
	/* A graph may have others in it, and a node may run several times. */
	if (first->graph || work->graph)
		return first->graph && work->graph;
	if (first->is_copy || work->is_copy)
		return first->is_copy && work->is_copy;
	return work->device != first->device;
}

static bool is_stray(struct stray_run *run, const struct stray_work *work,
		     uint64_t correlation_id)
{
	if (!run->has_begun)
		find_begin(run, correlation_id);
	if (!run->has_begun || run->correlation_id != correlation_id) {
		begin_run(run, work, correlation_id);
		return false;
	}
	run->is_over = run->is_over || !goes_on(&run->first, work);
	return run->is_over;
}

/* Is it of a launch since recording was last switched on? */
static bool is_of_last_time(uint64_t correlation_id)
{
	bool is = true;

	pthread_mutex_lock(&mutex);
	for (size_t i = nr_pauses; i > 0 && nr_pauses - i < 2; i--) {
		const struct pause *pause = &pauses[(i - 1) % NR_PAUSES];

		if (pause->to == UINT64_MAX && pause->from)
			continue; /* off by now */
		is = correlation_id >= pause->to;
		break;
	}
	pthread_mutex_unlock(&mutex);
	return is;
}

enum stray_kind stray__is(struct stray_run *run, const struct stray_work *work,
			  uint64_t correlation_id, uint64_t start_ns)
{
	bool is_another, is_expected;

	/* What a condition in a graph has started has no id: that tells nothing. */
	if (!correlation_id)
		return STRAY_NONE;
	is_another = is_stray(run, work, correlation_id);
	is_expected = atomic_load_explicit(&are_expected, memory_order_relaxed);
	if (is_expected && (is_of_pause(correlation_id) ||
			    (is_another && (!is_of_last_time(correlation_id) ||
					    start_ns >= atomic_load(&off_since_ns))))) {
		atomic_fetch_add_explicit(&nr_strays, 1, memory_order_relaxed);
		return STRAY_OFF;
	}
	if (!is_another)
		return STRAY_NONE;
	atomic_fetch_add_explicit(&nr_untold, 1, memory_order_relaxed);
	return STRAY_UNTOLD;
}

bool stray__has_id_of_pause(uint64_t correlation_id)
{
	bool is = correlation_id &&
		  atomic_load_explicit(&are_expected, memory_order_relaxed) &&
		  is_of_pause(correlation_id);

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

uint64_t stray__count_untold(void)
{
	return atomic_load(&nr_untold);
}
