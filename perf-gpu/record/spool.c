// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu_log.h"
#include "util/log.h"
#include "util/stream.h"
#include "util/sum.h"

/*
 * Of what processes make there, which may be anything: names that are looked at, files
 * that they are given, and folders within folders that are removed.
 */
#define MAX_NAMES   (1u << 16)
#define MAX_MADE    (1u << 16)
#define MAX_FOLDERS 32

/* Nothing in it? Of a folder that was just made, by us and not put there by another. */
static int check_is_new(int dir_fd)
{
	DIR *dir = stream__open_folder(dir_fd);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = -ENOTEMPTY;
	closedir(dir);
	return err;
}

/*
 * The user may own the folder above, and put another folder of ours in the place of this
 * one: an empty one at most becomes his.
 */
static int give_to(int dir_fd, uid_t uid)
{
	struct stat st;
	int err = fstat(dir_fd, &st) ? -errno : 0;

	if (!err && (st.st_uid != geteuid() || (st.st_mode & 07777) != 0700))
		err = -EPERM;
	if (!err)
		err = check_is_new(dir_fd);
	if (!err && fchown(dir_fd, uid, (gid_t)-1))
		err = -errno;
	return err;
}

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
	err = uid == geteuid() ? 0 : give_to(ret->dir_fd, uid);
	if (err) {
		pr_err("can't give the folder %s to user %u: %s", ret->path,
		       (unsigned int)uid, strerror(-err));
		close(ret->dir_fd);
		goto out;
	}
	ret->uid = uid;
	ret->made = NULL;
	ret->nr_made = 0;
	return 0;
out:
	ret->path[0] = '\0';
	rmdir(template);
	return err;
}

int spool__open(const char *path, struct spool *ret)
{
	struct spool spool = {
		.dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
	struct stat st;
	int err;

	if (spool.dir_fd < 0)
		return -errno;
	if (fstat(spool.dir_fd, &st) || !realpath(path, spool.path)) {
		err = -errno;
		close(spool.dir_fd);
		return err;
	}
	spool.uid = st.st_uid;
	*ret = spool;
	return 0;
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

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Once: who follows logs looks again and again. */
static void tell_too_many(void)
{
	static bool is_told;

	if (!is_told)
		pr_warning("there are more than %u logs of processes: the others are "
			   "left out",
			   MAX_NAMES);
	is_told = true;
}

int spool__list(const struct spool *spool, const char *suffix, struct spool_names *ret)
{
	DIR *dir = stream__open_folder(spool->dir_fd);
	struct spool_names names = {};
	struct dirent *entry;
	int err = 0;

	if (!dir)
		err = -errno;
	while (dir && !err && names.nr_names < MAX_NAMES) {
		errno = 0;
		entry = readdir(dir);
		err = -errno;
		if (err || !entry)
			break;
		if (has_suffix(entry->d_name, suffix))
			err = add_name(&names, entry->d_name);
	}
	if (names.nr_names == MAX_NAMES)
		tell_too_many();
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

static int open_log(const struct spool *spool, const char *name, int access,
		    struct log_limit *limit)
{
	struct stat st;
	int fd;

	fd = openat(spool->dir_fd, name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && access == O_RDWR && (errno == EACCES || errno == EPERM))
		return open_log(spool, name, O_RDONLY, limit);
	if (fd < 0) {
		int err = -errno;

		if (log_limit__take(limit))
			pr_warning("can't read the GPU log %s: %s", name, strerror(-err));
		return err;
	}
	if (fstat(fd, &st)) {
		int err = -errno;

		if (log_limit__take(limit))
			pr_warning("can't read the GPU log %s: %s", name, strerror(-err));
		close(fd);
		return err;
	}
	if (!S_ISREG(st.st_mode) || (st.st_uid != spool->uid && st.st_uid != geteuid())) {
		if (log_limit__take(limit))
			pr_warning("the GPU log %s is left out: not a file of the "
				   "processes' user",
				   name);
		close(fd);
		return -EPERM;
	}
	/* One that has another name somewhere may be more than a log. */
	if (access == O_RDWR && st.st_nlink > 1) {
		close(fd);
		return open_log(spool, name, O_RDONLY, limit);
	}
	return fd;
}

int spool__open_log(const struct spool *spool, const char *name, struct log_limit *limit)
{
	return open_log(spool, name, O_RDONLY, limit);
}

int spool__open_grown_log(const struct spool *spool, const char *name,
			  struct log_limit *limit)
{
	return open_log(spool, name, O_RDWR, limit);
}

void spool__answer(const struct spool *spool, uint64_t log_id, const char *suffix)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%016llx%s", (unsigned long long)log_id, suffix);
	/* What is there already was put there by the one who asks. */
	fd = openat(spool->dir_fd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

uint64_t spool__bytes(const struct spool *spool)
{
	DIR *dir = stream__open_folder(spool->dir_fd);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	for (unsigned int nr = 0; dir && nr < MAX_NAMES && (entry = readdir(dir)); nr++)
		if ((has_suffix(entry->d_name, SPOOL_LOG_SUFFIX) ||
		     has_suffix(entry->d_name, SPOOL_LAUNCH_LOG_SUFFIX)) &&
		    !fstatat(spool->dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			sum__add(&bytes, (uint64_t)st.st_size);
	if (dir)
		closedir(dir);
	return bytes;
}

bool spool__has_ended(int fd, bool has_end, uint32_t pid)
{
	if (flock(fd, LOCK_EX | LOCK_NB))
		return false;
	flock(fd, LOCK_UN);
	if (has_end)
		return true;
	return pid && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* A process has a lock of its log, shared with children that it forks. */
static bool is_locked(const struct spool *spool, const char *name)
{
	int fd = openat(spool->dir_fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_locked;

	if (fd < 0)
		return false;
	is_locked = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return is_locked;
}

bool spool__is_in_use(const struct spool *spool)
{
	struct spool_names logs;
	bool is_in_use = false;

	if (spool__list(spool, SPOOL_LOG_SUFFIX, &logs))
		return false;
	for (size_t i = 0; i < logs.nr_names && !is_in_use; i++)
		is_in_use = is_locked(spool, logs.names[i]);
	spool_names__release(&logs);
	return is_in_use;
}

static bool has_made(const struct spool *spool, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	for (size_t i = 0; i < spool->nr_made; i++)
		if (spool->made[i].dev == st.st_dev && spool->made[i].ino == st.st_ino)
			return true;
	return false;
}

static int note_made(struct spool *spool, int fd)
{
	const size_t nr = spool->nr_made;
	struct spool_file *made = spool->made;
	struct stat st;

	if (nr == MAX_MADE)
		return -ENOSPC;
	if (fstat(fd, &st))
		return -errno;
	if (!(nr & (nr - 1)))
		made = reallocarray(made, 2 * nr + 1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made[nr] = (struct spool_file){.dev = st.st_dev, .ino = st.st_ino};
	spool->made = made;
	spool->nr_made++;
	return 0;
}

/*
 * Has a process made it that is another user by now, or in another root folder? Who can put
 * a file of the user's there, which has no other name, can write to it himself.
 */
static bool is_of_process(const struct spool *spool, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       st.st_uid == spool->uid;
}

/*
 * One that was made before. Who asks can have put anything in its place: a FIFO, on which
 * open(2) would wait, or a link to a file that is only ours to write.
 */
static int reopen_log(const struct spool *spool, const char *name)
{
	int fd = openat(spool->dir_fd, name,
			O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (has_made(spool, fd) || is_of_process(spool, fd))
		return fd;
	close(fd);
	return -EPERM;
}

int spool__make_log(struct spool *spool, uint32_t pid, uint64_t log_id,
		    const char *suffix)
{
	char name[64];
	int fd, err;

	snprintf(name, sizeof(name), "%u-%016llx%s", pid, (unsigned long long)log_id,
		 suffix);
	fd = openat(spool->dir_fd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? reopen_log(spool, name) : -errno;
	err = note_made(spool, fd);
	if (!err)
		return fd;
	close(fd);
	unlinkat(spool->dir_fd, name, 0);
	return err;
}

static void remove_all(int dir_fd, uid_t uid, unsigned int nr_above);

/*
 * A folder that a process has left there, with all in it: if it is the user's, who could do
 * so himself. He could have moved another's folder here within one of his own.
 */
static void remove_folder(int dir_fd, const char *name, uid_t uid, unsigned int nr_above)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0) {
		if (nr_above < MAX_FOLDERS && !fstat(fd, &st) && st.st_uid == uid)
			remove_all(fd, uid, nr_above + 1);
		close(fd);
	}
	unlinkat(dir_fd, name, AT_REMOVEDIR);
}

static void remove_all(int dir_fd, uid_t uid, unsigned int nr_above)
{
	struct dirent *entry;
	DIR *dir;

	/* Nobody is to put more there, without end. */
	if (fchown(dir_fd, geteuid(), (gid_t)-1))
		pr_debug("can't take back a folder of GPU records: %s", strerror(errno));
	dir = stream__open_folder(dir_fd);
	if (!dir) {
		/* Without memory: it is all that there is before a command has run. */
		unlinkat(dir_fd, GPU_LOG_JOURNAL, 0);
		return;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dir_fd, entry->d_name, 0) && errno == EISDIR)
			remove_folder(dir_fd, entry->d_name, uid, nr_above);
	closedir(dir);
}

bool spool__is_empty(const struct spool *spool)
{
	DIR *dir = stream__open_folder(spool->dir_fd);
	bool is_empty = true;
	struct dirent *entry;

	if (!dir)
		return false;
	while (is_empty && (entry = readdir(dir)))
		is_empty = !has_suffix(entry->d_name, SPOOL_LOG_SUFFIX);
	closedir(dir);
	return is_empty;
}

void spool__keep(struct spool *spool)
{
	if (!spool->path[0])
		return;
	close(spool->dir_fd);
	free(spool->made);
	spool->made = NULL;
	spool->path[0] = '\0';
}

void spool__remove(struct spool *spool)
{
	if (!spool->path[0])
		return;
	remove_all(spool->dir_fd, spool->uid, 0);
	/* Whoever has removed it knows. */
	if (rmdir(spool->path) && errno != ENOENT)
		pr_warning("can't remove %s: %s", spool->path, strerror(errno));
	close(spool->dir_fd);
	free(spool->made);
	spool->made = NULL;
	spool->path[0] = '\0';
}
