/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols by address. Filled once, then asked. One thread.
 */
#ifndef PERF_GPU_SYMBOL_SYMTAB_H
#define PERF_GPU_SYMBOL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/dso.h"

struct symtab_extent;

/* All zero is an empty table. */
struct symtab {
	struct symbol *symbols; /* in the order they were added */
	size_t nr_symbols, capacity;
	struct symtab_extent *extents; /* made by symtab__finish() */
	size_t nr_extents;
	bool is_memory_told; /* that there was none for a name */
};

/**
 * symtab__add - add a symbol that covers [@start, @end)
 * @name: kept by reference, must outlive the table
 *
 * Where symbols overlap, the one added last is found.
 *
 * Return: 0 or -ENOMEM. An empty range is dropped.
 */
int symtab__add(struct symtab *symtab, uint64_t start, uint64_t end, const char *name);

/* Make ready for symtab__find(), after the last symtab__add(). 0 or -ENOMEM. */
int symtab__finish(struct symtab *symtab);

/* The symbol that covers @address, or NULL. Its demangled is made here. */
const struct symbol *symtab__find(struct symtab *symtab, uint64_t address);

/**
 * symbol__demangle - make its demangled name, if there is none yet
 * @is_told: has a warning told that names stay mangled, for want of memory? It is set then
 *
 * The name is to be freed, if it isn't the symbol's own.
 */
void symbol__demangle(struct symbol *symbol, bool *is_told);

void symtab__release(struct symtab *symtab);

#endif
