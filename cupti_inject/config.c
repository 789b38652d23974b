// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "stack.h"

/* Where variables are: "NAME=value" strings, or NULL: the environment */
struct source {
	const char *text;
	size_t bytes;
};

static const char *source__get(const struct source *source, const char *name)
{
	const size_t nr = strlen(name);
	const char *end;

	if (!source->text)
		return secure_getenv(name);
	end = source->text + source->bytes;
	for (const char *at = source->text; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, nr) && at[nr] == '=')
			return at + nr + 1;
	return NULL;
}

static int read_path(const char *value, char *ret)
{
	if (!value)
		return -ENOENT;
	if (value[0] != '/' || strlen(value) >= PATH_MAX)
		return -EINVAL;
	memcpy(ret, value, strlen(value) + 1);
	return 0;
}

/* One that may be missing */
static int read_optional_path(const char *value, char *ret)
{
	*ret = '\0';
	return value ? read_path(value, ret) : 0;
}

/* 1 to STACK_MAX_FRAMES, which is also what nonsense is taken for */
static size_t read_max_frames(const char *value)
{
	unsigned long nr = value ? strtoul(value, NULL, 10) : STACK_MAX_FRAMES;

	return nr >= 1 && nr <= STACK_MAX_FRAMES ? nr : STACK_MAX_FRAMES;
}

/* PERF_GPU_EVENTS; 0 or -EINVAL */
static int read_events(const char *value, uint32_t *ret_events, uint32_t *ret_kinds)
{
	char *end = NULL;
	unsigned long events = value ? strtoul(value, &end, 16) : GPU_LOG_DEFAULT_EVENTS;

	if (events >= GPU_LOG_EVENT_BIT(GPU_LOG_NR_EVENTS))
		return -EINVAL;
	*ret_events = (uint32_t)events;
	*ret_kinds = gpu_log_kinds_of(*ret_events);
	if (end && !strcmp(end, ",nvtx"))
		*ret_kinds |= GPU_LOG_KIND_BIT(GPU_LOG_KIND_NVTX);
	else if (end && *end)
		return -EINVAL;
	return 0;
}

static int read_config(const struct source *source, struct config *ret)
{
	const char *session = source__get(source, "PERF_GPU_SESSION");
	const char *call_graph = source__get(source, "PERF_GPU_CALL_GRAPH");
	const char *marker = source__get(source, "PERF_GPU_MARKER");
	const char *python = source__get(source, "PERF_GPU_PYTHON");
	const char *probe = source__get(source, "PERF_GPU_PROBE");
	const char *stacks = source__get(source, "PERF_GPU_STACKS");
	const char *log_server = source__get(source, "PERF_GPU_LOG_SERVER");
	const char *share = source__get(source, "PERF_GPU_SHARE");
	const char *range = source__get(source, "PERF_GPU_CAPTURE_RANGE");
	char *end;
	int err;

	if (!session)
		return -ENOENT;
	errno = 0;
	ret->session = strtoull(session, &end, 16);
	if (errno || *end || strlen(session) != 16 || !ret->session)
		return -EINVAL;

	err = read_path(source__get(source, "PERF_GPU_SPOOL"), ret->spool);
	if (!err)
		err = read_events(source__get(source, "PERF_GPU_EVENTS"), &ret->events,
				  &ret->kinds);
	if (!err)
		err = read_optional_path(source__get(source, "PERF_GPU_CONTROL"),
					 ret->control);
	/* Where the process finds CUPTI is no business of who attaches to it. */
	if (!err)
		err = read_optional_path(secure_getenv("PERF_GPU_CUPTI"), ret->cupti);
	if (err)
		return err;

	snprintf(ret->log_server, sizeof(ret->log_server), "%s",
		 log_server ? log_server : "");
	ret->unwind = !call_graph || !strcmp(call_graph, "unwind");
	ret->max_frames = read_max_frames(source__get(source, "PERF_GPU_MAX_STACK"));
	ret->walk_python = ret->unwind && (!python || !strcmp(python, "walk"));
	ret->has_capture_range = range && !strcmp(range, "cudaProfilerApi");
	ret->shares = share && !strcmp(share, "1");
	ret->is_api_probed = probe && !strcmp(probe, "api");
	ret->has_launch_log = stacks && !strcmp(stacks, "process");
	ret->has_quick_nop5 = marker && !strcmp(marker, "nop5");
	return 0;
}

int config__read(struct config *ret)
{
	const struct source source = {};

	return read_config(&source, ret);
}

int config__parse(const char *text, size_t bytes, struct config *ret)
{
	const struct source source = {.text = text, .bytes = bytes};

	return read_config(&source, ret);
}

bool config__may_want_nvtx(void)
{
	const char *events = secure_getenv("PERF_GPU_EVENTS");
	uint32_t asked_for, kinds;

	if (!secure_getenv("PERF_GPU_SESSION"))
		return config__waits();
	return events && !read_events(events, &asked_for, &kinds) &&
	       (kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_NVTX));
}

bool config__waits(void)
{
	const char *wait = secure_getenv("PERF_GPU_WAIT");

	return wait && !strcmp(wait, "1");
}
