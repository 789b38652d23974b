/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with symbols that are in no folder: those of an archive (archive/archive.h), each an
 * open file. Unpacked, the folder is what --symfs takes, of perf-gpu and of perf:
 *
 *   symfs/.debug/.build-id/xx/yyyy.../elf     by build id; perf's cache has these names
 *                                     vdso
 *                                     debug   a separate debug file
 *   symfs/opt/app                             a file without a build id, by its path
 *   symfs/tmp/perf-PID.map                    a perf map
 *
 * One thread.
 */
#ifndef PERF_GPU_SYMBOL_SYMBOL_STORE_H
#define PERF_GPU_SYMBOL_SYMBOL_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbol/build_id.h"

struct symbol_store;

enum symbol_store_kind {
	SYMBOL_STORE_ELF,
	SYMBOL_STORE_VDSO,
	SYMBOL_STORE_DEBUG,
};

#define SYMBOL_STORE_ROOT	"symfs"
#define SYMBOL_STORE_CACHE	SYMBOL_STORE_ROOT "/.debug"
#define SYMBOL_STORE_BUILD_IDS	SYMBOL_STORE_CACHE "/.build-id/"
#define SYMBOL_STORE_NAME_BYTES (sizeof(SYMBOL_STORE_BUILD_IDS) + BUILD_ID_TEXT_BYTES + 8)

/* An id is two parts of a path, with a byte in each: shorter ones are as if there was none. */
#define SYMBOL_STORE_MIN_ID_BYTES 2

/* The name of what is known by its build id, which is long enough; returns @ret. */
const char *symbol_store__name(enum symbol_store_kind kind, const struct build_id *id,
			       char ret[SYMBOL_STORE_NAME_BYTES]);

/* Is it a name of symbol_store__name()? */
bool symbol_store__is_by_id(const char *name);

/* Is it one of a file by its path: absolute, and without a way out of where it begins? */
bool symbol_store__is_by_path(const char *name);

int symbol_store__new(struct symbol_store **ret); /* 0 or -ENOMEM */
void symbol_store__delete(struct symbol_store *store); /* and its files; NULL is fine */

/**
 * symbol_store__add - have a file
 * @name: copied
 * @fd:   closed by the store, but if it fails
 *
 * Return: 0, -EEXIST if there is one of the name, -ENOMEM.
 */
int symbol_store__add(struct symbol_store *store, const char *name, int fd);

/* The file of a name, which stays the store's; -ENOENT if there is none. */
int symbol_store__find(const struct symbol_store *store, const char *name);

/* By build id, and by recorded path */
int symbol_store__find_id(const struct symbol_store *store, enum symbol_store_kind kind,
			  const struct build_id *id);
int symbol_store__find_path(const struct symbol_store *store, const char *path);

/**
 * symbol_store__for_each - call a function for each file, by name
 * @visit: 0: go on; else that is returned
 */
int symbol_store__for_each(const struct symbol_store *store,
			   int (*visit)(const char *name, int fd, void *context),
			   void *context);

#endif
