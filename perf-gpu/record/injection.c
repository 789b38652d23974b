// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/injection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holder.h"
#include "util/log.h"

#define INJECTED_NAME "libperf-gpu-inject.so"

static const char *const call_graph_names[] = {
	[CALL_GRAPH_UNWIND] = "unwind",
	[CALL_GRAPH_FP] = "fp",
	[CALL_GRAPH_DWARF] = "dwarf",
};

bool injection__is_ours(const char *library)
{
	const char *slash = strrchr(library, '/');

	return !strcmp(slash ? slash + 1 : library, INJECTED_NAME);
}

/* In the environment; NULL: none, or ours */
static const char *other_library(void)
{
	const char *other = getenv(INJECTION_VARIABLE);

	return other && *other && !injection__is_ours(other) ? other : NULL;
}

bool injection__is_taken(void)
{
	return other_library();
}

int injection__check(const char *library, bool is_needed)
{
	const char *other = getenv(INJECTION_VARIABLE);
	const struct holder_library *known;
	char owner[128] = "another profiler";

	if (!other || !*other || !strcmp(other, library))
		return 0;
	known = holder__of_library(other);
	if (known)
		snprintf(owner, sizeof(owner), "%s", known->holder);
	if (is_needed)
		pr_err(INJECTION_VARIABLE " is set to %s: %s has the only place that "
					  "CUDA has for one; unset "
					  "it, or use record --probe api",
		       other, owner);
	else
		pr_warning(
			INJECTION_VARIABLE
			" is set to %s, which stays: %s has the only place that CUDA "
			"has for one; the stacks of launches are recorded, not what the "
			"GPU did",
			other, owner);
	return -EBUSY;
}

const char *injection__next_nvtx(const char *library)
{
	const char *next = getenv(INJECTION_NVTX_VARIABLE);

	/* A recorder within another: what is next for that one is for this. */
	if (next && !strcmp(next, library))
		next = getenv(INJECTION_NVTX_NEXT_VARIABLE);
	return next && *next ? next : NULL;
}

static __attribute__((format(printf, 2, 3))) int add(struct injection *injection,
						     const char *fmt, ...)
{
	char **variable = injection->environment;
	va_list args;
	int nr;

	while (*variable)
		variable++;
	va_start(args, fmt);
	nr = vasprintf(variable, fmt, args);
	va_end(args);
	if (nr >= 0)
		return 0;
	*variable = NULL;
	return -ENOMEM;
}

/* The library is what NVTX loads, too. */
static int add_nvtx(struct injection *injection, const char *library)
{
	const char *next = injection__next_nvtx(library);
	int err = add(injection, INJECTION_NVTX_VARIABLE "=%s", library);

	if (next)
		err |= add(injection, INJECTION_NVTX_NEXT_VARIABLE "=%s", next);
	return err;
}

static int add_all(struct injection *injection, const struct injection_config *config)
{
	int err = 0;

	if (config->python == PYTHON_TRAMPOLINE)
		err |= add(injection, "PYTHONPERFSUPPORT=1");
	if (!config->library)
		return err ? -ENOMEM : 0;
	err |= add(injection, INJECTION_VARIABLE "=%s", config->library);
	err |= add(injection, "PERF_GPU_SPOOL=%s", config->spool);
	if (*config->log_server)
		err |= add(injection, "PERF_GPU_LOG_SERVER=%s", config->log_server);
	if (config->control)
		err |= add(injection, "PERF_GPU_CONTROL=%s", config->control);
	err |= add(injection, "PERF_GPU_SESSION=%016llx",
		   (unsigned long long)config->session);
	err |= add(injection, "PERF_GPU_EVENTS=%x%s", config->events,
		   config->records_nvtx ? ",nvtx" : "");
	if (config->records_nvtx)
		err |= add_nvtx(injection, config->library);
	err |= add(injection, "PERF_GPU_CALL_GRAPH=%s",
		   call_graph_names[config->call_graph]);
	err |= add(injection, "PERF_GPU_PROBE=%s",
		   config->is_api_probed ? "api" : "marker");
	if (config->has_capture_range)
		err |= add(injection, "PERF_GPU_CAPTURE_RANGE=cudaProfilerApi");
	if (config->shares)
		err |= add(injection, "PERF_GPU_SHARE=1");
	err |= add(injection, "PERF_GPU_PYTHON=%s",
		   config->python == PYTHON_WALK ? "walk" : "off");
	if (config->max_frames)
		err |= add(injection, "PERF_GPU_MAX_STACK=%u", config->max_frames);
	err |= add(injection, "PERF_GPU_MARKER=%s",
		   config->has_quick_nop5 ? "nop5" : "nop1");
	err |= add(injection, "PERF_GPU_STACKS=%s",
		   config->has_launch_log ? "process" : "uprobe");
	return err ? -ENOMEM : 0;
}

int injection__init(const struct injection_config *config, struct injection *ret)
{
	struct injection injection = {};
	int err = add_all(&injection, config);

	if (err) {
		pr_err("no memory for the command's environment");
		injection__release(&injection);
		return err;
	}
	*ret = injection;
	return 0;
}

void injection__release(struct injection *injection)
{
	for (size_t i = 0; i < INJECTION_MAX_VARIABLES; i++) {
		free(injection->environment[i]);
		injection->environment[i] = NULL;
	}
}
