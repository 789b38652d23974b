// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "gpu_log.h"
#include "log_client.h"

bool recorder__is_dead(const char *spool)
{
	static char path[PATH_MAX + sizeof(GPU_LOG_JOURNAL)]; /* stacks may be small */
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	bool is_dead;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", spool, GPU_LOG_JOURNAL);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return log_client__is_gone();
	is_dead = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK;
	close(fd);
	return is_dead;
}
