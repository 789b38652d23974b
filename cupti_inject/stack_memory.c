// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack_memory.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096ull /* or a part of one, where pages are larger */

/* Of the calling thread; 0, 0 if that can't be known */
static _Thread_local struct {
	uint64_t start, end;
	bool is_known;
} own_stack;

/*
 * The kernel reads the new mask before it looks at how to use it, so that it answers
 * EFAULT, or EINVAL, and does nothing. No sandbox can forbid this call.
 */
bool stack_memory__is_readable(uint64_t address)
{
	const long no_such_use = -1;

	return syscall(SYS_rt_sigprocmask, no_such_use, address, NULL,
		       sizeof(uint64_t)) == -1 &&
	       errno == EINVAL;
}

static void find_own_stack(void)
{
	pthread_attr_t attr;
	size_t bytes;
	void *start;

	/* For the main thread this reads /proc/self/maps, which may not be there. */
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &start, &bytes)) {
			own_stack.start = (uintptr_t)start;
			own_stack.end = (uintptr_t)start + bytes;
		}
		pthread_attr_destroy(&attr);
	}
	own_stack.is_known = true;
}

void stack_memory__init(struct stack_memory *memory, uint64_t sp)
{
	if (!own_stack.is_known)
		find_own_stack();
	memory->start = sp;
	memory->end = sp >= own_stack.start && sp < own_stack.end ? own_stack.end : sp;
}

READS_STACK bool stack_memory__read_unknown(struct stack_memory *memory, uint64_t address,
					    uint64_t *ret)
{
	uint64_t page = address & ~(PAGE_BYTES - 1);

	if (page > UINT64_MAX - PAGE_BYTES || !stack_memory__is_readable(address))
		return false;
	if (page != memory->end)
		memory->start = page;
	memory->end = page + PAGE_BYTES;
	*ret = *(const uint64_t *)(uintptr_t)address;
	return true;
}
