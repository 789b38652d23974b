// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols by address.
 *
 * symtab__finish() cuts overlapping symbols into extents that are sorted and
 * don't overlap, so that a look-up is one binary search:
 *
 *   added 1st    [---------- a ----------)
 *   added 2nd            [--- b ---)
 *   added 3rd                          [--- c ---)
 *   extents      [-- a --)[-- b ---)[a)[--- c ---)
 *
 * One thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "symbol/demangle.h"
#include "symbol/symtab.h"
#include "util/log.h"

struct symtab_extent {
	uint64_t start, end;
	size_t symbol; /* index */
};

int symtab__add(struct symtab *symtab, uint64_t start, uint64_t end, const char *name)
{
	if (start >= end)
		return 0;
	if (symtab->nr_symbols == symtab->capacity) {
		size_t capacity = symtab->capacity ? symtab->capacity * 2 : 64;
		struct symbol *symbols =
			reallocarray(symtab->symbols, capacity, sizeof(*symbols));

		if (!symbols)
			return -ENOMEM;
		symtab->symbols = symbols;
		symtab->capacity = capacity;
	}
	symtab->symbols[symtab->nr_symbols++] =
		(struct symbol){.start = start, .end = end, .name = name};
	return 0;
}

static int compare_starts(const void *a, const void *b, void *symbols)
{
	uint64_t x = ((struct symbol *)symbols)[*(const size_t *)a].start;
	uint64_t y = ((struct symbol *)symbols)[*(const size_t *)b].start;

	return (x > y) - (x < y);
}

/* A heap of symbol indexes: the one added last is on top, at heap[0]. */

static void heap__push(size_t *heap, size_t *nr, size_t symbol)
{
	size_t i = (*nr)++;

	for (; i && heap[(i - 1) / 2] < symbol; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = symbol;
}

static void heap__pop(size_t *heap, size_t *nr)
{
	size_t last = heap[--*nr], i = 0, child;

	while ((child = 2 * i + 1) < *nr) {
		if (child + 1 < *nr && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= last)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
}

/*
 * Walk up the addresses from one start or end to the next; the heap holds the
 * symbols that have begun, and its top owns the piece. Each symbol's start and
 * end make at most one extent.
 */
static void symtab__sweep(struct symtab *symtab, const size_t *by_start, size_t *heap)
{
	const struct symbol *symbols = symtab->symbols;
	size_t nr_heap = 0, next = 0;
	uint64_t address = 0;

	while (nr_heap || next < symtab->nr_symbols) {
		struct symtab_extent extent;

		if (!nr_heap)
			address = symbols[by_start[next]].start;
		while (next < symtab->nr_symbols &&
		       symbols[by_start[next]].start <= address)
			heap__push(heap, &nr_heap, by_start[next++]);
		while (nr_heap && symbols[heap[0]].end <= address)
			heap__pop(heap, &nr_heap);
		if (!nr_heap)
			continue;

		extent.symbol = heap[0];
		extent.start = address;
		extent.end = symbols[heap[0]].end;
		if (next < symtab->nr_symbols &&
		    symbols[by_start[next]].start < extent.end)
			extent.end = symbols[by_start[next]].start;
		symtab->extents[symtab->nr_extents++] = extent;
		address = extent.end;
	}
}

int symtab__finish(struct symtab *symtab)
{
	size_t *by_start, *heap;
	int err = -ENOMEM;

	if (!symtab->nr_symbols)
		return 0;
	by_start = reallocarray(NULL, symtab->nr_symbols, sizeof(*by_start));
	heap = reallocarray(NULL, symtab->nr_symbols, sizeof(*heap));
	symtab->extents =
		reallocarray(NULL, symtab->nr_symbols, 2 * sizeof(*symtab->extents));
	if (!by_start || !heap || !symtab->extents)
		goto out;
	for (size_t i = 0; i < symtab->nr_symbols; i++)
		by_start[i] = i;
	qsort_r(by_start, symtab->nr_symbols, sizeof(*by_start), compare_starts,
		symtab->symbols);
	symtab__sweep(symtab, by_start, heap);
	err = 0;
out:
	free(heap);
	free(by_start);
	return err;
}

void symbol__demangle(struct symbol *symbol, bool *is_told)
{
	if (!symbol->demangled)
		symbol->demangled = demangle(symbol->name, DEMANGLE_PERF);
	if (symbol->demangled)
		return;
	if (!*is_told)
		pr_warning("no memory to demangle names of functions: some stay as they "
			   "are");
	*is_told = true;
	symbol->demangled = symbol->name;
}

const struct symbol *symtab__find(struct symtab *symtab, uint64_t address)
{
	size_t low = 0, high = symtab->nr_extents;
	struct symbol *symbol;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symtab->extents[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == symtab->nr_extents || symtab->extents[low].start > address)
		return NULL;

	symbol = &symtab->symbols[symtab->extents[low].symbol];
	symbol__demangle(symbol, &symtab->is_memory_told);
	return symbol;
}

void symtab__release(struct symtab *symtab)
{
	for (size_t i = 0; i < symtab->nr_symbols; i++) {
		if (symtab->symbols[i].demangled != symtab->symbols[i].name)
			free((char *)symtab->symbols[i].demangled);
	}
	free(symtab->symbols);
	free(symtab->extents);
	*symtab = (struct symtab){0};
}
