// SPDX-License-Identifier: GPL-2.0-or-later
/* What is put is written, in its order, or said not to be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"
#include "util/write_behind.h"

TEST(all_is_written_in_order)
{
	enum { NR = 1000, BYTES = 512 };
	int fd = memfd_create("behind", MFD_CLOEXEC);
	struct write_behind *behind;
	unsigned char read_back[BYTES];
	size_t bytes = 0;

	CHECK(fd >= 0);
	CHECK_EQ(write_behind__new(fd, BYTES, &behind), 0);
	for (unsigned int i = 0; i < NR; i++) {
		size_t part = 1 + i % BYTES;

		memset(write_behind__buffer(behind), (int)i, part);
		CHECK_EQ(write_behind__put(behind, part), 0);
		/* It is the other one: what was put isn't touched. */
		memset(write_behind__buffer(behind), 0xaa, BYTES);
		bytes += part;
	}
	CHECK_EQ(write_behind__put(behind, 0), 0);
	CHECK_EQ(write_behind__drain(behind), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), (off_t)bytes);
	lseek(fd, 0, SEEK_SET);
	for (unsigned int i = 0; i < NR; i++) {
		size_t part = 1 + i % BYTES;

		CHECK_EQ(read(fd, read_back, part), (ssize_t)part);
		CHECK_EQ(read_back[0], i & 0xff);
		CHECK_EQ(read_back[part - 1], i & 0xff);
	}
	write_behind__delete(behind);
	write_behind__delete(NULL);
	close(fd);
}

TEST(a_full_disk_is_told)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct write_behind *behind;

	CHECK(fd >= 0);
	CHECK_EQ(write_behind__new(fd, 64, &behind), 0);
	CHECK_EQ(write_behind__put(behind, 64), 0);
	CHECK_EQ(write_behind__drain(behind), -ENOSPC);
	CHECK_EQ(write_behind__put(behind, 64), -ENOSPC);
	CHECK_EQ(write_behind__drain(behind), -ENOSPC);
	write_behind__delete(behind);
	close(fd);
}
