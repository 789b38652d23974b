/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calling thread's stack, walked in the process: by the rules that libunwind reads
 * from unwind tables (frame_rule.h), each learned once and kept (rule_cache.h).
 *
 * Where there is no table, or it leads to nothing that can be the caller, the walk goes
 * on by the frame pointer. It never faults, whatever the tables and the stack say, and
 * holds no lock but the dynamic linker's, for a moment, as long as rules are learned.
 */
#ifndef PERF_GPU_INJECT_UNWIND_H
#define PERF_GPU_INJECT_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#define UNWIND_MAX_FRAMES 127 /* perf's PERF_MAX_STACK_DEPTH */

/**
 * unwind__init - open libunwind, and learn which addresses are this library's
 *
 * Return: 0, or -ENOENT without libunwind.
 */
int unwind__init(void);

/**
 * unwind__frames - return addresses of the calling thread, leaf first
 * @frames:     room for UNWIND_MAX_FRAMES
 * @stack_pointers: where the stack of each of them ends while it calls, and behind
 *              the last one that of its caller (0: not known); room for
 *              UNWIND_MAX_FRAMES + 1, or NULL
 * @max_frames: how many are wanted, 1 to UNWIND_MAX_FRAMES
 *
 * Frames of this library are left out. If the stack goes on but there are more than
 * @max_frames, or it can't be walked to its end, GPU_LOG_FRAME_TRUNCATED stands behind
 * the last frame, or in the place of the last if there are UNWIND_MAX_FRAMES.
 *
 * From any thread, also several at once; takes less than 6 KiB of the stack. Changes
 * errno. Not in a forked child: the dynamic linker's lock may be held there by a
 * thread that doesn't exist any more.
 *
 * Return: how many; 0 if nothing could be walked.
 */
size_t unwind__frames(uint64_t frames[UNWIND_MAX_FRAMES],
		      uint64_t stack_pointers[UNWIND_MAX_FRAMES + 1], size_t max_frames);

#endif
