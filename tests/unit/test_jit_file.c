// SPDX-License-Identifier: GPL-2.0-or-later
/* Perf maps and jitdumps, read while they grow (cupti_inject/jit_file.c) */
#include <errno.h>
#include <sys/mman.h>

#include "jit_build.h"
#include "unit.h"

struct fixture {
	int fd; /* of the file */
	struct jit_file file;
	struct jit_symbols *symbols;
};

static void open_fixture(struct fixture *fixture, enum gpu_log_jit_kind kind)
{
	*fixture = (struct fixture){.file.kind = kind};
	fixture->fd = memfd_create("jit", MFD_CLOEXEC);
	CHECK(fixture->fd >= 0);
	CHECK_EQ(jit_symbols__new(&fixture->symbols), 0);
}

static int read_on(struct fixture *fixture)
{
	return jit_file__read(&fixture->file, fixture->fd, take_into_symbols,
			      fixture->symbols);
}

static void close_fixture(struct fixture *fixture)
{
	jit_symbols__delete(fixture->symbols);
	close(fixture->fd);
}

static void append(struct fixture *fixture, const char *text)
{
	dump__write(fixture->fd, text, strlen(text));
}

TEST(a_map_is_read_as_it_grows)
{
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_PERF_MAP);
	CHECK_EQ(read_on(&fixture), 0);
	append(&fixture, "1000 100 first\n20");
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(read_on(&fixture), 0);
	append(&fixture, "00 100 second\n3000 100 third");
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 1), "first");
	CHECK_STR(jit_name(fixture.symbols, 0x20ff, 1), "second");
	CHECK_STR(jit_name(fixture.symbols, 0x3000, 1), "third");
	CHECK_STR(jit_name(fixture.symbols, 0x2100, 1), "none");
	close_fixture(&fixture);
}

TEST(a_map_that_begins_anew_adds_to_what_it_was)
{
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_PERF_MAP);
	append(&fixture, "1000 100 first\n2000 100 second\n30");
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(ftruncate(fixture.fd, 0), 0);
	CHECK_EQ(lseek(fixture.fd, 0, SEEK_SET), 0);
	append(&fixture, "1000 80 anew\n");
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 1), "anew");
	CHECK_STR(jit_name(fixture.symbols, 0x1080, 1), "first");
	CHECK_STR(jit_name(fixture.symbols, 0x2000, 1), "second");
	close_fixture(&fixture);
}

/* Larger than many pieces, and half of it so random that it doesn't get smaller. */
TEST(a_large_map_is_whole)
{
	struct fixture fixture;
	unsigned long seed = 1;
	char line[400];

	open_fixture(&fixture, GPU_LOG_JIT_PERF_MAP);
	for (unsigned int i = 0; i < 4000; i++) {
		int nr = snprintf(line, sizeof(line), "%x 10 f%u_", 0x1000 + 16 * i, i);

		while (i % 2 && nr < 300) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			line[nr++] = (char)('!' + (seed >> 33) % 94);
		}
		line[nr++] = '\n';
		dump__write(fixture.fd, line, (size_t)nr);
	}
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(fixture.file.offset, fixture.file.nr_kept_bytes);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	for (unsigned int i = 0; i < 4000; i++) {
		snprintf(line, sizeof(line), "f%u_", i);
		CHECK(!strncmp(jit_name(fixture.symbols, 0x1000 + 16 * i, 1), line,
			       strlen(line)));
	}
	close_fixture(&fixture);
}

TEST(a_dump_is_read_without_its_code)
{
	struct dump_header header = dump__header();
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	CHECK_EQ(read_on(&fixture), 0);
	dump__write(fixture.fd, &header, 20);
	CHECK_EQ(read_on(&fixture), 0);
	dump__write(fixture.fd, (char *)&header + 20, 20);
	CHECK_EQ(read_on(&fixture), 0);
	dump__load(fixture.fd, 10, 0x1000, 0x100, 1, "first");
	dump__record(fixture.fd, 2, 11, "", 0, 1000); /* debug info */
	dump__load(fixture.fd, 12, 0x200000, 0x100000, 2, "large");
	CHECK_EQ(read_on(&fixture), 0);
	dump__record(fixture.fd, 99, 13, "", 0, 0); /* of a later version */
	CHECK_EQ(read_on(&fixture), 0);
	dump__load(fixture.fd, 14, 0x1000, 0x80, 3, "again");
	CHECK_EQ(read_on(&fixture), 0);
	CHECK(fixture.file.nr_kept_bytes < 200);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 10), "first");
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 13), "first");
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 14), "again");
	CHECK_STR(jit_name(fixture.symbols, 0x1080, 14), "first");
	CHECK_STR(jit_name(fixture.symbols, 0x2fffff, 14), "large");
	close_fixture(&fixture);
}

TEST(half_a_record_is_read_when_it_is_whole)
{
	struct dump_header header = dump__header();
	struct fixture fixture;
	unsigned char data[512];
	ssize_t bytes;
	off_t start;

	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	dump__write(fixture.fd, &header, sizeof(header));
	start = lseek(fixture.fd, 0, SEEK_CUR);
	dump__load(fixture.fd, 10, 0x1000, 0x100, 1, "first");
	bytes = pread(fixture.fd, data, sizeof(data), start);
	CHECK(bytes > 0);
	for (ssize_t cut = 0; cut < bytes; cut++) {
		CHECK_EQ(ftruncate(fixture.fd, start), 0);
		CHECK_EQ(pwrite(fixture.fd, data, (size_t)cut, start), cut);
		CHECK_EQ(read_on(&fixture), 0);
		CHECK_EQ(fixture.file.nr_kept_bytes, 0);
	}
	CHECK_EQ(pwrite(fixture.fd, data, (size_t)bytes, start), bytes);
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 10), "first");
	close_fixture(&fixture);
}

TEST(moved_code_has_the_name_it_had)
{
	struct dump_header header = dump__header();
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	dump__write(fixture.fd, &header, sizeof(header));
	dump__load(fixture.fd, 10, 0x1000, 0x100, 7, "mover");
	dump__load(fixture.fd, 11, 0x5000, 0x100, 8, "other");
	dump__move(fixture.fd, 20, 0x1000, 0x2000, 0x100, 7);
	dump__move(fixture.fd, 30, 0x2000, 0x3000, 0x100, 7);
	dump__move(fixture.fd, 40, 0x9000, 0x4000, 0x100, 99);
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 10), "mover");
	CHECK_STR(jit_name(fixture.symbols, 0x2000, 20), "mover");
	CHECK_STR(jit_name(fixture.symbols, 0x30ff, 50), "mover");
	CHECK_STR(jit_name(fixture.symbols, 0x5000, 50), "other");
	CHECK_STR(jit_name(fixture.symbols, 0x4000, 50), "none");
	close_fixture(&fixture);
}

TEST(times_of_another_clock_are_none)
{
	struct dump_header header = dump__header();
	struct fixture fixture;

	header.flags = 1;
	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	dump__write(fixture.fd, &header, sizeof(header));
	dump__load(fixture.fd, 1ull << 60, 0x1000, 0x100, 1, "first");
	dump__load(fixture.fd, 1ull << 50, 0x1000, 0x100, 2, "last");
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 5), "last");
	close_fixture(&fixture);
}

TEST(a_name_that_is_too_long_is_cut)
{
	struct dump_header header = dump__header();
	struct fixture fixture;
	char name[70000];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	dump__write(fixture.fd, &header, sizeof(header));
	for (uint64_t i = 0; i < 40; i++)
		dump__load(fixture.fd, 10, 0x1000 * i, 0x100, i, name);
	CHECK_EQ(read_on(&fixture), 0);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	for (uint64_t i = 0; i < 40; i++)
		CHECK_EQ(strlen(jit_name(fixture.symbols, 0x1000 * i, 10)), 4000);
	close_fixture(&fixture);
}

static void check_refused(struct dump_header header)
{
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	dump__write(fixture.fd, &header, sizeof(header));
	dump__load(fixture.fd, 10, 0x1000, 0x100, 1, "first");
	CHECK_EQ(read_on(&fixture), -EINVAL);
	CHECK_EQ(fixture.file.nr_kept_bytes, 0);
	close_fixture(&fixture);
}

TEST(what_is_no_dump_is_refused)
{
	struct dump_header header = dump__header();

	header.magic = 0x4454694a; /* of the other byte order */
	check_refused(header);
	header.magic = 0x464c457f;
	check_refused(header);
	header = dump__header();
	header.nr_bytes--;
	check_refused(header);
}

TEST(what_precedes_a_broken_record_is_kept)
{
	struct dump_header header = dump__header();
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_CODE);
	dump__write(fixture.fd, &header, sizeof(header));
	dump__load(fixture.fd, 10, 0x1000, 0x100, 1, "first");
	dump__write(fixture.fd, (uint32_t[4]){0, 15, 0, 0}, 16);
	dump__load(fixture.fd, 10, 0x2000, 0x100, 1, "second");
	CHECK_EQ(read_on(&fixture), -EINVAL);
	CHECK_EQ(read_on(&fixture), -EINVAL);
	CHECK_EQ(jit_symbols__finish(fixture.symbols), 0);
	CHECK_STR(jit_name(fixture.symbols, 0x1000, 10), "first");
	CHECK_STR(jit_name(fixture.symbols, 0x2000, 10), "none");
	close_fixture(&fixture);
}

static int refuse(void *nr_refused, const struct gpu_log_jit *piece, const void *deflated)
{
	(void)piece;
	(void)deflated;
	return (*(int *)nr_refused)++ < 2 ? -ENOSPC : 0;
}

TEST(a_piece_that_is_refused_comes_again)
{
	struct fixture fixture;
	int nr_refused = 0;

	open_fixture(&fixture, GPU_LOG_JIT_PERF_MAP);
	append(&fixture, "1000 100 first\n");
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(jit_file__read(&fixture.file, fixture.fd, refuse, &nr_refused),
			 -ENOSPC);
		CHECK_EQ(fixture.file.offset, 0);
	}
	CHECK_EQ(jit_file__read(&fixture.file, fixture.fd, refuse, &nr_refused), 0);
	CHECK_EQ(fixture.file.offset, 15);
	close_fixture(&fixture);
}

TEST(a_file_without_an_end_is_cut)
{
	struct fixture fixture;

	open_fixture(&fixture, GPU_LOG_JIT_PERF_MAP);
	CHECK_EQ(ftruncate(fixture.fd, (off_t)JIT_FILE_MAX_BYTES + 1), 0);
	fixture.file.nr_kept_bytes = JIT_FILE_MAX_BYTES - 100000;
	CHECK_EQ(jit_file__read(&fixture.file, fixture.fd, refuse, &(int){2}), -EFBIG);
	CHECK_EQ(fixture.file.offset, 60000);
	close_fixture(&fixture);
}
