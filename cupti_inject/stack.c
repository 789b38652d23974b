// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack.h"

#include <assert.h>

#include "unwind.h"

_Static_assert(STACK_MAX_FRAMES == UNWIND_MAX_FRAMES, "one buffer for both");

size_t stack__walk(uint64_t frames[STACK_MAX_FRAMES])
{
	return unwind__frames(frames, NULL, STACK_MAX_FRAMES);
}
