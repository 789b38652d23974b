// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/file_limit.h"

#include <sys/resource.h>

void file_limit__raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
