/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_SINK_USER_STACK_H
#define PERF_GPU_SINK_USER_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * user_stack__trim - a sample's registers and copied stack, made shorter
 * @state:     REGS_USER and STACK_USER as in a sample that perfdata_sample__parse()
 *             read
 * @bytes:     of it
 * @regs_mask: sample_regs_user of its attr
 * @surplus_bytes: how much shorter; a multiple of 8. Taken from the stack's far
 *             end: its outermost frames.
 * @ret:       has room for @bytes - @surplus_bytes
 *
 * Return: how many bytes are in @ret, or -ENOSPC if the stack isn't as long.
 */
ssize_t user_stack__trim(const void *state, size_t bytes, uint64_t regs_mask,
			 size_t surplus_bytes, void *ret);

#endif
