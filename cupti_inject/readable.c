// SPDX-License-Identifier: GPL-2.0-or-later
#include "readable.h"

#include <stdatomic.h>

#include "stack_memory.h"

/* Checked in units of this, also where pages are larger */
#define PAGE_SHIFT   12
#define ADDRESS_BITS 56
/* Python's objects and frames of a PyTorch step are in some hundred pages. */
#define NR_SLOTS 2048

/* By page number: the number, and the age it was asked in */
static atomic_uint_fast64_t slots[NR_SLOTS];
/* From 1, so that a slot of 0 is of no age; of 16 bits */
static atomic_uint_fast64_t age = 1;

static bool is_page_readable(uintptr_t page)
{
	atomic_uint_fast64_t *slot = &slots[page % NR_SLOTS];
	uint64_t wanted = (uint64_t)page << 16 |
			  (atomic_load_explicit(&age, memory_order_relaxed) & 0xffff);

	if (atomic_load_explicit(slot, memory_order_relaxed) == wanted)
		return true;
	if (!stack_memory__is_readable(page << PAGE_SHIFT))
		return false;
	atomic_store_explicit(slot, wanted, memory_order_relaxed);
	return true;
}

bool readable__check(struct readable *readable, uintptr_t address, size_t nr_bytes)
{
	uintptr_t last;

	if (!nr_bytes)
		return true;
	/* Higher than any user's address; and a slot has no room for the number. */
	if (__builtin_add_overflow(address, nr_bytes - 1, &last) || last >> ADDRESS_BITS)
		return false;
	for (uintptr_t page = address >> PAGE_SHIFT; page <= last >> PAGE_SHIFT; page++) {
		if (page == readable->page && page)
			continue;
		if (!is_page_readable(page))
			return false;
		readable->page = page;
	}
	return true;
}

void readable__forget(void)
{
	/* 16 bits of it are kept, of which 0 is none. */
	if ((atomic_fetch_add_explicit(&age, 1, memory_order_relaxed) & 0xffff) == 0xffff)
		atomic_fetch_add_explicit(&age, 1, memory_order_relaxed);
}
