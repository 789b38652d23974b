// SPDX-License-Identifier: GPL-2.0-or-later
#include "nvtx.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "elf_variable.h"
#include "marker.h"
#include "no_cancel.h"
#include "nvtx_functions.h"
#include "nvtx_open.h"

#define PATH_VARIABLE "NVTX_INJECTION64_PATH"
#define NEXT_VARIABLE "PERF_GPU_NVTX_NEXT"

/* For the copies of NVTX in the program; by its name, and that of its extensions */
EXPORT int InitializeInjectionNvtx2(nvtx_get_table *get_table);
EXPORT int InitializeInjectionNvtxExtension(void *module);

/* Of changing what the next tool has; a copy of NVTX is taken over by any thread. */
static pthread_mutex_t next_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool has_next;
static atomic_bool is_taken_over; /* a copy of NVTX, at least */
static atomic_bool has_left_slots; /* to the next tool alone */

/* --- taking a copy of NVTX over ------------------------------------------------------------ */

/* A module's table in one copy of NVTX, and what was in it at first */
struct table {
	nvtx_function ***places;
	unsigned int nr;
	nvtx_function *const *ours;
	_Atomic(nvtx_function *) *next;
	nvtx_function *before[NVTX_ABI_CORE2_SIZE];
};

static void table__open(struct table *table, nvtx_get_table *get_table, uint32_t module,
			nvtx_function *const *ours, _Atomic(nvtx_function *) *next,
			unsigned int nr)
{
	const struct nvtx_callbacks *callbacks = get_table(NVTX_ABI_TABLE_CALLBACKS);

	*table = (struct table){.ours = ours, .next = next};
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) ||
	    !callbacks->get_table(module, &table->places, &table->nr) || !table->places)
		table->nr = 0;
	if (table->nr > nr)
		table->nr = nr;
	for (unsigned int i = 0; i < table->nr; i++)
		table->before[i] = table->places[i] ? *table->places[i] : NULL;
}

/*
 * Our functions can't tell which copy of NVTX has called them. The next tool gives each
 * the same functions, or else has those that differ to itself. With next_mutex.
 */
static void take_slot(struct table *table, unsigned int i, bool is_first)
{
	nvtx_function **place = table->places[i];
	nvtx_function *theirs;

	if (!place || !table->ours[i])
		return;
	theirs = *place == table->before[i] ? NULL : *place;
	if (is_first)
		atomic_store(&table->next[i], theirs);
	if (atomic_load(&table->next[i]) == theirs)
		*place = table->ours[i];
	else
		atomic_store(&has_left_slots, true);
}

static void table__take(struct table *table, bool has_tool, bool is_first)
{
	for (unsigned int i = 0; i < table->nr; i++) {
		/* What a tool leaves behind that then refuses is void. */
		if (!has_tool && table->places[i])
			*table->places[i] = table->before[i];
		take_slot(table, i, is_first);
	}
}

/*
 * The tool that is linked into the object that this function is of, or NULL. NVTX's
 * header hides the variable, so that it is a matter of the symbol table.
 */
static nvtx_initialize *linked_tool(nvtx_get_table *get_table)
{
	int cancel_state = no_cancel__begin();
	nvtx_initialize **tool = elf_variable__find(
		(const void *)get_table, "InitializeInjectionNvtx2_fnptr", sizeof(*tool));
	Dl_info info;

	no_cancel__end(cancel_state);
	/* Code, at least: of whichever object */
	return tool && *tool && dladdr((const void *)*tool, &info) ? *tool : NULL;
}

/* As NVTX would do it without us: is there another tool, and has it taken its place? */
static bool initialize_next(nvtx_get_table *get_table)
{
	const char *path = secure_getenv(NEXT_VARIABLE);
	nvtx_initialize *initialize = NULL;
	void *library = NULL;

	if (path && *path)
		library = dlopen(path, RTLD_LAZY);
	else
		initialize = linked_tool(get_table);
	if (library)
		initialize =
			(nvtx_initialize *)dlsym(library, "InitializeInjectionNvtx2");
	if (initialize && initialize != InitializeInjectionNvtx2)
		return initialize(get_table);
	if (library)
		dlclose(library);
	return false;
}

/* In a child, nobody holds it. */
static void on_fork(void)
{
	next_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void begin(void)
{
	pthread_atfork(NULL, NULL, on_fork);
	nvtx_functions__follow();
}

static int take_over(nvtx_get_table *get_table)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct table core, core2;
	bool has_tool;

	pthread_once(&once, begin);
	table__open(&core, get_table, NVTX_ABI_MODULE_CORE, nvtx_functions_core,
		    nvtx_functions_next_core, NVTX_ABI_CORE_SIZE);
	table__open(&core2, get_table, NVTX_ABI_MODULE_CORE2, nvtx_functions_core2,
		    nvtx_functions_next_core2, NVTX_ABI_CORE2_SIZE);
	has_tool = initialize_next(get_table);
	pthread_mutex_lock(&next_mutex);
	table__take(&core, has_tool, !has_next);
	table__take(&core2, has_tool, !has_next);
	has_next = true;
	pthread_mutex_unlock(&next_mutex);
	atomic_store(&is_taken_over, true);
	return 1;
}

int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	int saved_errno = errno;
	int ret;

	if (config__may_want_nvtx())
		ret = take_over(get_table);
	else
		ret = initialize_next(get_table);
	errno = saved_errno;
	return ret;
}

/* NVTX's extensions (payloads, counters, memory) are the next tool's alone. */
int InitializeInjectionNvtxExtension(void *module)
{
	const char *path = secure_getenv(NEXT_VARIABLE);
	int saved_errno = errno, ret = 0;
	int (*initialize)(void *) = NULL;
	void *library = NULL;

	if (path && *path)
		library = dlopen(path, RTLD_LAZY);
	if (library)
		initialize = (int (*)(void *))dlsym(library,
						    "InitializeInjectionNvtxExtension");
	if (initialize && initialize != InitializeInjectionNvtxExtension)
		ret = initialize(module);
	else if (library)
		dlclose(library);
	errno = saved_errno;
	return ret;
}

/* --- recording ------------------------------------------------------------------------------ */

static bool is_this_library(const char *path)
{
	struct stat theirs, ours;
	Dl_info info;

	return dladdr((void *)InitializeInjectionNvtx2, &info) && info.dli_fname &&
	       (!strcmp(path, info.dli_fname) ||
		(!stat(path, &theirs) && !stat(info.dli_fname, &ours) &&
		 theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino));
}

/* Once for a log: why there are no ranges, if it is known that there can't be any. */
static void tell_of_absence(struct log *log)
{
	static uint64_t told_log;
	const char *path = getenv(PATH_VARIABLE);

	if (told_log == log__id(log))
		return;
	told_log = log__id(log);
	if (atomic_load(&has_left_slots))
		log__message(log, GPU_LOG_WARNING,
			     "another NVTX tool has a library's NVTX to itself: its "
			     "ranges are not recorded");
	if (atomic_load(&is_taken_over))
		return;
	if (!path)
		log__message(log, GPU_LOG_WARNING,
			     PATH_VARIABLE " is not set in this process: its NVTX ranges "
					   "are not recorded; start it with 'perf-gpu "
					   "wait'");
	else if (!is_this_library(path))
		log__message(log, GPU_LOG_WARNING,
			     "the program has set " PATH_VARIABLE " to %s: its NVTX "
			     "ranges are not recorded",
			     path);
}

void nvtx__switch(struct log *log, bool on)
{
	if (!on) {
		nvtx_open__stop();
		return;
	}
	tell_of_absence(log);
	nvtx_open__record(log);
}
