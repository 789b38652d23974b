// SPDX-License-Identifier: GPL-2.0-or-later
/* Which files of killed processes are read, and whose they are (record/jit_rescue.c) */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "jit_build.h"
#include "record/jit_rescue.h"
#include "unit.h"

/* The recording began at second 1000 of CLOCK_REALTIME, second 1 of CLOCK_MONOTONIC. */
#define S 1000000000ull
static const struct clock_pair begin = {.realtime_ns = 1000 * S, .monotonic_ns = 1 * S};

struct fixture {
	struct jit_logs logs;
	struct jit_symbols *symbols;
	struct build_ids *mapped;
	char path[64]; /* of this process's map */
};

static void open_fixture(struct fixture *f)
{
	*f = (struct fixture){0};
	snprintf(f->path, sizeof(f->path), "/tmp/perf-%d.map", getpid());
	unlink(f->path);
	CHECK_EQ(jit_symbols__new(&f->symbols), 0);
	CHECK_EQ(build_ids__new(&f->mapped), 0);
}

static void close_fixture(struct fixture *f)
{
	unlink(f->path);
	build_ids__delete(f->mapped);
	jit_symbols__delete(f->symbols);
	jit_logs__release(&f->logs);
}

static struct jit_log own_log(uint64_t start_ns)
{
	return (struct jit_log){
		.log_id = start_ns,
		.start_ns = start_ns,
		.pid = (uint32_t)getpid(),
		.uid = getuid(),
	};
}

static void add_log(struct fixture *f, struct jit_log log)
{
	CHECK_EQ(jit_logs__add(&f->logs, &log), 0);
}

static void write_file(const char *path, const char *text, uint64_t mtime_ns)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = (time_t)(mtime_ns / S), .tv_nsec = (long)(mtime_ns % S)},
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	dump__write(fd, text, strlen(text));
	close(fd);
	CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* What lies at 0x1000, by what the log has of the map, and the files of its process */
static const char *name_behind(struct fixture *f, size_t log, const char *kept)
{
	jit_symbols__delete(f->symbols);
	CHECK_EQ(jit_symbols__new(&f->symbols), 0);
	CHECK_EQ(jit_symbols__add_perf_map(f->symbols, 0, kept, strlen(kept)), 0);
	CHECK_EQ(jit_rescue__read(&f->logs, log, &begin, f->mapped, take_into_symbols,
				  f->symbols),
		 0);
	CHECK_EQ(jit_symbols__finish(f->symbols), 0);
	return jit_name(f->symbols, 0x1000, UINT64_MAX);
}

static const char *name_of(struct fixture *f, size_t log)
{
	return name_behind(f, log, "");
}

TEST(a_map_of_the_recording_is_read)
{
	struct fixture f;

	open_fixture(&f);
	add_log(&f, own_log(2 * S));
	CHECK_STR(name_of(&f, 0), "none");
	/* Even if it was compiled before the log was begun */
	write_file(f.path, "1000 100 f\n", 1000 * S);
	CHECK_STR(name_of(&f, 0), "f");
	write_file(f.path, "1000 100 f\n", 999 * S);
	CHECK_STR(name_of(&f, 0), "none");
	write_file(f.path, "1000 100 f\n", 5000 * S);
	CHECK_STR(name_of(&f, 0), "f");
	close_fixture(&f);
}

TEST(nothing_is_read_for_who_ended)
{
	struct jit_log log = own_log(2 * S);
	struct fixture f;

	open_fixture(&f);
	log.is_ended = true;
	add_log(&f, log);
	write_file(f.path, "1000 100 f\n", 1001 * S);
	CHECK_STR(name_of(&f, 0), "none");
	close_fixture(&f);
}

TEST(only_what_the_log_lacks_is_read)
{
	struct jit_log log = own_log(2 * S);
	struct fixture f;

	open_fixture(&f);
	log.perf_map_bytes = 11;
	add_log(&f, log);
	write_file(f.path, "1000 100 f\n1000 100 g\n", 1001 * S);
	CHECK_STR(name_behind(&f, 0, "1000 100 k\n"), "g");
	write_file(f.path, "1000 100 f\n", 1001 * S);
	CHECK_STR(name_behind(&f, 0, "1000 100 k\n"), "k");
	/* Shorter than what the log has: another file */
	write_file(f.path, "1000 100 h", 1001 * S);
	CHECK_STR(name_behind(&f, 0, "1000 100 k\n"), "h");
	close_fixture(&f);
}

/* Three processes had the pid, one after the other. */
TEST(a_pid_that_was_used_again)
{
	struct fixture f;

	open_fixture(&f);
	add_log(&f, own_log(10 * S));
	add_log(&f, own_log(30 * S));
	add_log(&f, own_log(20 * S));
	write_file(f.path, "1000 100 f\n", (1000 + 14) * S);
	CHECK_STR(name_of(&f, 0), "f");
	write_file(f.path, "1000 100 f\n", (1000 + 24) * S);
	CHECK_STR(name_of(&f, 0), "none");
	CHECK_STR(name_of(&f, 1), "f");
	CHECK_STR(name_of(&f, 2), "f");
	write_file(f.path, "1000 100 f\n", (1000 + 40) * S);
	CHECK_STR(name_of(&f, 0), "none");
	CHECK_STR(name_of(&f, 1), "f");
	CHECK_STR(name_of(&f, 2), "none");
	close_fixture(&f);
}

TEST(one_of_logs_that_say_the_same_has_the_file)
{
	struct fixture f;

	open_fixture(&f);
	add_log(&f, own_log(10 * S));
	add_log(&f, own_log(10 * S));
	add_log(&f, own_log(10 * S));
	write_file(f.path, "1000 100 f\n", (1000 + 14) * S);
	CHECK_STR(name_of(&f, 0), "f");
	CHECK_STR(name_of(&f, 1), "none");
	CHECK_STR(name_of(&f, 2), "none");
	close_fixture(&f);
}

TEST(files_of_others_are_not_read)
{
	struct jit_log log = own_log(2 * S);
	char target[80];
	struct fixture f;

	open_fixture(&f);
	log.uid++;
	add_log(&f, log);
	write_file(f.path, "1000 100 f\n", 1001 * S);
	CHECK_STR(name_of(&f, 0), "none");
	f.logs.logs[0].uid--;
	CHECK_STR(name_of(&f, 0), "f");

	snprintf(target, sizeof(target), "%s.target", f.path);
	CHECK_EQ(rename(f.path, target), 0);
	CHECK_EQ(symlink(target, f.path), 0);
	CHECK_STR(name_of(&f, 0), "none");
	unlink(f.path);
	unlink(target);
	CHECK_EQ(mkfifo(f.path, 0600), 0);
	CHECK_STR(name_of(&f, 0), "none");
	unlink(f.path);
	CHECK_EQ(mkdir(f.path, 0700), 0);
	CHECK_STR(name_of(&f, 0), "none");
	rmdir(f.path);
	close_fixture(&f);
}

TEST(a_dump_is_found_among_what_was_mapped)
{
	struct dump_header header = dump__header();
	char directory[] = P_tmpdir "/perf-gpu-unit.XXXXXX", path[64];
	struct fixture f;
	int fd;

	open_fixture(&f);
	add_log(&f, own_log(2 * S));
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, getpid());
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	dump__write(fd, &header, sizeof(header));
	dump__load(fd, 1, 0x1000, 16, 1, "dumped");
	close(fd);
	CHECK_STR(name_of(&f, 0), "none");
	build_ids__add(f.mapped, "/usr/lib/libc.so", NULL, 0);
	build_ids__add(f.mapped, path, NULL, 0);
	build_ids__add(f.mapped, "/zzz", NULL, 0);
	CHECK_STR(name_of(&f, 0), "dumped");
	unlink(path);
	CHECK_STR(name_of(&f, 0), "none");
	rmdir(directory);
	close_fixture(&f);
}

static int refuse(void *ctx, const struct gpu_log_jit *piece, const void *deflated)
{
	(void)ctx;
	(void)piece;
	(void)deflated;
	return -ENOSPC;
}

TEST(who_takes_them_may_fail)
{
	struct fixture f;

	open_fixture(&f);
	add_log(&f, own_log(2 * S));
	write_file(f.path, "1000 100 f\n", 1001 * S);
	CHECK_EQ(jit_rescue__read(&f.logs, 0, &begin, f.mapped, refuse, NULL), -ENOSPC);
	close_fixture(&f);
}

/* Who was killed can have left anything; what is his, and can't be read, is told of. */
TEST(a_dump_that_is_none_is_told)
{
	FILE *said = tmpfile();
	char line[256] = "", path[64];
	struct fixture f;

	CHECK(said);
	open_fixture(&f);
	add_log(&f, own_log(2 * S));
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	write_file(path, "this is something else, of more bytes than a header has",
		   1001 * S);
	build_ids__add(f.mapped, path, NULL, 0);
	CHECK_EQ(dup2(fileno(said), STDERR_FILENO), STDERR_FILENO);
	CHECK_STR(name_of(&f, 0), "none");
	rewind(said);
	CHECK(fgets(line, sizeof(line), said) != NULL);
	CHECK(strstr(line, path) && strstr(line, "no jitdump of this machine's"));
	CHECK(!fgets(line, sizeof(line), said));
	unlink(path);
	close_fixture(&f);
}
