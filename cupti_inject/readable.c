// SPDX-License-Identifier: GPL-2.0-or-later
#include "readable.h"

#include "stack_memory.h"

#define AGE_MASK 0xffffu

atomic_uint_fast64_t readable_slots[READABLE_NR_SLOTS];
/* From 1, so that a slot of 0 is of no age */
static atomic_uint_fast64_t age = 1;

struct readable readable__begin(void)
{
	return (struct readable){
		.age = atomic_load_explicit(&age, memory_order_relaxed) & AGE_MASK,
	};
}

void readable__forget(void)
{
	uint64_t before = atomic_fetch_add_explicit(&age, 1, memory_order_relaxed);

	/* The next would be none. */
	if ((before & AGE_MASK) == AGE_MASK)
		atomic_fetch_add_explicit(&age, 1, memory_order_relaxed);
}

static bool is_page_readable(const struct readable *readable, uintptr_t page)
{
	atomic_uint_fast64_t *slot = &readable_slots[page % READABLE_NR_SLOTS];
	uint64_t wanted = (uint64_t)page << 16 | readable->age;

	if (atomic_load_explicit(slot, memory_order_relaxed) == wanted)
		return true;
	if (!stack_memory__is_readable(page << READABLE_PAGE_SHIFT))
		return false;
	atomic_store_explicit(slot, wanted, memory_order_relaxed);
	return true;
}

bool readable__ask(const struct readable *readable, uintptr_t address, size_t nr_bytes)
{
	uintptr_t last;

	if (!nr_bytes)
		return true;
	if (__builtin_add_overflow(address, nr_bytes - 1, &last) ||
	    last >> READABLE_ADDRESS_BITS)
		return false;
	for (uintptr_t page = address >> READABLE_PAGE_SHIFT;
	     page <= last >> READABLE_PAGE_SHIFT; page++) {
		if (!is_page_readable(readable, page))
			return false;
	}
	return true;
}
