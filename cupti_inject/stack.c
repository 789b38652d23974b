// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack.h"

#include <assert.h>

#include "python.h"
#include "unwind.h"

_Static_assert(STACK_MAX_FRAMES == UNWIND_MAX_FRAMES, "one buffer for both");

size_t stack__walk(uint64_t frames[STACK_MAX_FRAMES])
{
	uint64_t stack_pointers[STACK_MAX_FRAMES + 1];
	size_t nr;

	if (!python__is_there())
		return unwind__frames(frames, NULL, STACK_MAX_FRAMES);
	nr = unwind__frames(frames, stack_pointers, STACK_MAX_FRAMES);
	return python__merge(frames, stack_pointers, nr, STACK_MAX_FRAMES);
}
