// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack.h"

#include <assert.h>
#include <stdatomic.h>

#include "python.h"
#include "unwind.h"

_Static_assert(STACK_MAX_FRAMES == UNWIND_MAX_FRAMES, "one buffer for both");

static atomic_size_t max_frames = STACK_MAX_FRAMES;

void stack__set_max_frames(size_t nr)
{
	atomic_store_explicit(&max_frames, nr, memory_order_relaxed);
}

size_t stack__walk(uint64_t frames[STACK_MAX_FRAMES])
{
	uint64_t stack_pointers[STACK_MAX_FRAMES + 1];
	size_t nr, max = atomic_load_explicit(&max_frames, memory_order_relaxed);

	if (!python__is_there())
		return unwind__frames(frames, NULL, max);
	/* Where Python's frames go is known by the native ones around them. */
	nr = unwind__frames(frames, stack_pointers, STACK_MAX_FRAMES);
	return python__merge(frames, stack_pointers, nr, max);
}
