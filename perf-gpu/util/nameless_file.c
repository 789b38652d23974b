// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/nameless_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLE_BYTES 4096

const char *nameless_file__folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

/* Where the file system has no O_TMPFILE (NFS): the name is there for a moment */
static int open_and_unlink(const char *folder)
{
	char path[PATH_MAX];
	int nr_bytes, fd, err;

	nr_bytes = snprintf(path, sizeof(path), "%s/perf-gpu.XXXXXX", folder);
	if (nr_bytes < 0 || (size_t)nr_bytes >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (unlink(path)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int nameless_file__open(void)
{
	const char *folder = nameless_file__folder();
	int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* EISDIR: of a kernel that doesn't know the flag */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	return open_and_unlink(folder);
}

static bool is_zero(const unsigned char *data, size_t bytes)
{
	return !bytes || (!data[0] && !memcmp(data, data + 1, bytes - 1));
}

static int write_all(int fd, const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* How many of the first bytes are all zeros, or all not, by pieces that may be holes */
static size_t count_alike(const unsigned char *data, size_t bytes, bool *ret_are_zero)
{
	size_t nr = 0;

	*ret_are_zero = bytes >= HOLE_BYTES && is_zero(data, HOLE_BYTES);
	while (nr < bytes) {
		size_t piece = bytes - nr < HOLE_BYTES ? bytes - nr : HOLE_BYTES;
		bool is_hole = piece == HOLE_BYTES && is_zero(data + nr, piece);

		if (is_hole != *ret_are_zero)
			break;
		nr += piece;
	}
	return nr;
}

int nameless_file__append(int fd, const void *data, size_t bytes)
{
	const unsigned char *at = data;
	bool are_zero;
	int err = 0;

	while (bytes && !err) {
		size_t nr = count_alike(at, bytes, &are_zero);

		if (!are_zero)
			err = write_all(fd, at, nr);
		else if (lseek(fd, (off_t)nr, SEEK_CUR) < 0)
			err = -errno;
		at += nr;
		bytes -= nr;
	}
	return err;
}

int nameless_file__finish(int fd)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	return end < 0 || ftruncate(fd, end) ? -errno : 0;
}
