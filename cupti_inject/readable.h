/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can memory be read? For pointers out of structures that are another program's, and
 * may not be laid out as we think.
 *
 * The kernel is asked, once for each page, and answers are kept for a while. A page
 * that is unmapped in the meantime is not noticed: this is against pointers that are
 * none, not against memory that its owner frees while it is being read.
 *
 * Any thread, also several at once, without a lock. Changes errno.
 */
#ifndef PERF_GPU_INJECT_READABLE_H
#define PERF_GPU_INJECT_READABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages are of this size here, also where they are larger. */
#define READABLE_PAGE_SHIFT 12
/* Higher than any user's address */
#define READABLE_ADDRESS_BITS 56
/* Python's objects and frames of a PyTorch step are in some hundred pages. */
#define READABLE_NR_SLOTS 2048

/* By page number: the number, and behind it the age that it was asked in */
extern atomic_uint_fast64_t readable_slots[READABLE_NR_SLOTS];

/* The age as of the beginning of a walk: what is 16 bits long and not 0 */
struct readable {
	uint64_t age;
};

struct readable readable__begin(void);

/* Ask anew from here on, in walks that begin: to be called now and then. */
void readable__forget(void);

/* The slow way of what follows */
bool readable__ask(const struct readable *readable, uintptr_t address, size_t nr_bytes);

/**
 * readable__check - are all bytes of a piece of memory readable?
 * @address: of the first one
 * @nr_bytes: 0 is always readable
 */
static inline bool readable__check(const struct readable *readable, uintptr_t address,
				   size_t nr_bytes)
{
	uintptr_t page = address >> READABLE_PAGE_SHIFT;
	atomic_uint_fast64_t *slot = &readable_slots[page % READABLE_NR_SLOTS];
	uintptr_t in_page = address & ((1u << READABLE_PAGE_SHIFT) - 1);

	if (nr_bytes <= (1u << READABLE_PAGE_SHIFT) - in_page &&
	    !(address >> READABLE_ADDRESS_BITS) &&
	    atomic_load_explicit(slot, memory_order_relaxed) ==
		    ((uint64_t)page << 16 | readable->age))
		return true;
	return readable__ask(readable, address, nr_bytes);
}

#endif
