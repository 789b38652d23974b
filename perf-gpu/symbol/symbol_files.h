/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a recording: which builds they were, and where these are found
 * now. Looked for are, in this order,
 *
 *   the recorded path, below --symfs if there is one
 *   perf's cache, by build id: DIR/.build-id/xx/yyyy.../elf, DIR being
 *        .debug below --symfs, or PERF_BUILDID_DIR, or ~/.debug
 *   /usr/lib/debug/.build-id/xx/yyyy....debug, below --symfs if there is one
 *
 * Ahead of all of them comes an archive, if that is what the recording is in: its own files,
 * by build id, or by path if the recording doesn't know one. Such a file is then taken from
 * nowhere else: what has its path here is of another machine.
 *
 *   the servers of DEBUGINFOD_URLS, by build id, if that is set (symbol/debuginfod.h)
 *
 * and of a recorded file whose build id is known, another build is never taken.
 * One thread.
 */
#ifndef PERF_GPU_SYMBOL_SYMBOL_FILES_H
#define PERF_GPU_SYMBOL_SYMBOL_FILES_H

#include <stddef.h>

#include "symbol/build_id.h"
#include "symbol/elf_symbols.h"
#include "symbol/perf_map.h"
#include "symbol/symbol_store.h"

struct symbol_files;

/* Where files are looked for. */
struct symbol_place {
	const char *symfs; /* folder that stands for the machine's root; NULL: it is / */
	const struct symbol_store *store; /* of an archive; NULL: there is none */
};

/* So many files that are other builds are named; the rest is counted. */
#define SYMBOL_FILES_MAX_WARNINGS 5

/**
 * symbol_files__new - the files of one recording
 * @symfs: folder that stands for the recorded machine's root; NULL: it is /
 * @ret:   released by symbol_files__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int symbol_files__new(const char *symfs, struct symbol_files **ret);
void symbol_files__delete(struct symbol_files *files); /* NULL is fine */

/* Look into @store first, which must outlive @files. */
void symbol_files__set_store(struct symbol_files *files,
			     const struct symbol_store *store);

/**
 * symbol_files__set_build_id - which build was recorded under a path
 * @path: copied; of two ids for one path the later counts, as with perf
 *
 * Return: 0 or -ENOMEM.
 */
int symbol_files__set_build_id(struct symbol_files *files, const char *path,
			       const struct build_id *id);

/* The id set for a path; none if there is none. */
struct build_id symbol_files__build_id(const struct symbol_files *files,
				       const char *path);

/**
 * symbol_files__open - find and open a file
 * @path: as recorded: absolute, or "[vdso]"
 * @id:   which build it must be; none: whatever is there
 * @ret:  released by elf_symbols__close(); written on success only
 *
 * If there is only another build it is named in a warning.
 *
 * Return: 0; -ESTALE for another build; or what elf_symbols__open() has for the
 * recorded path, not printed.
 */
int symbol_files__open(struct symbol_files *files, const char *path,
		       const struct build_id *id, struct elf_symbols **ret);

/**
 * symbol_files__open_debug - have the names that a file itself doesn't have
 * @path, @id: of the file, which was found
 * @ret:       of its debug file from a server of DEBUGINFOD_URLS; as above
 *
 * Other debug files libdwfl has found already, if there are any.
 *
 * Return: 0 or a negative errno: -ENOENT if there is none.
 */
int symbol_files__open_debug(struct symbol_files *files, const char *path,
			     const struct build_id *id, struct elf_symbols **ret);

/**
 * symbol_files__set_origin - perf maps may be read from /tmp, if they are of it
 *
 * Without it none is: a recording keeps names of its own.
 */
void symbol_files__set_origin(struct symbol_files *files,
			      const struct perf_map_origin *origin);

/* As perf_map__open(); -ENOENT if none may be read. */
int symbol_files__open_perf_map(const struct symbol_files *files, const char *path,
				struct perf_map **ret);

/* How often another build was all there was. */
size_t symbol_files__nr_stale(const struct symbol_files *files);

#endif
