// SPDX-License-Identifier: GPL-2.0-or-later
/* The injected library and the libunwind it reads unwind tables with, loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "check/check.h"
#include "check/trial.h"
#include "library.h"
#include "record/injection.h"
#include "util/paths.h"

#define INJECTED_NAME "libperf-gpu-inject.so"
#define UNWIND_NAME   "libunwind.so.8"

struct library_result {
	char libdir[PATH_MAX];
	bool is_loaded;
	bool is_own_unwind; /* beside the library, not the system's */
	bool has_unwind;
	char error[512]; /* of dlopen() or dlsym(), whichever came first */
};

static void *open_library(const char *libdir, const char *name, char *error, size_t size)
{
	char path[2 * PATH_MAX];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", libdir, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle && error)
		snprintf(error, size, "%s", dlerror());
	return handle;
}

static bool open_found(void *ret_handle, const char *path)
{
	void **handle = ret_handle;

	*handle = library__open(path);
	return *handle;
}

/* As cupti_inject/frame_rule.c opens it: two libraries, the second needs the first. */
static void try_unwind(struct library_result *result)
{
	char host[sizeof(((struct utsname *)0)->machine) + 32], step[sizeof(host)];
	const char *const names[] = {UNWIND_NAME, host};
	struct utsname machine;
	void *handle = NULL;

	uname(&machine);
	snprintf(host, sizeof(host), "libunwind-%s.so.8", machine.machine);
	snprintf(step, sizeof(step), "_U%s_step", machine.machine);
	result->is_own_unwind = true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		handle = open_library(result->libdir, names[i], NULL, 0);
		if (handle)
			continue;
		result->is_own_unwind = false;
		if (!library__search(names[i], open_found, &handle)) {
			snprintf(result->error, sizeof(result->error),
				 "%s is neither beside it nor installed", names[i]);
			return;
		}
	}
	result->has_unwind = dlsym(handle, step);
	if (!result->has_unwind)
		snprintf(result->error, sizeof(result->error), "%s", dlerror());
}

static int try_library(void *shared)
{
	struct library_result *result = shared;
	void *handle;
	int err;

	err = paths__find_libdir(result->libdir);
	if (err)
		return err;
	handle = open_library(result->libdir, INJECTED_NAME, result->error,
			      sizeof(result->error));
	if (!handle)
		return 0;
	if (!dlsym(handle, "InitializeInjection")) {
		snprintf(result->error, sizeof(result->error), "%s", dlerror());
		return 0;
	}
	result->is_loaded = true;
	try_unwind(result);
	return 0;
}

static void report_unwind(struct report *report, const struct library_result *result)
{
	if (!result->has_unwind) {
		report__line(report, VERDICT_FAIL, "libunwind",
			     "no stack can be walked: %s", result->error);
		report__mend(report,
			     "reinstall perf-gpu: " UNWIND_NAME " belongs beside %s",
			     INJECTED_NAME);
		report__mend(report, "or record with --call-graph fp");
	} else if (!result->is_own_unwind) {
		report__line(report, VERDICT_WARN, "libunwind",
			     "not beside " INJECTED_NAME ": the system's is used, where "
			     "the command can find it");
		report__mend(report, "reinstall perf-gpu");
	} else {
		report__line(report, VERDICT_OK, "libunwind", "%s/" UNWIND_NAME,
			     result->libdir);
	}
}

static int try_injection(void *library)
{
	return injection__check(library, true);
}

/* @libdir: "" if the library wasn't found */
static void report_injection(struct report *report, const char *libdir)
{
	char library[PATH_MAX + sizeof("/" INJECTED_NAME)];
	struct trial trial;

	snprintf(library, sizeof(library), "%s/" INJECTED_NAME, libdir);
	if (trial__run(try_injection, library, sizeof(library), &trial))
		report__line(report, VERDICT_OK, "environment",
			     "no other profiler is to be injected");
	else
		report__line(report, VERDICT_FAIL, "environment", "%s",
			     trial__error(&trial));
}

void check__library(struct report *report, struct check_facts *facts)
{
	struct library_result result = {};
	struct trial trial;

	if (!trial__run(try_library, &result, sizeof(result), &trial)) {
		report__line(report, VERDICT_FAIL, "library", "%s", trial__error(&trial));
	} else if (!result.is_loaded) {
		report__line(report, VERDICT_FAIL, "library", "%s", result.error);
		report__mend(report, "reinstall perf-gpu");
	} else {
		memcpy(facts->libdir, result.libdir, sizeof(facts->libdir));
		report__line(report, VERDICT_OK, "library", "%s/" INJECTED_NAME,
			     result.libdir);
		report_unwind(report, &result);
	}
	report_injection(report, facts->libdir);
}
