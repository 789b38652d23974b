/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that the library keeps open in a program that doesn't know of it. The program
 * may close every descriptor it doesn't know, as daemons do, and open a file of its own
 * by the number of ours: so a descriptor is looked at before each use. Of a file, one
 * thread at a time.
 */
#ifndef PERF_GPU_INJECT_OWN_FILE_H
#define PERF_GPU_INJECT_OWN_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct own_file {
	char path[PATH_MAX + 64];
	int fd;
	int flags; /* to open it again with */
	dev_t dev; /* by these it is known */
	ino_t ino;
};

/**
 * own_file__open - open the file of a path, with a high descriptor
 * @file:  its path is set; a symbolic link isn't followed
 * @flags: of open(2)
 *
 * Return: 0 or a negative errno.
 */
int own_file__open(struct own_file *file, int flags);

/**
 * own_file__adopt - keep a file that is open already, with a high descriptor
 * @fd: is the library's from now on, also if this fails
 *
 * It has no path: own_file__check() can't open it again. Return: 0 or a negative errno.
 */
int own_file__adopt(struct own_file *file, int fd);

/**
 * own_file__check - is the descriptor still the file's? Else it is opened again.
 * @ret: of the file; st_nlink is 0 if it is in no folder any more
 *
 * Return: 0 or a negative errno; -ESTALE if another file has the path by now.
 */
int own_file__check(struct own_file *file, struct stat *ret);

/* Has the process, or the machine, all the descriptors that it may have? */
bool own_file__has_no_more(void);

/* Close the descriptor, if it is the file's. */
void own_file__close(struct own_file *file);

#endif
