/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calling thread's stack, as it is recorded. */
#ifndef PERF_GPU_INJECT_STACK_H
#define PERF_GPU_INJECT_STACK_H

#include <stddef.h>
#include <stdint.h>

#define STACK_MAX_FRAMES 127 /* perf's PERF_MAX_STACK_DEPTH */

/* Walk so many frames from the leaf on, 1 to STACK_MAX_FRAMES; at first the latter. */
void stack__set_max_frames(size_t max_frames);

/**
 * stack__walk - the frames of the calling thread, leaf first
 * @frames: return addresses, and frames that are no code (GPU_LOG_FRAME_KIND())
 *
 * If there were more, or the stack's end isn't found, a GPU_LOG_FRAME_TRUNCATED follows
 * them, or is the last of STACK_MAX_FRAMES.
 *
 * From any thread, also several at once; not in a forked child.
 *
 * Return: how many; 0 if nothing could be walked.
 */
size_t stack__walk(uint64_t frames[STACK_MAX_FRAMES]);

#endif
