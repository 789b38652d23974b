// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/symbol_files.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/debuginfod.h"
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
	const struct symbol_store *store; /* NULL: there is none */
	struct debuginfod *debuginfod;
	bool has_origin;
	struct perf_map_origin origin; /* of perf maps */
	size_t nr_stale;
	struct log_limit unread;
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
	if (!files->root || symbol_files__set_debug_path(files, symfs) ||
	    debuginfod__new(&files->debuginfod))
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
	debuginfod__delete(files->debuginfod);
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
	const size_t path_bytes = strlen(path) + 1;

	if (file) {
		file->id = *id;
		return 0;
	}
	file = calloc(1, sizeof(*file) + path_bytes);
	if (!file)
		return -ENOMEM;
	file->path = memcpy(file + 1, path, path_bytes);
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

/* Is there none, or is it no ELF file? Of such nothing is said, as perf does. */
static bool is_no_wonder(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EINVAL;
}

/* What to tell of two places that had no file; 0 if the second one has it. */
static int reason(int first, int second)
{
	return !second || is_no_wonder(first) ? second : first;
}

/* Of what is kept by build id, another build is no other than none. */
static int is_there(int err)
{
	return err == -ESTALE ? -ENOENT : err;
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
		err = reason(
			err,
			symbol_files__try(
				files,
				format_path("%s/usr/lib/debug/.build-id/%.2s/%s.debug",
					    files->root, text, text + 2),
				id, ret));
	return err;
}

void symbol_files__set_store(struct symbol_files *files, const struct symbol_store *store)
{
	files->store = store;
}

/* -ENOENT: it is not there */
static int symbol_files__try_store(const struct symbol_files *files, const char *path,
				   const struct build_id *id, struct elf_symbols **ret)
{
	const struct symbol_store *store = files->store;
	int fd;

	fd = symbol_store__find_id(
		store, *path == '/' ? SYMBOL_STORE_ELF : SYMBOL_STORE_VDSO, id);
	if (fd < 0)
		fd = symbol_store__find_path(store, path);
	if (fd < 0)
		return -ENOENT;
	return elf_symbols__open_stored(
		fd, symbol_store__find_id(store, SYMBOL_STORE_DEBUG, id), path, id, ret);
}

static int symbol_files__try_server(struct symbol_files *files, enum debuginfod_kind kind,
				    const char *path, const struct build_id *id,
				    struct elf_symbols **ret)
{
	int fd = debuginfod__find(files->debuginfod, kind, id, path), err;

	if (fd < 0)
		return fd;
	err = elf_symbols__open_stored(fd, -1, path, id, ret);
	close(fd);
	return err;
}

int symbol_files__open_debug(struct symbol_files *files, const char *path,
			     const struct build_id *id, struct elf_symbols **ret)
{
	return id->nr_bytes ? symbol_files__try_server(files, DEBUGINFOD_DEBUGINFO, path,
						       id, ret)
			    : -ENOENT;
}

static void symbol_files__tell_unread(struct symbol_files *files, const char *path,
				      int err)
{
	if (log_limit__take(&files->unread))
		pr_warning("cannot read %s%s: %s: its functions are [unknown]",
			   *path == '/' ? files->root : "", path, strerror(-err));
}

static void symbol_files__warn(struct symbol_files *files, const char *path,
			       const struct build_id *id)
{
	bool is_vdso = *path != '/';
	char text[BUILD_ID_TEXT_BYTES];

	/* Of another machine's file it is no wonder. */
	if (files->store)
		return;
	if (++files->nr_stale > SYMBOL_FILES_MAX_WARNINGS)
		return;
	pr_warning("%s%s is not the one that was recorded, whose build id is %s: its "
		   "functions are [unknown]. %s, or record again",
		   is_vdso ? "this kernel's " : files->root, path,
		   build_id__format(id, text),
		   is_vdso ? "Look at the recording on the machine it was made on"
			   : "Give the folder that has the recorded files to --symfs");
}

static int symbol_files__find_file(struct symbol_files *files, const char *path,
				   const struct build_id *id, struct elf_symbols **ret)
{
	bool is_vdso = *path != '/';
	int err = -ENOENT;

	if (files->store) {
		err = is_there(symbol_files__try_store(files, path, id, ret));
		if (!err || (!id->nr_bytes && !*files->root))
			return err;
	}
	if (is_vdso)
		err = reason(err, elf_symbols__open_vdso(id, files->debug_path, ret));
	else
		err = reason(err, symbol_files__try(
					  files, format_path("%s%s", files->root, path),
					  id, ret));
	if (!err || !id->nr_bytes)
		return err;
	/* A debug file alone has no offsets, which are what maps tell of code. */
	err = reason(err, is_there(symbol_files__try_build_id(
				  files, is_vdso ? "vdso" : "elf", id, ret)));
	return err ? reason(err, symbol_files__try_server(files, DEBUGINFOD_EXECUTABLE,
							  path, id, ret))
		   : 0;
}

int symbol_files__open(struct symbol_files *files, const char *path,
		       const struct build_id *id, struct elf_symbols **ret)
{
	int err = symbol_files__find_file(files, path, id, ret);

	if (err == -ESTALE)
		symbol_files__warn(files, path, id);
	else if (err && !is_no_wonder(err))
		symbol_files__tell_unread(files, path, err);
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
	if (files->store)
		return perf_map__open_stored(symbol_store__find_path(files->store, path),
					     path, ret);
	if (!files->has_origin)
		return -ENOENT;
	return perf_map__open(path, &files->origin, ret);
}

size_t symbol_files__nr_stale(const struct symbol_files *files)
{
	return files->nr_stale;
}
