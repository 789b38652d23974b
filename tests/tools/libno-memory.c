// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD=libno-memory.so: allocations fail,
 *
 *   NO_MEMORY_AT=N       the Nth and all behind it (from 1), or
 *   NO_MEMORY_ONCE=N     the Nth alone, or
 *   NO_MEMORY_FILE=PATH  those that are made while there is a file
 *
 * With NO_MEMORY_COUNT=PATH, how many there were is written there at exit. What the program
 * executes has none of these variables.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own, which others stand in for */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_ulong nr_allocations;
static unsigned long fails_at, fails_once;
static char file[4096], count_file[4096];
static pid_t counted; /* not in children, which have these from their parent */

static unsigned long take_number(const char *name)
{
	const char *text = getenv(name);
	unsigned long number = text ? strtoul(text, NULL, 10) : 0;

	unsetenv(name);
	return number;
}

static void take_path(const char *name, char *ret)
{
	const char *text = getenv(name);

	if (text)
		strncpy(ret, text, 4095);
	unsetenv(name);
}

__attribute__((constructor)) static void take_variables(void)
{
	fails_at = take_number("NO_MEMORY_AT");
	fails_once = take_number("NO_MEMORY_ONCE");
	take_path("NO_MEMORY_FILE", file);
	take_path("NO_MEMORY_COUNT", count_file);
	unsetenv("LD_PRELOAD");
	counted = getpid();
	atomic_store(&nr_allocations, 0);
}

__attribute__((destructor)) static void write_count(void)
{
	int fd;

	if (!*count_file || getpid() != counted)
		return;
	fd = open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	dprintf(fd, "%lu\n", atomic_load(&nr_allocations));
	close(fd);
}

static bool fails(void)
{
	unsigned long nr = atomic_fetch_add(&nr_allocations, 1) + 1;
	int saved_errno = errno;
	bool is_full = (fails_at && nr >= fails_at) || (fails_once && nr == fails_once) ||
		       (*file && !access(file, F_OK));

	errno = is_full ? ENOMEM : saved_errno;
	return is_full;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes) || fails())
		return NULL;
	return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *memory = fails() ? NULL : __libc_memalign(alignment, size);

	if (!memory)
		return ENOMEM;
	*ret = memory;
	return 0;
}
