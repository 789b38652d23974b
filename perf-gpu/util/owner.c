// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"
#include "util/stream.h"

/* A decimal number of an id; the last one, (uid_t)-1, is none. */
static bool read_id(const char *variable, uint32_t *ret)
{
	const char *text = secure_getenv(variable);
	unsigned long long id;
	char *end;

	if (!text || !*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	id = strtoull(text, &end, 10);
	if (errno || *end || id >= UINT32_MAX)
		return false;
	*ret = (uint32_t)id;
	return true;
}

bool owner__find(uid_t *ret_uid, gid_t *ret_gid)
{
	uint32_t uid, gid;

	if (geteuid() || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid) ||
	    !getpwuid(uid))
		return false;
	*ret_uid = uid;
	*ret_gid = gid;
	return true;
}

static void give(int fd)
{
	uid_t uid;
	gid_t gid;

	if (owner__find(&uid, &gid) && fchown(fd, uid, gid))
		pr_debug("a file can't be given to user %u: %s", (unsigned int)uid,
			 strerror(errno));
}

void owner__give(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1)
		give(fd);
}

static bool is_empty(int fd)
{
	DIR *dir = stream__open_folder(fd);
	const struct dirent *entry;
	bool is_empty = dir;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			is_empty = false;
	if (dir)
		closedir(dir);
	return is_empty;
}

void owner__give_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	/* Another may have been put in its place since. */
	if (is_empty(fd))
		give(fd);
	close(fd);
}

bool owner__is_trap(const char *path)
{
	struct stat st;

	return !geteuid() && !lstat(path, &st) && S_ISLNK(st.st_mode) && st.st_uid;
}
