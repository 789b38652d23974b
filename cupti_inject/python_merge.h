/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which native frame executes which of Python's: where Python's frames are put among
 * the native ones. Pure; any thread.
 */
#ifndef PERF_GPU_INJECT_PYTHON_MERGE_H
#define PERF_GPU_INJECT_PYTHON_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_frames.h"

/* The Python frames that one interpreter executes on a thread */
struct python_source {
	bool has_addresses; /* frames.addresses are known; else loops are counted */
	uintptr_t loop_start, loop_end; /* of its loop's code */
	size_t group; /* the next one; 0 at first */
	size_t place; /* before which native frame; of the merge alone */
	struct python_frames python;
};

/**
 * python_merge__run - put Python's frames between native ones
 * @frames: room for PYTHON_MAX_FRAMES; in: the native ones, leaf first, of which the
 *          last may be GPU_LOG_FRAME_TRUNCATED; out: all
 * @stack_pointers: of the native ones, and one more: unwind__frames()
 * @nr:     at most PYTHON_MAX_FRAMES
 * @max:    how many are wanted: see python__merge()
 * @sources: groups of theirs are counted up
 * @ret_is_sure: false if the place of a group wasn't found, although the native frames
 *          are all there
 *
 * Return: how many frames there are.
 */
size_t python_merge__run(uint64_t *frames, const uint64_t *stack_pointers, size_t nr,
			 size_t max, struct python_source *sources, size_t nr_sources,
			 bool *ret_is_sure);

#endif
