// SPDX-License-Identifier: GPL-2.0-or-later
/* Files without a name: that they have none, and what was written to them. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "util/nameless_file.h"

#define PAGE 4096

static size_t count_entries(const char *path)
{
	DIR *folder = opendir(path);
	size_t nr = 0;

	CHECK(folder);
	while (readdir(folder))
		nr++;
	closedir(folder);
	return nr - 2;
}

TEST(it_has_no_name)
{
	char folder[] = "/tmp/test-nameless.XXXXXX";
	struct stat st;
	int fd;

	CHECK(mkdtemp(folder));
	setenv("TMPDIR", folder, 1);
	CHECK_STR(nameless_file__folder(), folder);
	fd = nameless_file__open();
	CHECK(fd >= 0);
	CHECK_EQ(count_entries(folder), 0);
	CHECK(!fstat(fd, &st));
	CHECK_EQ(st.st_nlink, 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	/* and can't be given one */
	CHECK(linkat(fd, "", AT_FDCWD, "/tmp/test-nameless-name", AT_EMPTY_PATH));
	close(fd);
	CHECK(!rmdir(folder));
}

TEST(a_folder_that_is_not_there_is_an_error)
{
	setenv("TMPDIR", "/nonexistent", 1);
	CHECK_EQ(nameless_file__open(), -ENOENT);
	setenv("TMPDIR", "", 1);
	CHECK_STR(nameless_file__folder(), "/var/tmp");
}

static void append(int fd, const void *data, size_t bytes)
{
	CHECK_EQ(nameless_file__append(fd, data, bytes), 0);
}

TEST(what_was_written_is_read)
{
	static unsigned char wanted[7 * PAGE + 10], got[sizeof(wanted) + 1];
	struct stat st;
	int fd;

	setenv("TMPDIR", "/tmp", 1);
	fd = nameless_file__open();
	CHECK(fd >= 0);
	/* text, zeros, a byte in zeros, zeros up to the end, in pieces of any size */
	memset(wanted, 'a', PAGE + 1);
	wanted[4 * PAGE] = 'b';
	append(fd, wanted, 10);
	append(fd, wanted + 10, 3 * PAGE);
	append(fd, wanted + 10 + 3 * PAGE, 0);
	append(fd, wanted + 10 + 3 * PAGE, sizeof(wanted) - 10 - 3 * PAGE);
	CHECK_EQ(nameless_file__finish(fd), 0);
	CHECK(!fstat(fd, &st));
	CHECK_EQ(st.st_size, sizeof(wanted));
	CHECK_EQ(pread(fd, got, sizeof(got), 0), sizeof(wanted));
	CHECK(!memcmp(got, wanted, sizeof(wanted)));
	close(fd);
}

TEST(zeros_are_holes)
{
	static const unsigned char zeros[64 * PAGE];
	struct stat st;
	int fd;

	setenv("TMPDIR", "/tmp", 1);
	fd = nameless_file__open();
	CHECK(fd >= 0);
	append(fd, zeros, sizeof(zeros));
	CHECK_EQ(nameless_file__finish(fd), 0);
	CHECK(!fstat(fd, &st));
	CHECK_EQ(st.st_size, sizeof(zeros));
	CHECK_EQ(st.st_blocks, 0);
	close(fd);
}
