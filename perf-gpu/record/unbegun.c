// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/unbegun.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/control.h"
#include "util/log.h"
#include "util/spool_name.h"

/* A recorder makes the file, and then the spool: no longer before that */
#define MAX_BEFORE_S 10

#define NR_RANDOM 6 /* letters and digits of mkstemp(3) */

static bool is_expected(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") ||
	       !strcmp(name, CONTROL_PAGE_NAME);
}

bool unbegun__is_spool(const struct spool *spool)
{
	int fd = openat(spool->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool is_bare = dir;
	struct dirent *entry;

	while (is_bare && (entry = readdir(dir)))
		is_bare = is_expected(entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return is_bare;
}

/* Is it the name of an unfinished file that is to be called @data_name? */
static bool is_unfinished(const char *name, const char *data_name)
{
	const size_t nr_bytes = strlen(data_name);

	if (strncmp(name, data_name, nr_bytes) != 0 || name[nr_bytes] != '.' ||
	    strlen(name + nr_bytes + 1) != NR_RANDOM)
		return false;
	for (const char *at = name + nr_bytes + 1; *at; at++)
		if (!isalnum((unsigned char)*at))
			return false;
	return true;
}

/* Empty, of this user, and made just before the spool: by nobody else, then */
static void remove_empty_file(int folder_fd, const char *name, time_t spool_s)
{
	struct stat st;

	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_nlink != 1 || st.st_size ||
	    st.st_mtim.tv_sec > spool_s || st.st_mtim.tv_sec < spool_s - MAX_BEFORE_S)
		return;
	unlinkat(folder_fd, name, 0);
}

static void remove_empty_files(int folder_fd, const char *data_name, time_t spool_s)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_unfinished(entry->d_name, data_name))
			remove_empty_file(folder_fd, entry->d_name, spool_s);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* Return: was it one, and is it gone? */
static bool remove_one(const char *folder, int folder_fd, const char *name,
		       const char *data_name)
{
	char path[2 * PATH_MAX];
	struct spool spool;
	struct stat st;
	bool is_gone;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (spool__open(path, &spool))
		return false;
	is_gone = unbegun__is_spool(&spool) && !fstat(spool.dir_fd, &st);
	if (is_gone) {
		unlinkat(spool.dir_fd, CONTROL_PAGE_NAME, 0);
		is_gone = !unlinkat(folder_fd, name, AT_REMOVEDIR);
	}
	close(spool.dir_fd);
	if (!is_gone)
		return false;
	remove_empty_files(folder_fd, data_name, st.st_mtim.tv_sec);
	pr_warning("%s, of a recorder that has ended before it recorded anything, is "
		   "removed",
		   !strcmp(folder, ".") ? name : path);
	return true;
}

unsigned int unbegun__remove(const char *path)
{
	unsigned int nr = 0;
	char folder[PATH_MAX];
	struct dirent *entry;
	const char *name;
	DIR *dir;

	spool_name__split(path, folder, &name);
	dir = opendir(folder);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		if (spool_name__is_of(entry->d_name, name))
			nr += remove_one(folder, dirfd(dir), entry->d_name, name);
	closedir(dir);
	return nr;
}
