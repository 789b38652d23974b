// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading memory that may not be there: stack_memory.c */
#include "unit.h"

#include <pthread.h>
#include <sys/mman.h>

#include "stack_memory.h"

#define PAGE 4096ull

/* Two pages, of which the second can't be read */
static uint64_t map_pages(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK_EQ(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	return (uintptr_t)pages;
}

TEST(what_can_be_read_is_known)
{
	uint64_t pages = map_pages();

	CHECK(stack_memory__is_readable(pages));
	CHECK(stack_memory__is_readable(pages + PAGE - 8));
	CHECK(!stack_memory__is_readable(pages + PAGE));
	CHECK(!stack_memory__is_readable(0));
	CHECK(!stack_memory__is_readable(8));
	CHECK(!stack_memory__is_readable(0x5a5a5a5a5a5a5a58));
	CHECK(!stack_memory__is_readable(UINT64_MAX - 7));
	munmap((void *)(uintptr_t)pages, 2 * PAGE);
	CHECK(!stack_memory__is_readable(pages));
}

TEST(words_are_read_where_they_are_and_nowhere_else)
{
	uint64_t pages = map_pages(), value = 1;
	struct stack_memory memory;

	*(uint64_t *)(uintptr_t)(pages + PAGE - 8) = 0x1234;
	stack_memory__init(&memory, (uintptr_t)&memory & ~7ull);
	CHECK(stack_memory__read(&memory, pages + PAGE - 8, &value));
	CHECK_EQ(value, 0x1234);
	value = 1;
	CHECK(!stack_memory__read(&memory, pages + PAGE, &value));
	CHECK(!stack_memory__read(&memory, pages + PAGE - 4, &value));
	CHECK(!stack_memory__read(&memory, pages + 1, &value));
	CHECK(!stack_memory__read(&memory, UINT64_MAX - 7, &value));
	CHECK(!stack_memory__read(&memory, 0, &value));
	CHECK_EQ(value, 1);
}

static void *look_at_own_stack(void *unused)
{
	struct stack_memory memory;
	volatile uint64_t word = 42;
	uint64_t value;

	(void)unused;
	stack_memory__init(&memory, (uintptr_t)__builtin_frame_address(0));
	CHECK(memory.end > (uintptr_t)&memory);
	for (uint64_t at = memory.start; at < memory.end; at += 8)
		CHECK(stack_memory__read(&memory, at, &value));
	CHECK(stack_memory__read(&memory, (uintptr_t)&word, &value));
	CHECK_EQ(value, 42);
	return NULL;
}

TEST(a_threads_own_stack_is_known_to_its_end)
{
	pthread_t thread;

	look_at_own_stack(NULL);
	CHECK_EQ(pthread_create(&thread, NULL, look_at_own_stack, NULL), 0);
	pthread_join(thread, NULL);
}

TEST(of_another_stack_nothing_is_known)
{
	uint64_t pages = map_pages();
	struct stack_memory memory;

	stack_memory__init(&memory, pages);
	CHECK_EQ(memory.start, memory.end);
}
