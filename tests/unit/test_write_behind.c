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

/* What a writer of the caller's was given: the first byte of each buffer */
struct given {
	unsigned char bytes[8];
	size_t nr;
	int err; /* of the last of these */
};

static int take(void *data, const unsigned char *bytes, size_t nr)
{
	struct given *given = data;

	CHECK_EQ(nr, 2);
	given->bytes[given->nr++] = bytes[0];
	return given->nr == 3 ? given->err : 0;
}

static void put_byte(struct write_behind *behind, unsigned char byte)
{
	write_behind__buffer(behind)[0] = byte;
	write_behind__put(behind, 2);
}

TEST(another_writer_gets_buffers_in_order_until_it_fails)
{
	const int errs[] = {0, -EIO};

	for (size_t i = 0; i < 2; i++) {
		struct given given = {.err = errs[i]};
		struct write_behind *behind;

		CHECK_EQ(write_behind__new_by(take, &given, 2, &behind), 0);
		for (unsigned char byte = 'a'; byte < 'f'; byte++)
			put_byte(behind, byte);
		CHECK_EQ(write_behind__drain(behind), errs[i]);
		CHECK_EQ(given.nr, errs[i] ? 3 : 5);
		CHECK(!memcmp(given.bytes, "abcde", given.nr));
		write_behind__delete(behind);
	}
}
