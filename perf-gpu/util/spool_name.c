// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/spool_name.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

void spool_name__split(const char *path, char ret_folder[PATH_MAX], const char **ret_name)
{
	const char *slash = strrchr(path, '/');

	if (!slash) {
		snprintf(ret_folder, PATH_MAX, ".");
		*ret_name = path;
		return;
	}
	snprintf(ret_folder, PATH_MAX, "%.*s", (int)(slash == path ? 1 : slash - path),
		 path);
	*ret_name = slash + 1;
}

bool spool_name__is_of(const char *name, const char *data_name)
{
	const size_t nr_bytes = strlen(data_name);

	return !strncmp(name, data_name, nr_bytes) &&
	       !strncmp(name + nr_bytes, SPOOL_NAME_INFIX, strlen(SPOOL_NAME_INFIX)) &&
	       strlen(name + nr_bytes) == strlen(SPOOL_NAME_SUFFIX);
}

bool spool_name__is_beside(const char *path)
{
	const struct dirent *entry;
	char folder[PATH_MAX];
	bool is_beside = false;
	const char *name;
	DIR *dir;

	spool_name__split(path, folder, &name);
	dir = opendir(folder);
	if (!dir)
		return false;
	while (!is_beside && (entry = readdir(dir)))
		is_beside = spool_name__is_of(entry->d_name, name);
	closedir(dir);
	return is_beside;
}
