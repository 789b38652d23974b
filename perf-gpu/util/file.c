// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

bool file__is_same(const char *a, const char *b)
{
	struct stat a_stat, b_stat;

	return !stat(a, &a_stat) && !stat(b, &b_stat) && a_stat.st_dev == b_stat.st_dev &&
	       a_stat.st_ino == b_stat.st_ino;
}

int file__lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}
