// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void close_quietly(int fd)
{
	int saved_errno = errno;

	close(fd);
	errno = saved_errno;
}

FILE *stream__open(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *stream;

	if (copy < 0)
		return NULL;
	stream = fdopen(copy, mode);
	if (!stream)
		close_quietly(copy);
	return stream;
}

DIR *stream__open_folder(int dir_fd)
{
	int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream;

	if (copy < 0)
		return NULL;
	stream = fdopendir(copy);
	if (!stream)
		close_quietly(copy);
	return stream;
}
