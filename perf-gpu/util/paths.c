// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/paths.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

/* Folder of the running program, absolute, without links */
static int find_own_folder(char ret_path[PATH_MAX])
{
	char path[PATH_MAX];
	ssize_t length;
	char *slash;

	length = readlink("/proc/self/exe", path, sizeof(path));
	if (length < 0)
		return -errno;
	if ((size_t)length == sizeof(path))
		return -ENAMETOOLONG;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT; /* the program's file is not in our mount tree */
	*slash = '\0';
	snprintf(ret_path, PATH_MAX, "%s", path);
	return 0;
}

/* "PARENT/CHILD", if a file of that name can be read */
static int find_file(const char *parent, const char *child, char ret_path[PATH_MAX])
{
	char path[PATH_MAX];
	int length;

	length = snprintf(path, sizeof(path), "%s/%s", parent, child);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	if (access(path, R_OK))
		return -errno;
	snprintf(ret_path, PATH_MAX, "%s", path);
	return 0;
}

int paths__find_libdir(char ret_path[PATH_MAX])
{
	static const char *const places[] = {
		"lib/perf-gpu/libperf-gpu-inject.so",
		"../lib/perf-gpu/libperf-gpu-inject.so",
	};
	char own[PATH_MAX], path[PATH_MAX];
	int err;

	err = find_own_folder(own);
	if (err) {
		pr_err("/proc/self/exe could not be read: %s; is /proc mounted?",
		       strerror(-err));
		return err;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		err = find_file(own, places[i], path);
		if (!err) {
			*strrchr(path, '/') = '\0';
			snprintf(ret_path, PATH_MAX, "%s", path);
			return 0;
		}
		if (err != -ENOENT) {
			pr_err("%s/%s could not be read: %s", own, places[i],
			       strerror(-err));
			return err;
		}
	}
	pr_err("libperf-gpu-inject.so is neither in %s/lib/perf-gpu nor in "
	       "%s/../lib/perf-gpu: run 'make', or move bin and lib together",
	       own, own);
	return -ENOENT;
}

int paths__find_man_page(const char *name, char ret_path[PATH_MAX])
{
	static const char *const places[] = {"../man/%s.1", "../share/man/man1/%s.1",
					     "../share/man/man1/%s.1.gz"};
	char own[PATH_MAX], child[128];
	int length;

	if (find_own_folder(own))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		length = snprintf(child, sizeof(child), places[i], name);
		if (length < 0 || (size_t)length >= sizeof(child))
			return -ENOENT;
		if (!find_file(own, child, ret_path))
			return 0;
	}
	return -ENOENT;
}
