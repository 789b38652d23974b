// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/mapping.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/unpack.h"
#include "util/log.h"
#include "util/nameless_file.h"
#include "util/spool_name.h"

/* @name, ".2", and the rest of a time, as record --switch-output has it */
static bool is_switched_name(const char *file, const char *name, size_t name_bytes)
{
	return !strncmp(file, name, name_bytes) && file[name_bytes] == '.' &&
	       strspn(file + name_bytes + 1, "0123456789") == 16 &&
	       file[name_bytes + 1] == '2' && !file[name_bytes + 17];
}

/* Files of record --switch-output: how many, and the newest of them ("") */
static size_t find_switched(const char *path, char ret_newest[NAME_MAX + 1])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const size_t name_bytes = strlen(name);
	char folder[PATH_MAX];
	struct dirent *entry;
	size_t nr = 0;
	DIR *dir;

	*ret_newest = '\0';
	if ((size_t)snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path) >=
	    sizeof(folder))
		return 0;
	dir = opendir(*folder ? folder : ".");
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (!is_switched_name(entry->d_name, name, name_bytes))
			continue;
		nr++;
		if (strcmp(entry->d_name, ret_newest) > 0)
			snprintf(ret_newest, NAME_MAX + 1, "%s", entry->d_name);
	}
	closedir(dir);
	return nr;
}

/* With what is mostly behind it, as perf tells it */
static void tell_unopened(const char *path, int err)
{
	const char *slash = strrchr(path, '/');
	char newest[NAME_MAX + 1];
	size_t nr = err == -ENOENT ? find_switched(path, newest) : 0;

	/* Of these, there is nothing to recover. */
	if (nr)
		pr_err("cannot open %s: %s; record --switch-output has written %zu %s "
		       "instead, the newest: %.*s%s",
		       path, strerror(-err), nr, nr == 1 ? "file" : "files",
		       slash ? (int)(slash + 1 - path) : 0, path, newest);
	else if (err == -ENOENT && spool_name__is_beside(path))
		pr_err("cannot open %s: %s (its recorder has not finished: try 'perf-gpu "
		       "inject --recover -i %s')",
		       path, strerror(-err), path);
	else
		pr_err("cannot open %s: %s%s", path, strerror(-err),
		       err == -ENOENT	? " (try 'perf-gpu record' first)"
		       : err == -EACCES ? " (what root has recorded, only root can read)"
					: "");
}

int perfdata_mapping__open_file(const char *path)
{
	struct stat st;
	int fd, err;

	/* O_NONBLOCK: don't wait for the writer of a FIFO, which isn't read anyway. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		err = -errno;
		tell_unopened(path, err);
		return err;
	}
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode)) {
		pr_err("%s is not a regular file: read a pipe with -i - <%s", path, path);
		close(fd);
		return -ENOTSUP;
	}
	return fd;
}

/* What a pipe holds, in a file that can be mapped. Return: a file descriptor. */
static int store_pipe(int pipe, const char *path)
{
	static unsigned char buffer[65536];
	int fd = nameless_file__open(), err = fd < 0 ? fd : 0;

	while (!err) {
		ssize_t nr = read(pipe, buffer, sizeof(buffer));

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0) {
			err = -errno;
			pr_err("cannot read %s: %s", path, strerror(-err));
			close(fd);
			return err;
		}
		if (!nr)
			break;
		err = nameless_file__append(fd, buffer, (size_t)nr);
	}
	if (!err)
		err = nameless_file__finish(fd);
	if (!err)
		return fd;
	pr_err("cannot store %s in %s: %s (TMPDIR names another folder)", path,
	       nameless_file__folder(), strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

static int check_file(int fd, const char *path, struct stat *ret)
{
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) < 0) {
		err = -errno;
		pr_err("cannot read %s: %s", path, strerror(-err));
	} else if (S_ISDIR(st.st_mode)) {
		err = -ENOTSUP;
		pr_err("%s is a directory, as perf record --threads makes it, "
		       "which cannot be read: record without --threads",
		       path);
	} else if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) &&
		   !S_ISSOCK(st.st_mode)) {
		err = -ENOTSUP;
		pr_err("%s is not a regular file: store what comes out of it in one",
		       path);
	}
	if (!err)
		*ret = st;
	return err;
}

static int map_file(int fd, const char *path, struct perfdata_mapping *ret)
{
	struct stat st;
	void *data;
	int err;

	if (fstat(fd, &st) < 0) {
		err = -errno;
		pr_err("cannot read %s: %s", path, strerror(-err));
		return err;
	}
	if (st.st_size == 0) {
		pr_err("%s is empty: record it again", path);
		return -EINVAL;
	}
	if ((uint64_t)st.st_size > SIZE_MAX) {
		pr_err("%s is too large for this machine's addresses: read it on a "
		       "64-bit one",
		       path);
		return -EFBIG;
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		err = -errno;
		pr_err("cannot map %s: %s; is there memory, and address space (ulimit "
		       "-v)?",
		       path, strerror(-err));
		return err;
	}
	*ret = (struct perfdata_mapping){.data = data, .bytes = (size_t)st.st_size};
	return 0;
}

/* Put the plain file in the place of one that is packed. */
static int unpack(struct perfdata_mapping *mapping, const char *path)
{
	struct perfdata_mapping plain;
	bool is_cut;
	int fd, err;

	if (!perfdata_unpack__is_needed(mapping->data, mapping->bytes))
		return 0;
	err = perfdata_unpack(path, mapping->data, mapping->bytes, &fd, &is_cut);
	if (err)
		return err;
	err = map_file(fd, path, &plain);
	close(fd);
	if (err)
		return err;
	perfdata_mapping__release(mapping);
	*mapping = plain;
	mapping->is_cut = is_cut;
	return 0;
}

int perfdata_mapping__new(int fd, const char *path, struct perfdata_mapping *ret)
{
	struct perfdata_mapping mapping = {0};
	int stored = -1, err;
	struct stat st;

	err = check_file(fd, path, &st);
	if (err)
		return err;
	if (!S_ISREG(st.st_mode)) {
		stored = store_pipe(fd, path);
		if (stored < 0)
			return stored;
	}
	err = map_file(stored < 0 ? fd : stored, path, &mapping);
	if (stored >= 0)
		close(stored);
	if (!err)
		err = unpack(&mapping, path);
	if (err)
		perfdata_mapping__release(&mapping);
	else
		*ret = mapping;
	return err;
}

void perfdata_mapping__give_back(struct perfdata_mapping *mapping)
{
	mapping->touched_bytes = 0;
	madvise((void *)mapping->data, mapping->bytes, MADV_DONTNEED);
}

void perfdata_mapping__release(struct perfdata_mapping *mapping)
{
	if (mapping->data)
		munmap((void *)mapping->data, mapping->bytes);
	*mapping = (struct perfdata_mapping){0};
}
