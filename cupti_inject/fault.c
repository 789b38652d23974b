// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define NR_PAUSES 1000

enum state {
	OFF,
	WANTED, /* the driver wasn't initialized yet */
	SWITCHES,
	ON, /* in CUPTI, wanted or not */
};
static atomic_int state = OFF;

/* Without an end: UINT64_MAX */
struct pause {
	uint64_t from_ns, to_ns;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct pause pauses[NR_PAUSES]; /* the oldest is overwritten */
static size_t nr_pauses; /* up to now */

/* One by one: a device may have some and not others. */
static CUptiResult configure_one(const struct cupti_table *cupti, int kind)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config = {
		.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
		.kind = (CUpti_ActivityUnifiedMemoryCounterKind)kind,
		.enable = 1,
	};

	return cupti->cuptiActivityConfigureUnifiedMemoryCounter(&config, 1);
}

/* All that there are. CUPTI's result for the first, if it allows none. */
static CUptiResult configure(const struct cupti_table *cupti)
{
	CUptiResult first = CUPTI_SUCCESS;
	bool has_any = false;

	if (!cupti->cuptiActivityConfigureUnifiedMemoryCounter)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	for (int kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
	     kind < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT; kind++) {
		CUptiResult result = configure_one(cupti, kind);

		has_any |= !result;
		if (!first)
			first = result;
	}
	return has_any ? CUPTI_SUCCESS : first;
}

static CUptiResult enable(const struct cupti_table *cupti)
{
	CUptiResult result = configure(cupti);

	if (result)
		return result;
	return cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

static void end_pause(uint64_t time_ns)
{
	struct pause *last;

	pthread_mutex_lock(&mutex);
	last = &pauses[(nr_pauses + NR_PAUSES - 1) % NR_PAUSES];
	if (nr_pauses && last->to_ns == UINT64_MAX)
		last->to_ns = time_ns;
	pthread_mutex_unlock(&mutex);
}

void fault__want(uint64_t time_ns)
{
	int off = OFF;

	end_pause(time_ns);
	atomic_compare_exchange_strong(&state, &off, WANTED);
}

bool fault__is_awaited(void)
{
	return atomic_load_explicit(&state, memory_order_relaxed) == WANTED;
}

/*
 * CUPTI 13.0 is "not ready" on two H200, in processes of PyTorch and in one that only asks
 * how many GPUs there are.
 */
static bool means_later(CUptiResult result)
{
	return result == CUPTI_ERROR_NOT_INITIALIZED || result == CUPTI_ERROR_NOT_READY;
}

CUptiResult fault__look(const struct cupti_table *cupti, enum fault_try try)
{
	int wanted = WANTED, switches = SWITCHES, next;
	CUptiResult result;

	if (!fault__is_awaited() ||
	    !atomic_compare_exchange_strong(&state, &wanted, SWITCHES))
		return CUPTI_SUCCESS;
	result = enable(cupti);
	if (!result)
		next = ON;
	else if (try == FAULT_TRY_EARLY || (try == FAULT_TRY && means_later(result)))
		next = WANTED;
	else
		next = OFF;
	/* Unless it is forgotten meanwhile */
	atomic_compare_exchange_strong(&state, &switches, next);
	return next == OFF ? result : CUPTI_SUCCESS;
}

void fault__pause(uint64_t time_ns)
{
	int wanted = WANTED;

	if (atomic_load(&state) == OFF)
		return;
	pthread_mutex_lock(&mutex);
	pauses[nr_pauses++ % NR_PAUSES] = (struct pause){time_ns, UINT64_MAX};
	pthread_mutex_unlock(&mutex);
	atomic_compare_exchange_strong(&state, &wanted, OFF);
}

void fault__forget(void)
{
	atomic_store(&state, OFF);
}

bool fault__is_taken(uint64_t start_ns)
{
	bool is_taken = true;

	pthread_mutex_lock(&mutex);
	for (size_t i = nr_pauses; i > 0 && nr_pauses - i < NR_PAUSES; i--) {
		const struct pause *pause = &pauses[(i - 1) % NR_PAUSES];

		if (start_ns >= pause->from_ns) {
			is_taken = start_ns >= pause->to_ns;
			break;
		}
	}
	pthread_mutex_unlock(&mutex);
	return is_taken;
}
