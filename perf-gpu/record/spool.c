// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

int spool__create(const char *sidecar_path, uid_t uid, struct spool *ret)
{
	char template[PATH_MAX];
	int err;

	if (snprintf(template, sizeof(template), "%s.spool.XXXXXX", sidecar_path) >=
	    (int)sizeof(template)) {
		pr_err("can't make a folder for GPU records: the path %s is too long",
		       sidecar_path);
		return -ENAMETOOLONG;
	}
	if (!mkdtemp(template)) {
		err = -errno;
		pr_err("can't make the folder %s for GPU records: %s; name a place to "
		       "write to with -o",
		       template, strerror(-err));
		return err;
	}
	if (!realpath(template, ret->path)) {
		err = -errno;
		pr_err("can't find the way to %s: %s", template, strerror(-err));
		goto out;
	}
	ret->dir_fd = open(ret->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ret->dir_fd < 0) {
		err = -errno;
		pr_err("can't open the folder %s: %s", ret->path, strerror(-err));
		goto out;
	}
	if (uid != geteuid() && fchown(ret->dir_fd, uid, (gid_t)-1)) {
		err = -errno;
		pr_err("can't give the folder %s to user %u: %s", ret->path,
		       (unsigned int)uid, strerror(-err));
		close(ret->dir_fd);
		goto out;
	}
	ret->uid = uid;
	return 0;
out:
	ret->path[0] = '\0';
	rmdir(template);
	return err;
}

static bool has_suffix(const char *name, const char *suffix)
{
	const char *found = strrchr(name, '.');

	return found && !strcmp(found, suffix);
}

static int add_name(struct spool_names *names, const char *name)
{
	char **grown = names->names;
	char *copy = strdup(name);

	if (!(names->nr_names & (names->nr_names - 1)))
		grown = reallocarray(grown, 2 * names->nr_names + 1, sizeof(*grown));
	if (grown)
		names->names = grown;
	if (!copy || !grown) {
		free(copy);
		return -ENOMEM;
	}
	names->names[names->nr_names++] = copy;
	return 0;
}

/* The folder from its start: a stream of its own, for each reader. */
static DIR *open_stream(const struct spool *spool)
{
	int fd = openat(spool->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int spool__list(const struct spool *spool, const char *suffix, struct spool_names *ret)
{
	DIR *dir = open_stream(spool);
	struct spool_names names = {};
	struct dirent *entry;
	int err = 0;

	if (!dir)
		err = -errno;
	while (!err) {
		errno = 0;
		entry = readdir(dir);
		err = -errno;
		if (err || !entry)
			break;
		if (has_suffix(entry->d_name, suffix))
			err = add_name(&names, entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (err) {
		pr_err("can't read the folder of GPU records %s: %s", spool->path,
		       strerror(-err));
		spool_names__release(&names);
		return err;
	}
	if (names.nr_names)
		qsort(names.names, names.nr_names, sizeof(*names.names), compare_names);
	*ret = names;
	return 0;
}

void spool_names__release(struct spool_names *names)
{
	for (size_t i = 0; i < names->nr_names; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct spool_names){};
}

int spool__open_log(const struct spool *spool, const char *name)
{
	struct stat st;
	int fd;

	fd = openat(spool->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		pr_warning("can't read the GPU log %s: %s", name, strerror(-err));
		return err;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != spool->uid && st.st_uid != geteuid())) {
		pr_warning(
			"the GPU log %s is left out: not a file of the processes' user",
			name);
		close(fd);
		return -EPERM;
	}
	return fd;
}

void spool__remove(struct spool *spool)
{
	struct dirent *entry;
	DIR *dir;

	if (!spool->path[0])
		return;
	dir = open_stream(spool);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dirfd(dir), entry->d_name, 0) && errno == EISDIR)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	if (rmdir(spool->path))
		pr_warning("can't remove %s: %s", spool->path, strerror(errno));
	close(spool->dir_fd);
	spool->path[0] = '\0';
}
