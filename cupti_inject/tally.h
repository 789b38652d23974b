/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting for the recorder what may never be written, in memory that it has, too: see
 * log_memory.h. Never waits for long: without a recorder that takes it, the counts are
 * nobody's but ours.
 */
#ifndef PERF_GPU_INJECT_TALLY_H
#define PERF_GPU_INJECT_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "log_memory.h"

struct tally {
	struct tally_page *page; /* NULL before tally__open() */
	struct log_memory *memory; /* that it is in; NULL: there is none to be shared */
	bool is_shared; /* the recorder has it */
	struct tally_page own; /* where it isn't shared */
};

/**
 * tally__open - begin to count, from 0, for the log of that id
 *
 * May be called again, for another log: a thread that is late may still count then, for
 * nobody.
 */
void tally__open(struct tally *tally, uint64_t log_id);

/* One launch more. Any thread. */
static inline void tally__add_launch(struct tally *tally)
{
	__atomic_fetch_add(&tally->page->nr_launches, 1, __ATOMIC_RELAXED);
}

static inline uint64_t tally__launches(const struct tally *tally)
{
	return __atomic_load_n(&tally->page->nr_launches, __ATOMIC_RELAXED);
}

/* GPU records; one thread at a time */
static inline void tally__add_records(struct tally *tally, uint64_t nr)
{
	uint64_t before = __atomic_load_n(&tally->page->nr_records, __ATOMIC_RELAXED);

	__atomic_store_n(&tally->page->nr_records, before + nr, __ATOMIC_RELAXED);
}

#endif
