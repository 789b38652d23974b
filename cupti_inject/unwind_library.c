// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"
#include "marker.h"

/* The number that libunwind's descriptors get at least, if the process may have it */
#define LOWEST_FD 100

#define TEXT_(text)	text
#define TEXT(text)	TEXT_(#text)
#define EXPAND(text)	TEXT(text)
#define LIBUNWIND_HOST	"libunwind-" EXPAND(UNW_TARGET) ".so.8"
#define UNWIND_NAME(fn) "_U" EXPAND(UNW_TARGET) "_" fn

static bool open_found(void *ret_handle, const char *path)
{
	void **handle = ret_handle;

	*handle = library__open(path);
	return *handle;
}

/* dlopen() of NAME in the folder of this library, or else anywhere */
static void *open_library(const char *name)
{
	const char *slash = NULL;
	void *handle = NULL;
	Dl_info info;
	char *path;

	if (dladdr((const void *)(uintptr_t)perf_gpu_launch, &info) && info.dli_fname)
		slash = strrchr(info.dli_fname, '/');
	if (slash && asprintf(&path, "%.*s/%s", (int)(slash - info.dli_fname),
			      info.dli_fname, name) >= 0) {
		handle = library__open(path);
		free(path);
	}
	if (!handle)
		library__search(name, open_found, &handle);
	return handle;
}

static int resolve(void *handle, struct unwind_library *ret)
{
	const struct {
		const char *name;
		void *ret;
	} functions[] = {
		{UNWIND_NAME("create_addr_space"), &ret->create_addr_space},
		{UNWIND_NAME("init_remote"), &ret->init_remote},
		{UNWIND_NAME("step"), &ret->step},
		{UNWIND_NAME("get_reg"), &ret->get_reg},
		{UNWIND_NAME("dwarf_search_unwind_table"), &ret->search_table},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return -ENOENT;
		memcpy(functions[i].ret, &function, sizeof(function));
	}
	return 0;
}

int unwind_library__open(struct unwind_library *ret)
{
	void *handle;

	/* The one for any stack needs the one for the own stack. */
	if (!open_library("libunwind.so.8"))
		return -ENOENT;
	handle = open_library(LIBUNWIND_HOST);
	return handle ? resolve(handle, ret) : -ENOENT;
}

/*
 * libunwind opens a pipe when it is first used, to test addresses with, and we don't
 * let it test any. It would stay at the lowest numbers, which a program may count on,
 * so these are all taken meanwhile.
 */
void unwind_library__start(const struct unwind_library *library, unw_addr_space_t space,
			   void *data)
{
	int taken[LOWEST_FD], nr_taken = 0;
	unw_cursor_t cursor;
	int fd;

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd < LOWEST_FD) {
		taken[nr_taken++] = fd;
		fd = fcntl(taken[0], F_DUPFD_CLOEXEC, 0);
	}
	if (fd >= 0)
		close(fd);
	library->init_remote(&cursor, space, data);
	while (nr_taken > 0)
		close(taken[--nr_taken]);
}
