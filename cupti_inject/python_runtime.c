// SPDX-License-Identifier: GPL-2.0-or-later
#include "python_runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "readable.h"

/* How many objects the process has ever loaded, of which the last look knew */
static unsigned long long nr_loads;

static int get_nr_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned long long *)data = info->dlpi_adds;
	return 1; /* each of them says it */
}

/* File names of libpython, as they are loaded */
struct files {
	char *names[PYTHON_MAX_RUNTIMES];
	size_t nr;
};

static int add_file(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct files *files = data;

	(void)size;
	if (files->nr < PYTHON_MAX_RUNTIMES &&
	    !strncmp(slash ? slash + 1 : info->dlpi_name, "libpython", 9)) {
		files->names[files->nr] = strdup(info->dlpi_name);
		if (files->names[files->nr])
			files->nr++;
	}
	return 0;
}

static int runtime__find_loop(struct python_runtime *runtime, void *handle)
{
	void *start = dlsym(handle, "_PyEval_EvalFrameDefault");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!start || !dladdr1(start, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return -1;
	runtime->loop_start = (uintptr_t)start;
	runtime->loop_end = (uintptr_t)start + symbol->st_size;
	return 0;
}

static const void *debug_offsets(void *handle)
{
	const void *offsets = dlsym(handle, "_PyRuntime");
	struct readable readable = readable__begin();

	return readable__check(&readable, (uintptr_t)offsets, PYTHON_DEBUG_OFFSETS_BYTES)
		       ? offsets
		       : NULL;
}

/* An object's type is where the layout says, if that is right for a type itself. */
static bool has_type(const struct python_layout *layout, uintptr_t object, void *type)
{
	uintptr_t found;

	memcpy(&found, (const void *)(object + layout->object_type), sizeof(found));
	return type && found == (uintptr_t)type;
}

/* 0, or -1 if there is no interpreter in HANDLE, or one that can't be walked. */
static int runtime__init(struct python_runtime *runtime, struct log *log, void *handle)
{
	const char *(*get_version)(void);
	struct python_types *types = &runtime->types;
	void *type = dlsym(handle, "PyType_Type");
	const char *version;

	*(void **)&runtime->thread_state = dlsym(handle, "PyGILState_GetThisThreadState");
	*(void **)&get_version = dlsym(handle, "Py_GetVersion");
	types->code = (uintptr_t)dlsym(handle, "PyCode_Type");
	types->string = (uintptr_t)dlsym(handle, "PyUnicode_Type");
	types->bytes = (uintptr_t)dlsym(handle, "PyBytes_Type");
	if (!runtime->thread_state || !get_version || !types->code || !types->string ||
	    !types->bytes || runtime__find_loop(runtime, handle))
		return -1;
	version = get_version();
	if (python_layout__of(version, debug_offsets(handle), &runtime->layout) ||
	    !has_type(&runtime->layout, types->code, type)) {
		log__message(log, GPU_LOG_WARNING,
			     "Python %.*s: perf-gpu doesn't know how this version or "
			     "build keeps its frames (3.8 to 3.14 are known): no Python "
			     "functions; try --python=trampoline with 3.12 or later",
			     (int)strcspn(version, " "), version);
		return -1;
	}
	return 0;
}

/* Takes HANDLE. How many there are now. */
static size_t add_runtime(struct log *log, struct python_runtime *runtimes, size_t nr,
			  void *handle)
{
	void *thread_state =
		handle ? dlsym(handle, "PyGILState_GetThisThreadState") : NULL;
	bool is_new = thread_state && nr < PYTHON_MAX_RUNTIMES;

	for (size_t i = 0; i < nr; i++)
		is_new &= (void *)runtimes[i].thread_state != thread_state;
	if (is_new && !runtime__init(&runtimes[nr], log, handle))
		return nr + 1;
	if (handle)
		dlclose(handle);
	return nr;
}

size_t python_runtimes__look(struct log *log,
			     struct python_runtime runtimes[PYTHON_MAX_RUNTIMES],
			     size_t nr)
{
	unsigned long long nr_loads_now = 0;
	struct files files = {};

	dl_iterate_phdr(get_nr_loads, &nr_loads_now);
	if (nr_loads_now == nr_loads)
		return nr;
	nr_loads = nr_loads_now;
	/* What all of the program sees; then libraries that only some of it does */
	nr = add_runtime(log, runtimes, nr, dlopen(NULL, RTLD_LAZY));
	dl_iterate_phdr(add_file, &files);
	for (size_t i = 0; i < files.nr; i++) {
		nr = add_runtime(log, runtimes, nr,
				 dlopen(files.names[i], RTLD_LAZY | RTLD_NOLOAD));
		free(files.names[i]);
	}
	return nr;
}
