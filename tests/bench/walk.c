// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The injected library's unwinder, in a library of its own: it leaves out the frames of
 * the file that it is in, which mustn't be the bench's.
 */
#include "unwind.h"

__attribute__((visibility("default"))) int walk__open(void);
__attribute__((visibility("default"))) size_t walk__run(uint64_t *frames);

int walk__open(void)
{
	return unwind__init();
}

size_t walk__run(uint64_t *frames)
{
	return unwind__frames(frames, NULL, UNWIND_MAX_FRAMES);
}
