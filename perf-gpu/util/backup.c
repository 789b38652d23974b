// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/backup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/log.h"

int backup__init(const char *path, bool has_perfdata, struct backup *ret)
{
	struct backup backup = {.is_ours = {has_perfdata, true}};
	struct stat st;

	/* The longest name decides for all of them. */
	if (snprintf(backup.old_path[1], PATH_MAX, "%s.old.gpu", path) >= PATH_MAX) {
		pr_err("the output path is too long: %s", path);
		return -ENAMETOOLONG;
	}
	snprintf(backup.path[0], PATH_MAX, "%s", path);
	snprintf(backup.path[1], PATH_MAX, "%s.gpu", path);
	snprintf(backup.old_path[0], PATH_MAX, "%s.old", path);
	for (int i = 0; i < 2; i++) {
		/* /dev/null would be replaced by a file. */
		if (backup.is_ours[i] && !stat(backup.path[i], &st) &&
		    !S_ISREG(st.st_mode)) {
			pr_err("%s is not a regular file: name another output with -o",
			       backup.path[i]);
			return -EINVAL;
		}
	}
	*ret = backup;
	return 0;
}

int backup__move(struct backup *backup)
{
	for (int i = 0; i < 2; i++) {
		if (!backup->is_ours[i])
			continue;
		if (!rename(backup->path[i], backup->old_path[i])) {
			backup->is_moved[i] = true;
		} else if (errno != ENOENT) {
			int err = -errno;

			pr_err("can't rename %s to %s: %s", backup->path[i],
			       backup->old_path[i], strerror(-err));
			backup__undo(backup);
			return err;
		}
	}
	return 0;
}

void backup__undo(struct backup *backup)
{
	for (int i = 0; i < 2; i++) {
		if (!backup->is_moved[i])
			continue;
		if (rename(backup->old_path[i], backup->path[i]))
			pr_warning("%s can't get its name back, and is %s now: %s",
				   backup->path[i], backup->old_path[i], strerror(errno));
		else
			backup->is_moved[i] = false;
	}
}
