/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of a sample and its copy of the stack (--call-graph dwarf), as an
 * unwinder asks for them. Stateless; any thread.
 */
#ifndef PERF_GPU_UNWIND_USER_STATE_H
#define PERF_GPU_UNWIND_USER_STATE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arch.h"

/* The registers and the stack of one sample; points into the sample. */
struct user_state {
	uint64_t pc, sp;
	uint64_t regs[ARCH_MAX_REGS]; /* by DWARF's number; not sampled: 0 */
	const unsigned char *stack; /* what is in memory from sp on */
	size_t stack_bytes;
};

/**
 * user_state__parse - read what a sample has
 * @arch:   of the recording
 * @attr:   of the sample's event
 * @data, @bytes: perfdata_sample.user_state
 * @ret:    written on success only
 *
 * Return: 0; -ENODATA if there are no registers, as in a kernel thread; -ENOTSUP for
 * a 32-bit process, or an event that doesn't sample pc and sp; -EINVAL if the data
 * end too early.
 */
int user_state__parse(const struct arch *arch, const struct perf_event_attr *attr,
		      const void *data, size_t bytes, struct user_state *ret);

/* The word at an address; false, and @ret untouched, if it wasn't copied. */
bool user_state__read(const struct user_state *state, uint64_t address, uint64_t *ret);

#endif
