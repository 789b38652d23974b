/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's frames of a thread, walked from the structures in memory. Any thread may
 * walk its own. No pointer is followed before it is known to be readable.
 */
#ifndef PERF_GPU_INJECT_PYTHON_FRAMES_H
#define PERF_GPU_INJECT_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_code.h"
#include "python_layout.h"

#define PYTHON_MAX_FRAMES 127 /* of a stack: as many as it may have in all */

struct python_frames {
	uint64_t frames[PYTHON_MAX_FRAMES]; /* GPU_LOG_FRAME_PYTHON, leaf first */
	size_t nr;
	/* Those that one run of the interpreter's loop executes are a group: */
	uint8_t group_ends[PYTHON_MAX_FRAMES]; /* where the next one begins in frames */
	uint64_t addresses
		[PYTHON_MAX_FRAMES]; /* in the loop's C stack frame; 0: unknown */
	size_t nr_groups;
	bool is_cut; /* there are more frames */
};

/**
 * python_frames__walk - the frames of a thread
 * @thread: address of its PyThreadState
 * @ret:    filled in as far as it has nr
 */
void python_frames__walk(const struct python_layout *layout,
			 const struct python_types *types, uintptr_t thread,
			 struct python_frames *ret);

#endif
