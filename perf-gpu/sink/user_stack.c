// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a sample has of a stack that is walked later:
 *
 *   REGS_USER    u64 abi, u64 regs[]       no regs if abi is 0
 *   STACK_USER   u64 bytes, u8 stack[bytes], u64 how many of them are valid
 *                                          nothing behind bytes if it is 0
 *
 * Stateless; any thread.
 */
#include "sink/user_stack.h"

#include <errno.h>
#include <string.h>

ssize_t user_stack__trim(const void *state, size_t bytes, uint64_t regs_mask,
			 size_t surplus_bytes, void *ret)
{
	size_t nr_regs = (size_t)__builtin_popcountll(regs_mask);
	uint64_t abi, stack_bytes, nr_valid;
	const unsigned char *from = state;
	unsigned char *to = ret;
	size_t head_bytes; /* what precedes the stack */

	memcpy(&abi, from, sizeof(abi));
	head_bytes = sizeof(abi) + (abi ? nr_regs : 0) * sizeof(uint64_t) +
		     sizeof(stack_bytes);
	if (bytes < head_bytes + surplus_bytes + sizeof(nr_valid))
		return -ENOSPC;
	memcpy(&nr_valid, from + bytes - sizeof(nr_valid), sizeof(nr_valid));
	stack_bytes = bytes - head_bytes - sizeof(nr_valid) - surplus_bytes;
	if (nr_valid > stack_bytes)
		nr_valid = stack_bytes;

	memcpy(to, from, head_bytes + stack_bytes);
	memcpy(to + head_bytes - sizeof(stack_bytes), &stack_bytes, sizeof(stack_bytes));
	memcpy(to + head_bytes + stack_bytes, &nr_valid, sizeof(nr_valid));
	return (ssize_t)(bytes - surplus_bytes);
}
