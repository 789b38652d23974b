// SPDX-License-Identifier: GPL-2.0-or-later
#include "cupti_table.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "record_layout.h"

/* The oldest that record_layout.h knows. Version numbers: cupti_version.h. */
#define OLDEST_VERSION CUPTI_OF_CUDA_11_0

struct search {
	struct cupti_table *table;
	char *why;
	size_t why_bytes;
	int err; /* 0: found */
	bool has_failure; /* `why` is of one that was found */
};

/*
 * There is one, but it can't be loaded: for want of memory, of a library that it needs, or
 * since it is another machine's. The first one's reason is told.
 */
static void search__note_failure(struct search *search, const char *path)
{
	/* Others are not tried, and an older error is the program's. */
	const char *error = path[0] == '/' ? dlerror() : NULL;

	/* In the language of the program, both. */
	if (!error || strstr(error, strerror(ENOENT)) || search->has_failure)
		return;
	search->has_failure = true;
	snprintf(search->why, search->why_bytes, "CUPTI can't be loaded: %s", error);
}

/* Try one that is opened. Return: the search is over. */
static bool search__try_handle(struct search *search, const char *path, void *handle)
{
	struct cupti_table *table = search->table;
	const char *missing = NULL;
	struct link_map *map;

	if (!handle) {
		search__note_failure(search, path);
		return false;
	}
#define CUPTI_REQUIRED(name)                                                    \
	table->name = (__typeof__(table->name))(uintptr_t)dlsym(handle, #name); \
	if (!table->name)                                                       \
		missing = #name;
#define CUPTI_OPTIONAL(name) \
	table->name = (__typeof__(table->name))(uintptr_t)dlsym(handle, #name);
	CUPTI_FUNCTIONS(CUPTI_REQUIRED, CUPTI_OPTIONAL)
#undef CUPTI_REQUIRED
#undef CUPTI_OPTIONAL

	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name[0])
		path = map->l_name;
	snprintf(table->path, sizeof(table->path), "%s", path);
	if (!missing && !table->cuptiGetVersion(&table->version) &&
	    table->version >= OLDEST_VERSION) {
		search->err = 0;
		return true;
	}
	search->err = -ENOTSUP;
	if (missing)
		snprintf(search->why, search->why_bytes, "%s has no %s: it is too old",
			 path, missing);
	else
		snprintf(search->why, search->why_bytes,
			 "%s is CUPTI API version %u: too old, CUDA 11.0's is needed",
			 path, table->version);
	dlclose(handle);
	return false;
}

/* Try one path. Likewise. */
static bool search__try(struct search *search, const char *path)
{
	return search__try_handle(search, path, library__open(path));
}

/* One that the process has, by whichever name */
static bool search__try_loaded(struct search *search, const char *path)
{
	return search__try_handle(search, path, dlopen(path, RTLD_NOW | RTLD_NOLOAD));
}

/* Try what a pattern matches, the highest version first. */
static bool search__glob(struct search *search, const char *pattern)
{
	bool is_over = false;
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return false;
	for (size_t i = found.gl_pathc; i-- > 0 && !is_over;)
		is_over = search__try(search, found.gl_pathv[i]);
	globfree(&found);
	return is_over;
}

/* Try PATTERN in the folder FOLDER_BYTES of PATH. */
static bool search__folder(struct search *search, const char *path, size_t folder_bytes,
			   const char *pattern)
{
	bool is_over;
	char *full;

	if (path[0] != '/' ||
	    asprintf(&full, "%.*s/%s", (int)folder_bytes, path, pattern) < 0)
		return false;
	is_over = search__glob(search, full);
	free(full);
	return is_over;
}

struct loaded {
	char cupti[PATH_MAX];
	char cudart[PATH_MAX];
	char python[PATH_MAX]; /* ".../site-packages/..." */
};

static void copy_path(char *to, const char *path)
{
	if (!*to && strlen(path) < PATH_MAX)
		memcpy(to, path, strlen(path) + 1);
}

/* dl_iterate_phdr(): which libraries of interest the process has */
static int find_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *loaded = data;
	const char *path = info->dlpi_name;
	const char *base = strrchr(path, '/');

	(void)size;
	if (!base)
		return 0;
	if (!strncmp(base, "/libcupti", 9))
		copy_path(loaded->cupti, path);
	if (!strncmp(base, "/libcudart", 10))
		copy_path(loaded->cudart, path);
	if (strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"))
		copy_path(loaded->python, path);
	return 0;
}

/* Beside the runtime that the process has, and in pip's layouts around it */
static bool search__beside(struct search *search, const struct loaded *loaded)
{
	const char *slash = strrchr(loaded->cudart, '/');
	const char *packages;
	size_t bytes;

	if (slash) {
		bytes = (size_t)(slash - loaded->cudart);
		if (search__folder(search, loaded->cudart, bytes, "libcupti.so*") ||
		    search__folder(search, loaded->cudart, bytes,
				   "../extras/CUPTI/lib64/libcupti.so*") ||
		    search__folder(search, loaded->cudart, bytes,
				   "../../cuda_cupti/lib/libcupti.so*"))
			return true;
	}
	packages = strstr(loaded->python, "-packages/");
	if (packages) {
		bytes = (size_t)(packages - loaded->python) + strlen("-packages");
		if (search__folder(search, loaded->python, bytes,
				   "nvidia/cu*/lib/libcupti.so*") ||
		    search__folder(search, loaded->python, bytes,
				   "nvidia/cuda_cupti/lib/libcupti.so*"))
			return true;
	}
	return false;
}

/* Where toolkits are installed */
static bool search__toolkits(struct search *search)
{
	static const char *const roots[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
	static const char *const places[] = {"lib64/libcupti.so*", "lib/libcupti.so*",
					     "extras/CUPTI/lib64/libcupti.so*",
					     "targets/*-linux/lib/libcupti.so*"};

	for (size_t i = 0; i <= sizeof(roots) / sizeof(*roots); i++) {
		const char *root = i < sizeof(roots) / sizeof(*roots)
					   ? secure_getenv(roots[i])
					   : "/usr/local/cuda*";

		for (size_t j = 0; root && *root && j < sizeof(places) / sizeof(*places);
		     j++) {
			if (search__folder(search, root, strlen(root), places[j]))
				return true;
		}
	}
	return false;
}

static bool try_found(void *search, const char *path)
{
	return search__try(search, path);
}

/* By the names it has, where the dynamic linker looks (LD_LIBRARY_PATH, cache) */
static bool search__linker(struct search *search)
{
	static const char *const names[] = {"libcupti.so.13",	"libcupti.so.12",
					    "libcupti.so.11.8", "libcupti.so.11.7",
					    "libcupti.so.11.6", "libcupti.so.11.5",
					    "libcupti.so.11.4", "libcupti.so.11.3",
					    "libcupti.so.11.2", "libcupti.so.11.1",
					    "libcupti.so.11.0", "libcupti.so"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (library__search(names[i], try_found, search))
			return true;
	}
	return false;
}

int cupti_table__open(const char *wanted, struct cupti_table *ret, char *why,
		      size_t why_bytes)
{
	static struct loaded loaded; /* the stack of who launches first may be small */
	struct search search = {.table = ret, .why = why, .why_bytes = why_bytes};

	search.err = -ENOENT;
	if (*wanted) {
		snprintf(why, why_bytes, "PERF_GPU_CUPTI=%s cannot be loaded", wanted);
		search__try(&search, wanted);
		return search.err;
	}
	snprintf(
		why, why_bytes,
		"no libcupti.so found beside libcudart, in LD_LIBRARY_PATH, ld.so.cache, "
		"CUDA_HOME or /usr/local/cuda*: install CUPTI (it is part of the CUDA "
		"toolkit, and pip's nvidia-cuda-cupti), or set PERF_GPU_CUPTI to its "
		"path");
	dl_iterate_phdr(find_loaded, &loaded);
	/* One that is loaded comes first: there can't be two in a process. */
	if ((loaded.cupti[0] && search__try_loaded(&search, loaded.cupti)) ||
	    search__beside(&search, &loaded) || search__linker(&search) ||
	    search__toolkits(&search))
		return 0;
	return search.err;
}

int cupti_table__open_loaded(struct cupti_table *ret, char *why, size_t why_bytes)
{
	static struct loaded loaded; /* as above */
	struct search search = {.table = ret, .why = why, .why_bytes = why_bytes};

	loaded.cupti[0] = '\0';
	search.err = -ENOENT;
	dl_iterate_phdr(find_loaded, &loaded);
	if (loaded.cupti[0])
		search__try_loaded(&search, loaded.cupti);
	return search.err;
}

const char *cupti_table__error(const struct cupti_table *cupti, CUptiResult result)
{
	const char *text = NULL;

	if (cupti->cuptiGetResultString(result, &text) || !text)
		return "unknown error";
	return text;
}
