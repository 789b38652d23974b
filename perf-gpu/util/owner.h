/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose a file is that perf-gpu makes: through sudo, the user's who is behind it, so that
 * he can read what he had recorded. One thread.
 */
#ifndef PERF_GPU_UTIL_OWNER_H
#define PERF_GPU_UTIL_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * owner__find - the user behind sudo
 * @ret_uid, @ret_gid: of SUDO_UID and SUDO_GID; written on success only
 *
 * Return: false if this process isn't root's, or these don't say who it is: both must be
 * numbers, and the user must be there.
 */
bool owner__find(uid_t *ret_uid, gid_t *ret_gid);

/**
 * owner__give - give him a file
 * @fd: that was made just now, with O_EXCL, and has no other name
 *
 * Where there is no such user, it stays ours; so does it where the file system doesn't
 * want it, which is said with -v.
 */
void owner__give(int fd);

/* The same of a folder that was made just now, and has nothing in it. */
void owner__give_folder(const char *path);

/*
 * Would root, by a link that another has put there, write into a folder of root's? What
 * isn't there, is no link, or is one of root's, isn't such a trap.
 */
bool owner__is_trap(const char *path);

#endif
