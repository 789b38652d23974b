// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values are numbers (session in hexadecimal) or texts, in which bytes that are no
 * printable ASCII, and %, are %XX.
 *
 * The file is in a folder of the recorded processes' user: only one that is the
 * recorder's own is read, and no path is taken from it.
 */
#include "record/journal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "gpu_log.h"
#include "util/file.h"
#include "util/log.h"
#include "util/stream.h"

#define FIRST_LINE	   "perf-gpu recording 1"
#define LINE_OF_MANY_FILES "perf-gpu recording of several files"

/* A command line has at most 2 MiB, of which each byte may take three. */
#define MAX_BYTES (8 << 20)

static void write_text(FILE *file, const char *word, const char *text)
{
	fprintf(file, "%s ", word);
	for (; *text; text++) {
		if (*text != '%' && isprint((unsigned char)*text))
			fputc(*text, file);
		else
			fprintf(file, "%%%02x", (unsigned char)*text);
	}
	fputc('\n', file);
}

static void write_number(FILE *file, const char *word, uint64_t number)
{
	fprintf(file, "%s %" PRIu64 "\n", word, number);
}

/* What is missing in the middle would not be missed: an earlier write may have failed. */
static int end_lines(FILE *file)
{
	if (fflush(file))
		return -errno;
	return ferror(file) ? -EIO : 0;
}

static int write_lines(FILE *file, const struct journal *journal)
{
	struct utsname uts = {};

	if (!journal) {
		fputs(LINE_OF_MANY_FILES "\n", file);
		return end_lines(file);
	}
	uname(&uts);
	fprintf(file, FIRST_LINE "\nsession %016" PRIx64 "\n", journal->session);
	write_number(file, "pid", (uint64_t)getpid());
	write_text(file, "host", uts.nodename);
	write_number(file, "realtime_ns", journal->clock.realtime_ns);
	write_number(file, "monotonic_ns", journal->clock.monotonic_ns);
	write_number(file, "call_graph", journal->stack.call_graph);
	write_number(file, "dwarf_bytes", journal->stack.dwarf_bytes);
	write_number(file, "max_frames", journal->stack.max_frames);
	write_number(file, "events", journal->events);
	write_number(file, "has_perfdata", journal->has_perfdata);
	write_number(file, "has_launch_logs", journal->has_launch_logs);
	write_text(file, "data", journal->data);
	write_number(file, "data_offset", journal->data_offset);
	for (const char *const *arg = journal->argv; *arg; arg++)
		write_text(file, "arg", *arg);
	write_number(file, "end", 1);
	return end_lines(file);
}

int journal__create(const struct spool *spool, const struct journal *journal, int *ret_fd)
{
	FILE *file = NULL;
	int fd, err;

	fd = openat(spool->dir_fd, GPU_LOG_JOURNAL,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = -errno;
		goto out;
	}
	err = file__lock(fd);
	/* Where there are no locks, it would tell processes that the recorder is dead. */
	if (err)
		goto out;
	fchmod(fd, 0644); /* now they may look */
	file = stream__open(fd, "w");
	err = file ? write_lines(file, journal) : -errno;
out:
	if (file && fclose(file) && !err)
		err = -errno;
	if (!err) {
		*ret_fd = fd;
		return 0;
	}
	pr_warning(
		"can't write into the folder %s: %s: if this recorder is killed, what it "
		"has recorded can't be recovered",
		spool->path, strerror(-err));
	if (fd >= 0) {
		unlinkat(spool->dir_fd, GPU_LOG_JOURNAL, 0);
		close(fd);
	}
	return err;
}

/* Return: a file descriptor, or a negative errno, not printed */
static int open_journal(const struct spool *spool)
{
	struct stat st;
	int err = 0;
	int fd = openat(spool->dir_fd, GPU_LOG_JOURNAL,
			O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size > MAX_BYTES)
		err = -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* 0, or a negative errno; what isn't there remains as it was. */
static int read_beginning(int fd, char *ret, size_t bytes)
{
	size_t at = 0;
	ssize_t nr;

	do {
		nr = pread(fd, ret + at, bytes - at, (off_t)at);
		at += nr > 0 ? (size_t)nr : 0;
	} while ((nr > 0 && at < bytes) || (nr < 0 && errno == EINTR));
	return nr < 0 ? -errno : 0;
}

int journal__state(const struct spool *spool, enum journal_state *ret)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	enum journal_state state = JOURNAL_NONE;
	char line[sizeof(LINE_OF_MANY_FILES)] = "";
	int fd = open_journal(spool);
	int err = 0;

	if (fd == -ENOENT || fd == -ELOOP || fd == -EPERM)
		goto out;
	if (fd < 0)
		return fd;
	err = read_beginning(fd, line, sizeof(line) - 1);
	if (!strncmp(line, FIRST_LINE, strlen(FIRST_LINE)))
		state = JOURNAL_LEFT;
	else if (!strcmp(line, LINE_OF_MANY_FILES))
		state = JOURNAL_LOST;
	if (state != JOURNAL_NONE && fcntl(fd, F_OFD_GETLK, &lock))
		state = JOURNAL_NONE;
	else if (state != JOURNAL_NONE && lock.l_type != F_UNLCK)
		state = JOURNAL_LOCKED;
	close(fd);
out:
	if (!err)
		*ret = state;
	return err;
}

/* In place. False if it isn't one. */
static bool decode(char *text)
{
	char *to = text;

	for (; *text; text++, to++) {
		char digits[3] = {};

		*to = *text;
		if (*text != '%')
			continue;
		if (!isxdigit((unsigned char)text[1]) ||
		    !isxdigit((unsigned char)text[2]))
			return false;
		memcpy(digits, text + 1, 2);
		*to = (char)strtoul(digits, NULL, 16);
		if (!*to)
			return false;
		text += 2;
	}
	*to = '\0';
	return true;
}

static bool take_number(const char *text, uint64_t max, int base, uint64_t *ret)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, base);
	if (!isxdigit((unsigned char)*text) || *end || errno || number > max)
		return false;
	*ret = number;
	return true;
}

static bool take_text(char *value, char *ret, size_t size)
{
	if (!decode(value) || strlen(value) >= size)
		return false;
	snprintf(ret, size, "%s", value);
	return true;
}

static bool add_arg(struct journal *journal, size_t *nr, char *value)
{
	const char **grown = (const char **)journal->argv;

	if (!decode(value))
		return false;
	grown = reallocarray(grown, *nr + 2, sizeof(*grown));
	if (!grown)
		return false;
	journal->argv = grown;
	grown[*nr] = strdup(value);
	grown[*nr + 1] = NULL;
	return grown[(*nr)++];
}

/* 1: the last line, 0: there are more, -EINVAL */
static int take_line(struct journal *journal, size_t *nr_args, const char *word,
		     char *value)
{
	uint64_t call_graph = journal->stack.call_graph, number = 0;
	bool is_good = true;

	if (!strcmp(word, "session"))
		is_good = take_number(value, UINT64_MAX, 16, &journal->session);
	else if (!strcmp(word, "host"))
		is_good = take_text(value, journal->host, sizeof(journal->host));
	else if (!strcmp(word, "data"))
		is_good = take_text(value, journal->data, sizeof(journal->data));
	else if (!strcmp(word, "arg"))
		is_good = add_arg(journal, nr_args, value);
	else if (!take_number(value, UINT64_MAX, 10, &number))
		is_good = false;
	else if (!strcmp(word, "realtime_ns"))
		journal->clock.realtime_ns = number;
	else if (!strcmp(word, "monotonic_ns"))
		journal->clock.monotonic_ns = number;
	else if (!strcmp(word, "call_graph"))
		call_graph = number;
	else if (!strcmp(word, "dwarf_bytes"))
		journal->stack.dwarf_bytes = (uint32_t)number;
	else if (!strcmp(word, "max_frames"))
		journal->stack.max_frames = (unsigned int)number;
	else if (!strcmp(word, "events"))
		journal->events = (uint32_t)number;
	else if (!strcmp(word, "pid"))
		journal->pid = (int)number;
	else if (!strcmp(word, "has_perfdata"))
		journal->has_perfdata = number;
	else if (!strcmp(word, "has_launch_logs"))
		journal->has_launch_logs = number;
	else if (!strcmp(word, "data_offset"))
		journal->data_offset = number;
	else if (!strcmp(word, "end"))
		return 1;
	if (call_graph > CALL_GRAPH_DWARF)
		return -EINVAL;
	journal->stack.call_graph = (enum call_graph)call_graph;
	return is_good ? 0 : -EINVAL;
}

static int read_lines(FILE *file, struct journal *journal)
{
	size_t size = 0, nr_args = 0;
	char *line = NULL, *value;
	int err = -EINVAL;
	ssize_t nr_bytes;

	errno = 0;
	nr_bytes = getline(&line, &size, file);
	if (nr_bytes > 0 && !strcmp(line, FIRST_LINE "\n"))
		err = 0;
	while (!err && (nr_bytes = getline(&line, &size, file)) > 0) {
		value = strchr(line, ' ');
		if (!value || line[nr_bytes - 1] != '\n') {
			err = -EINVAL;
			break;
		}
		line[nr_bytes - 1] = '\0';
		*value++ = '\0';
		err = take_line(journal, &nr_args, line, value);
	}
	/* Which says nothing of the file */
	if (nr_bytes < 0 && (ferror(file) || errno == ENOMEM))
		err = errno ? -errno : -EIO;
	free(line);
	if (err < 0 && err != -EINVAL)
		return err;
	if (err != 1 || !journal->session || !nr_args || strchr(journal->data, '/'))
		return -EINVAL;
	return 0;
}

int journal__read(const struct spool *spool, struct journal *ret, int *ret_fd)
{
	struct journal journal = {};
	FILE *file = NULL;
	int fd, err;

	fd = open_journal(spool);
	err = fd < 0 ? fd : file__lock(fd);
	if (!err) {
		file = stream__open(fd, "r");
		err = file ? read_lines(file, &journal) : -errno;
	}
	if (file)
		fclose(file);
	if (!err) {
		*ret = journal;
		*ret_fd = fd;
		return 0;
	}
	if (err == -EAGAIN)
		err = -EBUSY;
	if (err == -EBUSY)
		pr_err("%s is still being recorded into, or recovered by somebody else",
		       spool->path);
	else if (err == -EPERM)
		pr_err("%s is another user's: recover it as who has recorded",
		       spool->path);
	else
		pr_err("%s can't be recovered: its file " GPU_LOG_JOURNAL " %s%s",
		       spool->path,
		       err == -EINVAL ? "is damaged, or of another version of perf-gpu"
				      : "can't be read: ",
		       err == -EINVAL ? "" : strerror(-err));
	journal__release(&journal);
	if (fd >= 0)
		close(fd);
	return err;
}

void journal__release(struct journal *journal)
{
	for (const char *const *arg = journal->argv; arg && *arg; arg++)
		free((char *)*arg);
	free((void *)journal->argv);
	journal->argv = NULL;
}
