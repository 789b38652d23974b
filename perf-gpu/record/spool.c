// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

int spool__create(const char *sidecar_path, struct spool *ret)
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
		rmdir(template);
		return err;
	}
	return 0;
}

void spool__remove(struct spool *spool)
{
	struct dirent *entry;
	DIR *dir;

	dir = opendir(spool->path);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (rmdir(spool->path))
		pr_warning("can't remove %s: %s", spool->path, strerror(errno));
}
