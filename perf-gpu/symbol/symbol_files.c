// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbol_files.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"

/* libdwfl's default: beside the file, in .debug/ beside it, in the system's place */
#define DEBUG_PATH ":.debug:/usr/lib/debug"

struct recorded_file {
	const char *path; /* first: key */
	struct build_id id;
};

struct symbol_files {
	char *root; /* what recorded paths are put behind; "" for / */
	char *cache; /* perf's, of files by build id; NULL: there is none */
	char *debug_path; /* where libdwfl looks for debug files */
	void *recorded; /* tree of tsearch(3) */
	bool has_origin;
	struct perf_map_origin origin; /* of perf maps */
	size_t nr_stale;
};

static int recorded_file__compare(const void *a, const void *b)
{
	const struct recorded_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static char *format_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* asprintf(3), but NULL without memory. */
static char *format_path(const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	return path;
}

/* As perf does, which tells commands that it runs by PERF_BUILDID_DIR. */
static int symbol_files__find_cache(struct symbol_files *files, const char *symfs)
{
	const char *directory = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");

	if (symfs)
		files->cache = format_path("%s/.debug", symfs);
	else if (directory && *directory)
		files->cache = strdup(directory);
	else if (home && *home)
		files->cache = format_path("%s/.debug", home);
	else
		return 0;
	return files->cache ? 0 : -ENOMEM;
}

/* Relative ones libdwfl takes for folders beside the file. */
static int symbol_files__set_debug_path(struct symbol_files *files, const char *symfs)
{
	char *absolute = symfs ? realpath(symfs, NULL) : NULL;

	files->debug_path =
		absolute ? format_path(DEBUG_PATH ":%s/usr/lib/debug", absolute)
			 : strdup(DEBUG_PATH);
	free(absolute);
	return files->debug_path ? 0 : -ENOMEM;
}

int symbol_files__new(const char *symfs, struct symbol_files **ret)
{
	struct symbol_files *files = calloc(1, sizeof(*files));

	/* perf lets an empty one pass, too. */
	if (symfs && !*symfs)
		symfs = NULL;
	if (!files || symbol_files__find_cache(files, symfs))
		goto out;
	files->root = strdup(symfs ? symfs : "");
	if (!files->root || symbol_files__set_debug_path(files, symfs))
		goto out;
	*ret = files;
	return 0;
out:
	symbol_files__delete(files);
	return -ENOMEM;
}

void symbol_files__delete(struct symbol_files *files)
{
	if (!files)
		return;
	tdestroy(files->recorded, free);
	free(files->debug_path);
	free(files->cache);
	free(files->root);
	free(files);
}

static struct recorded_file *symbol_files__find(const struct symbol_files *files,
						const char *path)
{
	struct recorded_file key = {.path = path};
	struct recorded_file **found;

	found = tfind(&key, &files->recorded, recorded_file__compare);
	return found ? *found : NULL;
}

int symbol_files__set_build_id(struct symbol_files *files, const char *path,
			       const struct build_id *id)
{
	struct recorded_file *file = symbol_files__find(files, path);

	if (file) {
		file->id = *id;
		return 0;
	}
	file = calloc(1, sizeof(*file) + strlen(path) + 1);
	if (!file)
		return -ENOMEM;
	file->path = strcpy((char *)(file + 1), path);
	file->id = *id;
	if (!tsearch(file, &files->recorded, recorded_file__compare)) {
		free(file);
		return -ENOMEM;
	}
	return 0;
}

struct build_id symbol_files__build_id(const struct symbol_files *files, const char *path)
{
	const struct recorded_file *file = symbol_files__find(files, path);

	return file ? file->id : (struct build_id){0};
}

/* Consumes @path, which is NULL if there was no memory for it. */
static int symbol_files__try(const struct symbol_files *files, char *path,
			     const struct build_id *id, struct elf_symbols **ret)
{
	int err = path ? elf_symbols__open(path, id, files->debug_path, ret) : -ENOMEM;

	free(path);
	return err;
}

static int symbol_files__try_build_id(const struct symbol_files *files, const char *name,
				      const struct build_id *id, struct elf_symbols **ret)
{
	char text[BUILD_ID_TEXT_BYTES];
	int err = -ENOENT;

	build_id__format(id, text);
	if (files->cache)
		err = symbol_files__try(files,
					format_path("%s/.build-id/%.2s/%s/%s",
						    files->cache, text, text + 2, name),
					id, ret);
	if (err)
		err = symbol_files__try(
			files,
			format_path("%s/usr/lib/debug/.build-id/%.2s/%s.debug",
				    files->root, text, text + 2),
			id, ret);
	return err;
}

static void symbol_files__warn(struct symbol_files *files, const char *path,
			       const struct build_id *id)
{
	bool is_vdso = *path != '/';
	char text[BUILD_ID_TEXT_BYTES];

	if (++files->nr_stale > SYMBOL_FILES_MAX_WARNINGS)
		return;
	pr_warning("%s%s is not the one that was recorded, whose build id is %s: its "
		   "functions are [unknown]. %s, or record again",
		   is_vdso ? "this kernel's " : files->root, path,
		   build_id__format(id, text),
		   is_vdso ? "Look at the recording on the machine it was made on"
			   : "Give the folder that has the recorded files to --symfs");
}

int symbol_files__open(struct symbol_files *files, const char *path,
		       const struct build_id *id, struct elf_symbols **ret)
{
	bool is_vdso = *path != '/';
	int err;

	if (is_vdso)
		err = elf_symbols__open_vdso(id, files->debug_path, ret);
	else
		err = symbol_files__try(files, format_path("%s%s", files->root, path), id,
					ret);
	if (!err || !id->nr_bytes)
		return err;
	if (!symbol_files__try_build_id(files, is_vdso ? "vdso" : "elf", id, ret))
		return 0;
	if (err == -ESTALE)
		symbol_files__warn(files, path, id);
	return err;
}

void symbol_files__set_origin(struct symbol_files *files,
			      const struct perf_map_origin *origin)
{
	files->has_origin = true;
	files->origin = *origin;
}

int symbol_files__open_perf_map(const struct symbol_files *files, const char *path,
				struct perf_map **ret)
{
	if (!files->has_origin)
		return -ENOENT;
	return perf_map__open(path, &files->origin, ret);
}

size_t symbol_files__nr_stale(const struct symbol_files *files)
{
	return files->nr_stale;
}
