// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/out_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/text_put.h"
#include "util/failure.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/temporary.h"
#include "util/write_behind.h"

/* As perfdata/writer.c has it: a write(2) of so much costs nothing beside what is in it */
#define BUFFER_BYTES (256u << 10)

_Static_assert(OUT_FILE_MAX_ROOM <= BUFFER_BYTES, "there is room");

struct out_file {
	int fd;
	int err;
	char *path, *temp_path; /* both NULL: stdout */
	bool is_temporary; /* temp_path is there, and to be removed */
	uint64_t nr_written;
	size_t nr;
	char *buffer; /* of @behind, if there is one */
	/* From the first full buffer on: what is short takes no thread. */
	struct write_behind *behind;
	bool has_no_thread; /* none could be had */
};

/* A rename onto /dev/null would replace it. */
static int check_target(const char *path)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	pr_err("cannot write %s: it is not a regular file, name another with -o", path);
	return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

/* Mode 0666 less the umask, as of any file that a program makes */
static int open_temporary(struct out_file *file)
{
	mode_t mask = umask(0);

	umask(mask);
	file->fd = temporary__make(file->temp_path);
	file->is_temporary = file->fd >= 0;
	if (file->fd < 0 || fchmod(file->fd, 0666 & ~mask)) {
		int err = file->fd < 0 ? file->fd : -errno;

		pr_err("cannot make %s: %s, choose another place with -o", file->path,
		       strerror(-err));
		return err;
	}
	return 0;
}

int out_file__open(const char *path, struct out_file **ret)
{
	struct out_file *file;
	int err = 0;

	if (path && strcmp(path, "-")) {
		err = check_target(path);
		if (err)
			return err;
	} else {
		path = NULL;
	}
	file = malloc(sizeof(*file));
	if (!file)
		goto no_memory;
	*file = (struct out_file){.fd = path ? -1 : STDOUT_FILENO,
				  .buffer = malloc(BUFFER_BYTES)};
	if (!file->buffer)
		goto no_memory;
	if (path) {
		file->path = strdup(path);
		if (asprintf(&file->temp_path, "%s.XXXXXX", path) < 0)
			file->temp_path = NULL;
		if (!file->path || !file->temp_path)
			goto no_memory;
		err = open_temporary(file);
	}
	if (err) {
		out_file__close(file);
		return err;
	}
	*ret = file;
	return 0;
no_memory:
	pr_err("no memory to write %s", path ? path : "to stdout");
	out_file__close(file);
	return -ENOMEM;
}

int out_file__make_private(struct out_file *file)
{
	int err = 0;

	if (file->path && fchmod(file->fd, 0600)) {
		err = -errno;
		pr_err("cannot make %s: %s", file->path, strerror(-err));
	}
	return err;
}

void out_file__close(struct out_file *file)
{
	if (!file)
		return;
	if (file->behind)
		file->buffer = NULL;
	write_behind__delete(file->behind);
	if (file->path && file->fd >= 0)
		close(file->fd);
	if (file->is_temporary)
		temporary__remove(file->temp_path);
	free(file->buffer);
	free(file->temp_path);
	free(file->path);
	free(file);
}

static void fail(struct out_file *file, int err)
{
	file->err = err;
	/* Not news to whoever ended `| head`. */
	if (file->path)
		pr_err("cannot write %s: %s%s", file->path, strerror(-file->err),
		       failure__room(file->err));
	else if (file->err != -EPIPE)
		pr_err("cannot write to stdout: %s", strerror(-file->err));
}

static void write_out(struct out_file *file, const char *bytes, size_t nr_bytes)
{
	if (!file->path && nr_bytes)
		progress__yield_to(file->fd);
	while (nr_bytes && !file->err) {
		ssize_t n = write(file->fd, bytes, nr_bytes);

		if (n >= 0) {
			bytes += n;
			nr_bytes -= (size_t)n;
		} else if (errno != EINTR) {
			fail(file, -errno);
		}
	}
}

/*
 * What write_behind says. Its thread takes no signal, so whoever ended `| head` is told of in
 * the way that a write here is: most often that is the end of us, too.
 */
static void take_error(struct out_file *file, int err)
{
	if (!err || file->err)
		return;
	if (err == -EPIPE)
		raise(SIGPIPE);
	fail(file, err);
}

/* The buffer is full: it is written while the next one is filled, if that can be. */
static void pass_on(struct out_file *file)
{
	if (!file->path && file->nr)
		progress__yield_to(file->fd);
	take_error(file, write_behind__put(file->behind, file->nr));
	file->buffer = (char *)write_behind__buffer(file->behind);
}

static bool begin_thread(struct out_file *file)
{
	char *first = file->buffer;

	if (write_behind__new(file->fd, BUFFER_BYTES, &file->behind)) {
		file->has_no_thread = true;
		return false;
	}
	file->buffer = (char *)write_behind__buffer(file->behind);
	memcpy(file->buffer, first, file->nr);
	free(first);
	return true;
}

/* There is room then. */
static void flush(struct out_file *file)
{
	if (file->behind || (!file->has_no_thread && begin_thread(file)))
		pass_on(file);
	else
		write_out(file, file->buffer, file->nr);
	file->nr_written += file->nr;
	file->nr = 0;
}

/* All of it is in the file then. */
static void drain(struct out_file *file)
{
	if (!file->behind) {
		write_out(file, file->buffer, file->nr);
	} else {
		pass_on(file);
		take_error(file, write_behind__drain(file->behind));
	}
	file->nr_written += file->nr;
	file->nr = 0;
}

void out_file__write(struct out_file *file, const void *bytes, size_t nr_bytes)
{
	if (nr_bytes > BUFFER_BYTES) {
		drain(file);
		write_out(file, bytes, nr_bytes);
		file->nr_written += nr_bytes;
		return;
	}
	if (nr_bytes > BUFFER_BYTES - file->nr)
		flush(file);
	memcpy(file->buffer + file->nr, bytes, nr_bytes);
	file->nr += nr_bytes;
}

char *out_file__room(struct out_file *file, size_t nr_bytes)
{
	if (nr_bytes > BUFFER_BYTES - file->nr)
		flush(file);
	return file->buffer + file->nr;
}

void out_file__take(struct out_file *file, const char *end)
{
	file->nr = (size_t)(end - file->buffer);
}

void out_file__text(struct out_file *file, const char *text)
{
	out_file__write(file, text, strlen(text));
}

void out_file__char(struct out_file *file, char c)
{
	if (file->nr == BUFFER_BYTES)
		flush(file);
	file->buffer[file->nr++] = c;
}

void out_file__number(struct out_file *file, uint64_t number)
{
	out_file__take(file,
		       text_put__number(out_file__room(file, TEXT_PUT_NUMBER), number));
}

void out_file__decimal(struct out_file *file, uint64_t number, unsigned int nr)
{
	uint64_t power = 1;

	for (unsigned int i = 0; i < nr; i++)
		power *= 10;
	out_file__number(file, number / power);
	if (!nr)
		return;
	out_file__char(file, '.');
	for (number %= power, power /= 10; power; number %= power, power /= 10)
		out_file__char(file, (char)('0' + number / power));
}

uint64_t out_file__nr_bytes(const struct out_file *file)
{
	return file->nr_written + file->nr;
}

int out_file__error(const struct out_file *file)
{
	return file->err;
}

int out_file__finish(struct out_file *file)
{
	int fd = file->fd;

	drain(file);
	if (file->err || !file->path)
		return file->err;
	/* What is written late, as by NFS, fails here. */
	file->fd = -1;
	if (close(fd)) {
		fail(file, -errno);
		return file->err;
	}
	file->err = temporary__rename(file->temp_path, file->path);
	if (file->err) {
		pr_err("cannot rename %s to %s: %s", file->temp_path, file->path,
		       strerror(-file->err));
		return file->err;
	}
	file->is_temporary = false;
	return 0;
}
