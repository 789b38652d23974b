// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "marker.h"

/* Frames of ours above the caller of unwind__frames(), at most */
#define OWN_FRAMES 8
/* The number that libunwind's descriptors get at least, if the process may have it */
#define LOWEST_FD 100

static int (*walk)(void **buffer, int size); /* libunwind's unw_backtrace() */
static uintptr_t own_start, own_end;

/* dl_iterate_phdr(): the segments of the object that holds this very function */
static int find_own_range(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t self = (uintptr_t)data;
	uintptr_t start = UINTPTR_MAX, end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + phdr->p_vaddr < start)
			start = info->dlpi_addr + phdr->p_vaddr;
		if (info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz > end)
			end = info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz;
	}
	if (self < start || self >= end)
		return 0;
	own_start = start;
	own_end = end;
	return 1;
}

/* dlopen() of NAME in the folder of this library */
static void *open_beside(const char *name)
{
	const char *slash;
	void *handle;
	Dl_info info;
	char *path;

	if (!dladdr((const void *)(uintptr_t)perf_gpu_launch, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	if (!slash)
		return NULL;
	if (asprintf(&path, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname,
		     name) < 0)
		return NULL;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	return handle;
}

/*
 * libunwind opens a pipe at its first use, to test addresses with. Should the program
 * close it, as by closefrom(3), libunwind opens another one, but not before it has
 * read from the old numbers and closed them: a file of the program, if they are low
 * (1.6). So every low number is taken while the pipe is opened.
 */
static void open_pipe(void)
{
	int taken[LOWEST_FD], nr_taken = 0;
	void *frame;
	int fd;

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd < LOWEST_FD) {
		taken[nr_taken++] = fd;
		fd = fcntl(taken[0], F_DUPFD_CLOEXEC, 0);
	}
	if (fd >= 0) {
		close(fd);
		walk(&frame, 1);
	}
	while (nr_taken > 0)
		close(taken[--nr_taken]);
}

int unwind__init(void)
{
	void *handle = open_beside("libunwind.so.8");

	if (!handle)
		handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return -ENOENT;
	walk = (int (*)(void **, int))(uintptr_t)dlsym(handle, "unw_backtrace");
	if (!walk)
		return -ENOENT;
	open_pipe();
	dl_iterate_phdr(find_own_range, (void *)(uintptr_t)perf_gpu_launch);
	return 0;
}

size_t unwind__frames(void *frames[UNWIND_MAX_FRAMES])
{
	void *all[UNWIND_MAX_FRAMES + OWN_FRAMES];
	size_t nr_own = 0, nr;
	int ret;

	if (!walk)
		return 0;
	ret = walk(all, UNWIND_MAX_FRAMES + OWN_FRAMES);
	if (ret <= 0)
		return 0;
	nr = (size_t)ret;
	while (nr_own < nr && (uintptr_t)all[nr_own] >= own_start &&
	       (uintptr_t)all[nr_own] < own_end)
		nr_own++;
	nr -= nr_own;
	if (nr > UNWIND_MAX_FRAMES)
		nr = UNWIND_MAX_FRAMES;
	memcpy(frames, all + nr_own, nr * sizeof(*frames));
	return nr;
}
