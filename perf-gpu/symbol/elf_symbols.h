/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file, and its functions with those of the debug file that goes with it,
 * which are read at the first look-up. One thread.
 */
#ifndef PERF_GPU_SYMBOL_ELF_SYMBOLS_H
#define PERF_GPU_SYMBOL_ELF_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/build_id.h"
#include "symbol/dso.h"

struct elf_symbols;

/**
 * elf_symbols__open - open a file
 * @path: of a regular file
 * @id:   which build it must be; none: any
 * @debug_path: where libdwfl looks for debug files, as its debuginfo_path says
 * @ret:  released by elf_symbols__close(); written on success only
 *
 * Return: 0 or a negative errno, said with pr_debug() only: those of open(2),
 * -EINVAL if it is no executable or shared ELF file, -ESTALE if it is another
 * build, -ENOMEM.
 */
int elf_symbols__open(const char *path, const struct build_id *id, const char *debug_path,
		      struct elf_symbols **ret);

/**
 * elf_symbols__open_stored - open a file that is open already
 * @fd:       stays the caller's
 * @debug_fd: its separate debug file, likewise; -1: there is none, and none is looked for,
 *            since where one may be is what the file says
 * @name:     for messages; copied
 */
int elf_symbols__open_stored(int fd, int debug_fd, const char *name,
			     const struct build_id *id, struct elf_symbols **ret);

/* The same of the [vdso] of this process; -ENOENT if it has none. */
int elf_symbols__open_vdso(const struct build_id *id, const char *debug_path,
			   struct elf_symbols **ret);

void elf_symbols__close(struct elf_symbols *elf); /* NULL is fine */

/**
 * elf_symbols__address - where an offset in the file is loaded
 * @ret: an address as the symbol table has them
 *
 * Return: 0 or -ENOENT if the offset isn't part of a segment.
 */
int elf_symbols__address(const struct elf_symbols *elf, uint64_t offset, uint64_t *ret);

/* The file itself: lives as long as the object. */
Elf *elf_symbols__file(const struct elf_symbols *elf);

/* The symbol that covers @address, or NULL: the file may have none at all. */
const struct symbol *elf_symbols__find(struct elf_symbols *elf, uint64_t address);

/* Does it, or its debug file, have a full symbol table, not only that of what is exported? */
bool elf_symbols__are_full(struct elf_symbols *elf);

/* Bytes of a file, mapped; NULL and 0: there is none */
struct elf_image {
	const void *data;
	size_t bytes;
};

/* The whole file, and the debug file that symbols came from: they live as the object. */
struct elf_image elf_symbols__image(struct elf_symbols *elf);
struct elf_image elf_symbols__debug_image(struct elf_symbols *elf);

#endif
