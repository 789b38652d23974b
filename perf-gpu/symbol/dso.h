/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mapped file and its symbols. Symbols are read at the first look-up, from
 * what libdwfl finds for the file: .symtab, else that of the debug file that
 * .gnu_debuglink or the build id names, else .dynsym; [vdso] from our own;
 * never from another build than the recorded one, if that is known; anonymous
 * memory ("//anon") from /tmp/perf-PID.map. Where DEBUGINFOD_URLS is set, its servers are
 * asked for a file that isn't found, and, once a function has no name, for the debug file of
 * one that has no .symtab. One thread.
 */
#ifndef PERF_GPU_SYMBOL_DSO_H
#define PERF_GPU_SYMBOL_DSO_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbol/build_id.h"

struct dso;
struct elf_symbols;
struct perf_map;
struct symbol_files;

struct symbol {
	uint64_t start, end; /* addresses as the file's symbol table has them */
	const char *name; /* as in the file: mangled */
	const char *demangled; /* without parameters, as perf shows it */
};

/* Is a mapping of this name (of an MMAP record) memory that no file describes? */
bool dso__is_anonymous(const char *path);

/**
 * dso__new - a file by its name
 * @path:  as in the MMAP record: a path, or "[vdso]", "//anon", "[heap]", ...
 * @pid:   whose perf map names anonymous memory
 * @files: where the file is found; must outlive the dso
 * @id:    which build of it was mapped; none: not known
 * @ret:   released by dso__delete(); written on success only
 *
 * Return: 0 or -ENOMEM. The file is not touched, and need not exist.
 */
int dso__new(const char *path, uint32_t pid, struct symbol_files *files,
	     const struct build_id *id, struct dso **ret);
void dso__delete(struct dso *dso); /* NULL is fine */

/* Whose code a file has, by its name */
enum dso_owner {
	DSO_OWNER_PROGRAM,
	DSO_OWNER_US,
	DSO_OWNER_CUPTI,
	DSO_OWNER_DRIVER,
	DSO_OWNER_RUNTIME,
};

enum dso_owner dso__owner(const struct dso *dso);

/* Is it memory that no file describes? Its code is a JIT compiler's. */
bool dso__is_memory(const struct dso *dso);

/* As given to dso__new(); of anonymous memory /tmp/perf-PID.map, as perf has it. */
const char *dso__path(const struct dso *dso);
/* The last part of the path. */
const char *dso__basename(const struct dso *dso);

/**
 * dso__find_symbol - the function that covers an address
 * @offset: offset in the file (ip - map->start + map->pgoff), or the address
 *          itself for anonymous memory, where the map's pgoff is its start
 * @ret_address: if not NULL, what @offset is as an address of the symbol table
 *
 * A symbol covers [start, end); what has no size covers up to the next symbol
 * of its section. An address between symbols has none: no neighbour is guessed.
 *
 * Return: the symbol (valid as long as the dso), or NULL.
 */
const struct symbol *dso__find_symbol(struct dso *dso, uint64_t offset,
				      uint64_t *ret_address);

/* The file, of the recorded build, or NULL if there is none. Lives as the dso. */
Elf *dso__elf(struct dso *dso);

/* Which build was mapped; none: not known. */
struct build_id dso__build_id(const struct dso *dso);

/* What a file was asked for so far, and what it is. */
struct dso_parts {
	bool is_asked; /* for symbols, or for the file itself */
	struct elf_symbols *elf; /* NULL: there is none, or no file that can be read */
	struct elf_symbols *debug; /* of a server; NULL: there is none, or no need */
	struct perf_map *perf_map; /* likewise */
};

/* They live as the dso. */
struct dso_parts dso__parts(const struct dso *dso);

/**
 * dso__address - where the file says that an offset in it is loaded
 * @offset, @ret: as above
 *
 * Return: 0, or -ENOENT if there is no file, or no segment with the offset.
 */
int dso__address(struct dso *dso, uint64_t offset, uint64_t *ret);

#endif
