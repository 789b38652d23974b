// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mapped file: what its name means, and where its symbols come from.
 *
 *   /usr/lib/libfoo.so         elf_symbols.c, by address of its symbol table, of
 *                              the build that symbol_files.c finds
 *   [vdso]                     the same, of our own image
 *   //anon, [heap], /memfd:x   perf_map.c, by address in the process, if it may be read
 *   x (deleted), [vsyscall]    none: another file may have the name by now
 *
 * A file that can't be read has no symbols; it is tried once.
 * One thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/dso.h"
#include "symbol/elf_symbols.h"
#include "symbol/perf_map.h"
#include "symbol/symbol_files.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

struct dso {
	char *path;
	const char *base; /* its last part */
	struct symbol_files *files;
	struct build_id id; /* of the file that was mapped */
	enum dso_owner owner;
	bool is_anonymous;
	bool is_loaded; /* was tried: at most one of those below is there */
	struct elf_symbols *elf;
	bool is_debug_tried;
	struct elf_symbols *debug; /* names that elf doesn't have; NULL: there is none */
	struct perf_map *perf_map;
};

static bool has_prefix(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

static bool has_suffix(const char *string, const char *suffix)
{
	size_t length = strlen(string), nr = strlen(suffix);

	return length >= nr && strcmp(string + length - nr, suffix) == 0;
}

static bool is_perf_map(const char *path)
{
	unsigned int pid;
	int end = 0;

	return sscanf(path, "/tmp/perf-%u.map%n", &pid, &end) == 1 && end && !path[end];
}

bool dso__is_anonymous(const char *path)
{
	static const char *const prefixes[] = {
		"//anon",	  "[heap]", "[stack",  "[anon",	      "/dev/zero",
		"/anon_hugepage", "/SYSV",  "/memfd:", "anon_inode:",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (has_prefix(path, prefixes[i]))
			return true;
	}
	return is_perf_map(path);
}

/* Wheels rename libraries they bundle, as in libcudart-d0da41ae.so.11.0. */
static enum dso_owner owner_of(const char *base)
{
	static const struct {
		const char *prefix;
		enum dso_owner owner;
	} owners[] = {
		{"libperf-gpu-inject.so", DSO_OWNER_US},
		{"libcupti.so", DSO_OWNER_CUPTI},
		{"libcupti-", DSO_OWNER_CUPTI},
		{"libcuda.so", DSO_OWNER_DRIVER},
		{"libcudadebugger.so", DSO_OWNER_DRIVER},
		{"libcudart.so", DSO_OWNER_RUNTIME},
		{"libcudart-", DSO_OWNER_RUNTIME},
	};

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		if (has_prefix(base, owners[i].prefix))
			return owners[i].owner;
	return DSO_OWNER_PROGRAM;
}

int dso__new(const char *path, uint32_t pid, struct symbol_files *files,
	     const struct build_id *id, struct dso **ret)
{
	struct dso *dso = calloc(1, sizeof(*dso));

	if (!dso)
		return -ENOMEM;
	dso->files = files;
	dso->id = *id;
	dso->is_anonymous = dso__is_anonymous(path);
	if (!dso->is_anonymous || is_perf_map(path))
		dso->path = strdup(path);
	else if (asprintf(&dso->path, "/tmp/perf-%u.map", pid) < 0)
		dso->path = NULL;
	if (!dso->path) {
		free(dso);
		return -ENOMEM;
	}
	dso->base = strrchr(dso->path, '/');
	dso->base = dso->base ? dso->base + 1 : dso->path;
	dso->owner = owner_of(dso->base);
	*ret = dso;
	return 0;
}

void dso__delete(struct dso *dso)
{
	if (!dso)
		return;
	elf_symbols__close(dso->debug);
	elf_symbols__close(dso->elf);
	perf_map__close(dso->perf_map);
	free(dso->path);
	free(dso);
}

enum dso_owner dso__owner(const struct dso *dso)
{
	return dso->owner;
}

bool dso__is_memory(const struct dso *dso)
{
	return dso->is_anonymous;
}

const char *dso__path(const struct dso *dso)
{
	return dso->path;
}

const char *dso__basename(const struct dso *dso)
{
	return dso->base;
}

/* Who can't read a file goes on without its symbols, so errors end here. */
static void dso__load(struct dso *dso)
{
	if (dso->is_loaded)
		return;
	dso->is_loaded = true;
	if (dso->is_anonymous)
		symbol_files__open_perf_map(dso->files, dso->path, &dso->perf_map);
	else if (strcmp(dso->path, "[vdso]") == 0 ||
		 (*dso->path == '/' && !has_suffix(dso->path, " (deleted)")))
		symbol_files__open(dso->files, dso->path, &dso->id, &dso->elf);
}

/* Nobody waits for a server as long as every function has a name. */
static const struct symbol *dso__find_elf_symbol(struct dso *dso, uint64_t address)
{
	const struct symbol *symbol = elf_symbols__find(dso->elf, address);

	if (symbol || elf_symbols__are_full(dso->elf))
		return symbol;
	if (!dso->is_debug_tried) {
		dso->is_debug_tried = true;
		symbol_files__open_debug(dso->files, dso->path, &dso->id, &dso->debug);
	}
	return dso->debug ? elf_symbols__find(dso->debug, address) : NULL;
}

const struct symbol *dso__find_symbol(struct dso *dso, uint64_t offset,
				      uint64_t *ret_address)
{
	const struct symbol *symbol = NULL;
	uint64_t address = offset;

	dso__load(dso);
	if (dso->perf_map)
		symbol = perf_map__find(dso->perf_map, address);
	else if (dso->elf && !elf_symbols__address(dso->elf, offset, &address))
		symbol = dso__find_elf_symbol(dso, address);
	if (ret_address)
		*ret_address = address;
	return symbol;
}

Elf *dso__elf(struct dso *dso)
{
	dso__load(dso);
	return dso->elf ? elf_symbols__file(dso->elf) : NULL;
}

struct build_id dso__build_id(const struct dso *dso)
{
	return dso->id;
}

struct dso_parts dso__parts(const struct dso *dso)
{
	return (struct dso_parts){
		.is_asked = dso->is_loaded,
		.elf = dso->elf,
		.debug = dso->debug,
		.perf_map = dso->perf_map,
	};
}

int dso__address(struct dso *dso, uint64_t offset, uint64_t *ret)
{
	dso__load(dso);
	return dso->elf ? elf_symbols__address(dso->elf, offset, ret) : -ENOENT;
}
