/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the stack, or what is taken for it, without ever faulting.
 *
 * A thread's own stack is there as long as the thread is: what lies between the stack
 * pointer and its end is just read. Of any other memory, such as the stacks of
 * coroutines and signal handlers, each page is asked for by a system call, anew for
 * each walk, as they come and go.
 */
#ifndef PERF_GPU_INJECT_STACK_MEMORY_H
#define PERF_GPU_INJECT_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* For what reads stacks: all of a stack, which isn't only variables */
#define READS_STACK __attribute__((no_sanitize("address")))

/* Addresses that are known to be readable during one walk */
struct stack_memory {
	uint64_t start, end;
};

/* From SP on, which must be the calling thread's stack pointer or below it. */
void stack_memory__init(struct stack_memory *memory, uint64_t sp);

/* The slow part of stack_memory__read() */
bool stack_memory__read_unknown(struct stack_memory *memory, uint64_t address,
				uint64_t *ret);

/* Reads a word. False, and nothing is read, if it isn't there or isn't aligned. */
READS_STACK static inline bool stack_memory__read(struct stack_memory *memory,
						  uint64_t address, uint64_t *ret)
{
	if (address & 7)
		return false;
	if (address < memory->start || address >= memory->end)
		return stack_memory__read_unknown(memory, address, ret);
	*ret = *(const uint64_t *)(uintptr_t)address;
	return true;
}

/* Can the word at an aligned address be read? A system call; changes errno. */
bool stack_memory__is_readable(uint64_t address);

#endif
