// SPDX-License-Identifier: GPL-2.0-or-later
/* A gzip file that is made in pieces is read by zlib as one. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <zlib.h>

#include "sink/gzip_file.h"

static char path[] = "/tmp/test-gzip.XXXXXX";

static unsigned char *make_bytes(size_t nr, bool is_random)
{
	unsigned char *bytes = malloc(nr + 1);
	uint64_t state = 1;

	CHECK(bytes);
	for (size_t i = 0; i < nr; i++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		bytes[i] = is_random ? (unsigned char)(state >> 56)
				     : (unsigned char)(i / 100);
	}
	return bytes;
}

/* In pieces of @step */
static void write_file(const unsigned char *bytes, size_t nr, size_t step)
{
	struct gzip_file *gzip;
	struct out_file *out;

	CHECK_EQ(out_file__open(path, &out), 0);
	CHECK_EQ(gzip_file__new(out, &gzip), 0);
	for (size_t i = 0; i < nr; i += step)
		gzip_file__write(gzip, bytes + i, nr - i < step ? nr - i : step);
	CHECK_EQ(gzip_file__finish(gzip), 0);
	gzip_file__delete(gzip);
	CHECK_EQ(out_file__finish(out), 0);
	out_file__close(out);
}

static void check_round_trip(size_t nr, bool is_random, size_t step)
{
	unsigned char *bytes = make_bytes(nr, is_random), *got = malloc(nr + 2);
	gzFile file;
	FILE *raw;

	write_file(bytes, nr, step);
	file = gzopen(path, "rb");
	CHECK(file);
	CHECK_EQ(gzread(file, got, (unsigned int)nr + 1),
		 nr); /* checks crc32 and length */
	CHECK(!memcmp(got, bytes, nr));
	CHECK_EQ(gzclose(file), Z_OK);
	/* zlib passes over a second member; there is to be none. */
	raw = fopen(path, "r");
	CHECK(raw && fread(got, 1, 2, raw) == 2 && got[0] == 0x1f && got[1] == 0x8b);
	fclose(raw);
	free(bytes);
	free(got);
}

static void begin(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
}

TEST(sizes_around_a_piece)
{
	static const size_t sizes[] = {0,      1,      100,    262143, 262144,
				       262145, 524288, 524289, 5000000};

	begin();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_round_trip(sizes[i], false, 1000);
		check_round_trip(sizes[i], true, sizes[i] ? sizes[i] : 1);
	}
	unlink(path);
}

TEST(it_is_one_member)
{
	unsigned char *bytes = make_bytes(3000000, false), *packed, *got;
	z_stream stream = {.next_in = NULL};
	struct stat st;
	FILE *file;

	begin();
	write_file(bytes, 3000000, 777);
	CHECK(!stat(path, &st));
	packed = malloc((size_t)st.st_size);
	got = malloc(3000001);
	file = fopen(path, "r");
	CHECK(file && packed && got);
	CHECK_EQ(fread(packed, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	CHECK_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = packed;
	stream.avail_in = (unsigned int)st.st_size;
	stream.next_out = got;
	stream.avail_out = 3000001;
	CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END); /* of the first member */
	CHECK_EQ(stream.total_out, 3000000);
	CHECK_EQ(stream.avail_in, 0); /* and of the file */
	inflateEnd(&stream);
	free(bytes);
	free(packed);
	free(got);
	unlink(path);
}

TEST(it_is_the_same_each_time)
{
	unsigned char *bytes = make_bytes(2000000, false);
	unsigned long first = 0;

	begin();
	for (int i = 0; i < 5; i++) {
		unsigned char buffer[65536];
		unsigned long crc = 0;
		FILE *file;
		size_t nr;

		write_file(bytes, 2000000, 100 + 1000 * (size_t)i);
		file = fopen(path, "r");
		CHECK(file);
		while ((nr = fread(buffer, 1, sizeof(buffer), file)) > 0)
			crc = crc32(crc, buffer, (unsigned int)nr);
		fclose(file);
		if (i)
			CHECK_EQ(crc, first);
		first = crc;
	}
	free(bytes);
	unlink(path);
}

TEST(who_gives_up_waits_for_nobody)
{
	unsigned char *bytes = make_bytes(1000000, true);
	struct gzip_file *gzip;
	struct out_file *out;

	begin();
	CHECK_EQ(out_file__open(path, &out), 0);
	CHECK_EQ(gzip_file__new(out, &gzip), 0);
	gzip_file__write(gzip, bytes, 1000000);
	gzip_file__delete(gzip);
	out_file__close(out);
	free(bytes);
	unlink(path);
}
