// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD=libslow-writes.so SLOW_WRITES_MS=N: every write to a file takes N ms longer, as
 * on a slow disk or by NFS. What the program executes has neither variable.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct timespec delay;

__attribute__((constructor)) static void take_variables(void)
{
	const char *ms = getenv("SLOW_WRITES_MS");
	long nr = ms ? strtol(ms, NULL, 10) : 0;

	delay = (struct timespec){.tv_sec = nr / 1000, .tv_nsec = nr % 1000 * 1000000};
	unsetenv("LD_PRELOAD");
	unsetenv("SLOW_WRITES_MS");
}

static void be_slow(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		nanosleep(&delay, NULL);
}

#define SLOW(type, name, parameters, ...)                                              \
	type name parameters;                                                          \
	type name parameters                                                           \
	{                                                                              \
		static type(*next) parameters;                                         \
                                                                                       \
		if (!next)                                                             \
			next = (type(*) parameters)(uintptr_t)dlsym(RTLD_NEXT, #name); \
		be_slow(fd);                                                           \
		return next(__VA_ARGS__);                                              \
	}

SLOW(ssize_t, write, (int fd, const void *data, size_t nr), fd, data, nr)
SLOW(ssize_t, writev, (int fd, const struct iovec *parts, int nr), fd, parts, nr)
SLOW(ssize_t, pwrite, (int fd, const void *data, size_t nr, off_t at), fd, data, nr, at)
SLOW(ssize_t, pwrite64, (int fd, const void *data, size_t nr, off64_t at), fd, data, nr,
     at)
SLOW(int, fsync, (int fd), fd)
SLOW(int, fdatasync, (int fd), fd)
