/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of an archive that have symbols, for perf and hotspot, which read folders:
 *
 *   FOLDER/.build-id/xx/yyyy.../elf     as perf --buildid-dir wants it
 *   FOLDER/opt/app/xxyyyy.../elf        the same file, as hotspot --debugPaths does
 *
 * One thread.
 */
#ifndef PERF_GPU_SOURCE_SYMBOL_FOLDER_H
#define PERF_GPU_SOURCE_SYMBOL_FOLDER_H

#include "perfdata/reader.h"
#include "symbol/symbol_store.h"

struct symbol_folder;

/**
 * symbol_folder__new - make such a folder, or make it anew
 * @store:  those that have a build id are written
 * @reader: of the recording, which tells their paths
 * @path:   has its name once it is whole; its parent exists
 * @ret:    for symbol_folder__keep() and symbol_folder__delete(); written on success only
 *
 * Only the user can get into the folder, while it is made and afterwards. A signal that
 * would end the command does so behind a piece of a file, or at symbol_folder__delete(), and
 * leaves nothing.
 *
 * Return: 0 or a negative errno, printed.
 */
int symbol_folder__new(const struct symbol_store *store,
		       const struct perfdata_reader *reader, const char *path,
		       struct symbol_folder **ret);

/* What it is for is done, too: it stays, and what was there before goes. NULL is fine. */
void symbol_folder__keep(struct symbol_folder *folder);

/* Release; unless it is kept, all is as it was before. NULL is fine. */
void symbol_folder__delete(struct symbol_folder *folder);

#endif
