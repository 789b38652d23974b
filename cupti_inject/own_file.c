// SPDX-License-Identifier: GPL-2.0-or-later
#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Ours stays out of the low numbers: 0 to 2 the program may have closed and print
 * to all the same, and the next ones it may expect for files of its own.
 */
#define LOWEST_FD 100

static int move_high(int low)
{
	int fd, err;

	fd = fcntl(low, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (fd < 0) /* the process may have fewer */
		fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 && low > STDERR_FILENO)
		return low;
	err = fd < 0 ? -errno : 0;
	close(low);
	return err ? err : fd;
}

static int open_high(const char *path, int flags)
{
	int low = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);

	return low < 0 ? -errno : move_high(low);
}

static int take(struct own_file *file, int fd, int flags)
{
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		err = -errno;
		close(fd);
		return err;
	}
	file->fd = fd;
	file->flags = flags & ~(O_CREAT | O_EXCL);
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	return 0;
}

int own_file__open(struct own_file *file, int flags)
{
	return take(file, open_high(file->path, flags), flags);
}

int own_file__adopt(struct own_file *file, int fd)
{
	file->path[0] = '\0';
	return take(file, move_high(fd), O_WRONLY);
}

static bool is_file(const struct own_file *file, int fd, struct stat *st)
{
	return !fstat(fd, st) && st->st_dev == file->dev && st->st_ino == file->ino;
}

int own_file__check(struct own_file *file, struct stat *ret)
{
	int fd;

	if (is_file(file, file->fd, ret))
		return 0;
	fd = open_high(file->path, file->flags);
	if (fd < 0)
		return fd;
	if (!is_file(file, fd, ret)) {
		close(fd);
		return -ESTALE;
	}
	file->fd = fd;
	return 0;
}

bool own_file__has_no_more(void)
{
	int saved_errno = errno;
	int fd = open("/", O_PATH | O_CLOEXEC);
	bool has_no_more = fd < 0 && (errno == EMFILE || errno == ENFILE);

	if (fd >= 0)
		close(fd);
	errno = saved_errno;
	return has_no_more;
}

void own_file__close(struct own_file *file)
{
	struct stat st;

	if (is_file(file, file->fd, &st))
		close(file->fd);
}
