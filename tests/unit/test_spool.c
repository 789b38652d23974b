// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder of logs, in which processes can put anything */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "record/spool.h"
#include "unit.h"
#include "util/log.h"

#define MAX_NAMES 65536 /* the spool's */

struct fixture {
	char dir[32];
	struct spool spool;
};

static void open_fixture(struct fixture *fixture)
{
	char path[64];

	/* In memory, where that may be: files are many. */
	snprintf(fixture->dir, sizeof(fixture->dir), "%s/perf-gpu-unit.XXXXXX",
		 access("/dev/shm", W_OK | X_OK) ? P_tmpdir : "/dev/shm");
	CHECK(mkdtemp(fixture->dir));
	snprintf(path, sizeof(path), "%s/perf.data.gpu", fixture->dir);
	CHECK_EQ(spool__create(path, geteuid(), &fixture->spool), 0);
}

static void close_fixture(struct fixture *fixture)
{
	spool__remove(&fixture->spool);
	CHECK_EQ(rmdir(fixture->dir), 0);
}

static void make_file(const struct spool *spool, const char *name)
{
	int fd = openat(spool->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0);
	close(fd);
}

/* How many lines are in a file that stderr has been */
static size_t count_lines(FILE *file)
{
	size_t nr = 0;

	rewind(file);
	for (int c; (c = getc(file)) != EOF;)
		nr += c == '\n';
	return nr;
}

TEST(logs_are_listed_by_their_suffix)
{
	struct spool_names names;
	struct fixture f;

	open_fixture(&f);
	make_file(&f.spool, "2-b.gpulog");
	make_file(&f.spool, "1-a.gpulog");
	make_file(&f.spool, "1-a.launches");
	make_file(&f.spool, "notes");
	CHECK_EQ(spool__list(&f.spool, SPOOL_LOG_SUFFIX, &names), 0);
	CHECK_EQ(names.nr_names, 2);
	CHECK_STR(names.names[0], "1-a.gpulog");
	CHECK_STR(names.names[1], "2-b.gpulog");
	spool_names__release(&names);
	close_fixture(&f);
}

/* Who follows logs looks four times a second. */
TEST(that_there_are_too_many_logs_is_told_once)
{
	FILE *said = tmpfile();
	struct spool_names names;
	struct fixture f;
	char name[32];

	CHECK(said);
	open_fixture(&f);
	for (int i = 0; i <= MAX_NAMES; i++) {
		snprintf(name, sizeof(name), "%d-%x.gpulog", i, i);
		make_file(&f.spool, name);
	}
	CHECK_EQ(dup2(fileno(said), STDERR_FILENO), STDERR_FILENO);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(spool__list(&f.spool, SPOOL_LOG_SUFFIX, &names), 0);
		CHECK_EQ(names.nr_names, MAX_NAMES);
		spool_names__release(&names);
	}
	CHECK_EQ(count_lines(said), 1);
	close_fixture(&f);
}

TEST(folders_and_links_in_it_are_removed_with_it)
{
	struct fixture f;

	open_fixture(&f);
	CHECK_EQ(mkdirat(f.spool.dir_fd, "folder", 0700), 0);
	CHECK_EQ(mkdirat(f.spool.dir_fd, "folder/another", 0700), 0);
	make_file(&f.spool, "folder/another/file");
	CHECK_EQ(symlinkat("/", f.spool.dir_fd, "folder/link"), 0);
	close_fixture(&f); /* whose folder must be empty */
}

/* Each reader has a stream of its own, and none is left open. */
TEST(no_descriptor_is_left)
{
	const struct rlimit few = {.rlim_cur = 32, .rlim_max = 32};
	struct spool_names names;
	struct fixture f;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	open_fixture(&f);
	make_file(&f.spool, "1-a.gpulog");
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(spool__list(&f.spool, SPOOL_LOG_SUFFIX, &names), 0);
		CHECK_EQ(names.nr_names, 1);
		spool_names__release(&names);
		CHECK(!spool__is_empty(&f.spool));
		CHECK_EQ(spool__bytes(&f.spool), 0);
	}
	close_fixture(&f);
}
