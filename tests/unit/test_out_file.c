// SPDX-License-Identifier: GPL-2.0-or-later
/* What is written comes out whole and in order, while the writer goes on, or is said not to. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>

#include "sink/out_file.h"
#include "unit.h"

#define PART_BYTES 60000
#define NR_PARTS   20 /* more than a pipe and two buffers take */

/* Which byte is at a place: none of the sizes here is a multiple of 251. */
static char byte_at(size_t place)
{
	return (char)(place % 251);
}

static void fill(char *bytes, size_t place, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++)
		bytes[i] = byte_at(place + i);
}

/* Does a file have those bytes, to its end? */
static bool reads_back(int fd, size_t nr_bytes)
{
	static char buffer[65536];
	size_t place = 0;
	ssize_t nr;

	while ((nr = read(fd, buffer, sizeof(buffer))) > 0)
		for (ssize_t i = 0; i < nr; i++)
			if (buffer[i] != byte_at(place++))
				return false;
	return !nr && place == nr_bytes;
}

/* A process that reads a pipe to its end, and ends with 0 if all is there */
static pid_t start_reader(const int pipe[2], size_t nr_bytes)
{
	pid_t pid = fork();

	if (!pid) {
		close(pipe[1]);
		close(STDOUT_FILENO);
		_exit(!reads_back(pipe[0], nr_bytes));
	}
	return pid;
}

/* Make @fd stdout. */
static void set_stdout(int fd)
{
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

TEST(writing_goes_on_while_nobody_reads)
{
	static char part[PART_BYTES];
	struct out_file *file;
	int ends[2], old, status, err;
	pid_t reader;

	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	CHECK_EQ(out_file__open("-", &file), 0);
	old = dup(STDOUT_FILENO); /* where failed checks are told */
	set_stdout(dup(ends[1]));
	alarm(30); /* who waits for the pipe waits for ever */
	for (size_t i = 0; i < NR_PARTS; i++) {
		fill(part, i * PART_BYTES, PART_BYTES);
		out_file__write(file, part, PART_BYTES);
	}
	reader = start_reader(ends, NR_PARTS * PART_BYTES);
	err = out_file__finish(file);
	out_file__close(file);
	set_stdout(old);
	close(ends[1]);
	CHECK_EQ(err, 0);
	CHECK_EQ(waitpid(reader, &status, 0), reader);
	CHECK_EQ(status, 0);
}

TEST(all_sizes_come_in_order)
{
	/* Some that fit in the buffer, and some that are larger than it */
	static const size_t sizes[] = {1, 70000, 255000, 300000, 3, 999999, 262144, 17};
	char path[] = "/tmp/test_out_file.XXXXXX";
	char *bytes = malloc(1000000), *room;
	struct out_file *file;
	size_t place = 0;
	int fd = mkstemp(path);

	CHECK(fd >= 0 && bytes);
	CHECK_EQ(out_file__open(path, &file), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill(bytes, place, sizes[i]);
		out_file__write(file, bytes, sizes[i]);
		place += sizes[i];
		out_file__char(file, byte_at(place++));
		room = out_file__room(file, OUT_FILE_MAX_ROOM);
		fill(room, place, 1000);
		out_file__take(file, room + 1000);
		place += 1000;
		CHECK_EQ(out_file__nr_bytes(file), place);
	}
	CHECK_EQ(out_file__finish(file), 0);
	out_file__close(file);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(reads_back(fd, place));
	close(fd);
	unlink(path);
	free(bytes);
}

TEST(a_full_disk_is_told_however_late)
{
	static char part[PART_BYTES];
	struct out_file *file;
	int old, err;

	CHECK_EQ(out_file__open("-", &file), 0);
	old = dup(STDOUT_FILENO); /* where failed checks are told */
	set_stdout(open("/dev/full", O_WRONLY | O_CLOEXEC));
	for (size_t i = 0; i < NR_PARTS; i++)
		out_file__write(file, part, sizeof(part));
	err = out_file__finish(file);
	out_file__close(file);
	set_stdout(old);
	CHECK_EQ(err, -ENOSPC);
}

/* Write to a pipe that nobody will read; the status of the process that does. */
static int write_in_vain(void (*on_sigpipe)(int), size_t nr_parts)
{
	static char part[PART_BYTES];
	struct out_file *file;
	int ends[2], status = 0;
	pid_t writer;

	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	writer = fork();
	if (!writer) {
		signal(SIGPIPE, on_sigpipe);
		set_stdout(ends[1]);
		if (out_file__open("-", &file))
			_exit(2);
		for (size_t i = 0; i < nr_parts; i++)
			out_file__write(file, part, sizeof(part));
		_exit(out_file__finish(file) == -EPIPE);
	}
	close(ends[1]);
	CHECK_EQ(waitpid(writer, &status, 0), writer);
	return status;
}

TEST(who_ends_reading_ends_the_writer)
{
	for (size_t nr_parts = 1; nr_parts <= 8 * NR_PARTS; nr_parts *= 8) {
		int status = write_in_vain(SIG_DFL, nr_parts);

		CHECK(WIFSIGNALED(status));
		CHECK_EQ(WTERMSIG(status), SIGPIPE);
		status = write_in_vain(SIG_IGN, nr_parts);
		CHECK(WIFEXITED(status));
		CHECK_EQ(WEXITSTATUS(status), 1);
	}
}

TEST(what_is_not_finished_is_gone)
{
	static char part[PART_BYTES];
	char folder[] = "/tmp/test_out_file.XXXXXX", path[64];
	struct out_file *file;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/out", folder);
	CHECK_EQ(out_file__open(path, &file), 0);
	for (size_t i = 0; i < NR_PARTS; i++)
		out_file__write(file, part, sizeof(part));
	out_file__close(file);
	CHECK_EQ(rmdir(folder), 0);
}
