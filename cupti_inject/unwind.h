/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calling thread's stack, walked in the process by libunwind.
 *
 * libunwind exports _Unwind_* and backtrace, so it must never get into the
 * target's global scope: we open our own copy, beside this library, with
 * RTLD_LOCAL.
 */
#ifndef PERF_GPU_INJECT_UNWIND_H
#define PERF_GPU_INJECT_UNWIND_H

#include <stddef.h>

#define UNWIND_MAX_FRAMES 127 /* perf's PERF_MAX_STACK_DEPTH */

/**
 * unwind__init - open libunwind, and learn which addresses are this library's
 *
 * Return: 0, or -ENOENT without libunwind.
 */
int unwind__init(void);

/**
 * unwind__frames - return addresses of the calling thread, leaf first
 * @frames: room for UNWIND_MAX_FRAMES
 *
 * Frames of this library are left out. From any thread, also several at once;
 * not from a signal handler, not in a forked child (libunwind's locks may be
 * held there by a thread that doesn't exist any more).
 *
 * Return: how many; 0 if nothing could be walked.
 */
size_t unwind__frames(void *frames[UNWIND_MAX_FRAMES]);

#endif
