// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int config__path(const char *name, char *ret)
{
	const char *value = secure_getenv(name);

	if (!value)
		return -ENOENT;
	if (value[0] != '/' || strlen(value) >= PATH_MAX)
		return -EINVAL;
	strcpy(ret, value);
	return 0;
}

int config__read(struct config *ret)
{
	const char *session = secure_getenv("PERF_GPU_SESSION");
	const char *call_graph = secure_getenv("PERF_GPU_CALL_GRAPH");
	const char *marker = secure_getenv("PERF_GPU_MARKER");
	const char *stacks = secure_getenv("PERF_GPU_STACKS");
	char *end;
	int err;

	if (!session)
		return -ENOENT;
	errno = 0;
	ret->session = strtoull(session, &end, 16);
	if (errno || *end || strlen(session) != 16 || !ret->session)
		return -EINVAL;

	err = config__path("PERF_GPU_SPOOL", ret->spool);
	if (err)
		return err;
	err = config__path("PERF_GPU_CUPTI", ret->cupti);
	if (err && err != -ENOENT)
		return err;

	ret->unwind = !call_graph || !strcmp(call_graph, "unwind");
	ret->has_launch_log = stacks && !strcmp(stacks, "process");
	ret->has_quick_nop5 = marker && !strcmp(marker, "nop5");
	return 0;
}
