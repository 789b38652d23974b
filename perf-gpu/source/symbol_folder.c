// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names below the folder are ones that symbol_store__is_by_id() and is_by_path() let pass,
 * which lead nowhere else, and nobody but the user can put a link in their way.
 */
#include "source/symbol_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/nameless_file.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "symbol/build_id.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/temporary.h"

#define PIECE_BYTES (1u << 20)

struct symbol_folder {
	char *folder;
	char *temporary;
	void *piece; /* PIECE_BYTES */
	bool is_temporary; /* it is there, and to be removed */
	bool is_named, has_old; /* what had the name has the temporary one */
	size_t nr_nameless; /* files that hotspot won't find */
	sigset_t mask; /* of temporary__hold() */
};

/* mkdir -p, of all but the last part; -errno */
static int make_parents(char *path, size_t nr_made)
{
	for (char *slash = path + nr_made; (slash = strchr(slash + 1, '/'));) {
		int failed;

		*slash = '\0';
		failed = mkdir(path, 0700) && errno != EEXIST;
		*slash = '/';
		if (failed)
			return -errno;
	}
	return 0;
}

/* -EINTR: a signal waits to end the command */
static int copy(struct symbol_folder *folder, int from, int to)
{
	off_t at = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = pread(from, folder->piece, PIECE_BYTES, at)) != 0) {
		if (n < 0)
			return -errno;
		err = nameless_file__append(to, folder->piece, (size_t)n);
		at += n;
		if (temporary__must_end())
			return -EINTR;
	}
	return err ? err : nameless_file__finish(to);
}

static int copy_file(const char *name, int from, void *context)
{
	struct symbol_folder *folder = context;
	char path[PATH_MAX];
	int to, err;

	if (!symbol_store__is_by_id(name))
		return 0;
	snprintf(path, sizeof(path), "%s%s", folder->temporary,
		 name + strlen(SYMBOL_STORE_CACHE));
	err = make_parents(path, strlen(folder->temporary));
	if (err)
		return err;
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	progress__begin("unpacking", name, 0);
	err = copy(folder, from, to);
	return close(to) && !err ? -errno : err;
}

/* hotspot's name for a file; where a path can't be, it has none. */
static void add_name(struct symbol_folder *folder, const char *recorded_path,
		     const struct build_id *id, enum symbol_store_kind kind)
{
	char name[SYMBOL_STORE_NAME_BYTES], text[BUILD_ID_TEXT_BYTES];
	char path[PATH_MAX], target[PATH_MAX];
	int bytes, err;

	symbol_store__name(kind, id, name);
	snprintf(path, sizeof(path), "%s%s", folder->temporary,
		 name + strlen(SYMBOL_STORE_CACHE));
	bytes = snprintf(target, sizeof(target), "%s%s/%s%s", folder->temporary,
			 recorded_path, build_id__format(id, text), strrchr(name, '/'));
	if (bytes < 0 || (size_t)bytes >= sizeof(target))
		return;
	err = make_parents(target, strlen(folder->temporary));
	if (!err && link(path, target))
		err = -errno;
	/* Two of one path and build, or a file where another has a folder */
	if (!err || err == -EEXIST || err == -ENOTDIR || err == -ENAMETOOLONG)
		return;
	if (!folder->nr_nameless++)
		pr_warning("cannot name %s in %s for hotspot, whose functions are "
			   "[unknown] there: %s",
			   recorded_path, folder->folder, strerror(-err));
}

static void add_names(struct symbol_folder *folder, const struct symbol_store *store,
		      const struct perfdata_reader *reader)
{
	char name[sizeof(SYMBOL_STORE_ROOT) + PATH_MAX];
	struct perfdata_cursor cursor;
	struct perfdata_file_id file;
	const void *table;
	size_t bytes;

	if (!perfdata_reader__feature(reader, HEADER_BUILD_ID, &table, &bytes))
		return;
	cursor = perfdata_cursor__new(table, bytes);
	while (perfdata_feature__next_build_id(&cursor, &file) > 0) {
		struct build_id id = build_id__make(file.id, file.id_bytes);

		snprintf(name, sizeof(name), "%s%s", SYMBOL_STORE_ROOT, file.path);
		if (!symbol_store__is_by_path(name))
			continue;
		if (symbol_store__find_id(store, SYMBOL_STORE_ELF, &id) >= 0)
			add_name(folder, file.path, &id, SYMBOL_STORE_ELF);
		if (symbol_store__find_id(store, SYMBOL_STORE_DEBUG, &id) >= 0)
			add_name(folder, file.path, &id, SYMBOL_STORE_DEBUG);
	}
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_folder(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static int fill(struct symbol_folder *folder, const struct symbol_store *store,
		const struct perfdata_reader *reader)
{
	int err;

	if (!folder->folder || !folder->temporary || !folder->piece)
		return -ENOMEM;
	if (!mkdtemp(folder->temporary))
		return -errno;
	folder->is_temporary = true;
	err = symbol_store__for_each(store, copy_file, folder);
	if (err)
		return err;
	add_names(folder, store, reader);
	if (folder->nr_nameless > 1)
		pr_warning("%zu files have no names for hotspot", folder->nr_nameless);
	err = temporary__replace(folder->temporary, folder->folder, &folder->has_old);
	if (err == -ENOTEMPTY || err == -EEXIST) {
		/* A file system that can't swap them */
		remove_folder(folder->folder);
		err = temporary__replace(folder->temporary, folder->folder,
					 &folder->has_old);
	}
	folder->is_named = !err;
	folder->is_temporary = err || folder->has_old;
	return err;
}

int symbol_folder__new(const struct symbol_store *store,
		       const struct perfdata_reader *reader, const char *path,
		       struct symbol_folder **ret)
{
	struct symbol_folder *folder = calloc(1, sizeof(*folder));
	int err = -ENOMEM;

	if (folder) {
		temporary__hold(&folder->mask);
		folder->folder = strdup(path);
		folder->piece = malloc(PIECE_BYTES);
		if (asprintf(&folder->temporary, "%s.XXXXXX", path) < 0)
			folder->temporary = NULL;
		err = fill(folder, store, reader);
	}
	if (err) {
		pr_err("cannot write the archive's files with symbols to %s: %s", path,
		       strerror(-err));
		symbol_folder__delete(folder);
		return err;
	}
	*ret = folder;
	return 0;
}

void symbol_folder__keep(struct symbol_folder *folder)
{
	if (folder)
		folder->is_named = false;
}

void symbol_folder__delete(struct symbol_folder *folder)
{
	if (!folder)
		return;
	if (folder->is_named && folder->has_old)
		temporary__take_back(folder->temporary, folder->folder, true);
	else if (folder->is_named)
		remove_folder(folder->folder);
	if (folder->temporary && folder->is_temporary)
		remove_folder(folder->temporary);
	temporary__release(&folder->mask);
	free(folder->temporary);
	free(folder->piece);
	free(folder->folder);
	free(folder);
}
