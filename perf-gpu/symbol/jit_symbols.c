// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree in an array: entries are sorted by start, the middle one of a range is its
 * root, and knows how far all of the range reach. A look-up visits those that cover
 * the address, and a path to each.
 *
 *   start      [ 10  12  20  25  40  41  60 ]
 *                        ┌─────25─────┐          max_end: of all seven
 *                    ┌──12──┐     ┌──41──┐                of three
 *                   10     20    40     60
 */
#include "symbol/jit_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "symbol/perf_map.h"
#include "symbol/symtab.h"

struct entry {
	struct symbol symbol; /* name: NULL for code that was moved, up to finish() */
	uint64_t time_ns;
	uint64_t index; /* the runtime's number for code of a jitdump */
	uint64_t max_end; /* of the entries that this one is the root of */
	size_t order; /* in which they were added */
	bool is_code; /* of a jitdump: has an index */
};

struct chunk {
	struct chunk *next;
	char data[] __attribute__((aligned(8)));
};

struct jit_symbols {
	struct entry *entries;
	size_t nr, capacity;
	size_t nr_moved;
	struct chunk *chunks; /* what names point into */
	char *text; /* of perf maps, names point into it too */
	size_t text_bytes, text_capacity;
	uint64_t text_offset; /* where in the file the next piece is to begin */
	bool is_in_half_line; /* whose beginning is missing */
	bool is_memory_told; /* that there was none for a name */
};

int jit_symbols__new(struct jit_symbols **ret)
{
	struct jit_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	*ret = symbols;
	return 0;
}

void jit_symbols__delete(struct jit_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->nr; i++) {
		struct symbol *symbol = &symbols->entries[i].symbol;

		if (symbol->demangled != symbol->name)
			free((char *)symbol->demangled);
	}
	while (symbols->chunks) {
		struct chunk *chunk = symbols->chunks;

		symbols->chunks = chunk->next;
		free(chunk);
	}
	free(symbols->entries);
	free(symbols->text);
	free(symbols);
}

static int jit_symbols__add(struct jit_symbols *symbols, const struct entry *entry)
{
	if (symbols->nr == symbols->capacity) {
		size_t capacity = symbols->capacity ? 2 * symbols->capacity : 256;
		struct entry *entries =
			reallocarray(symbols->entries, capacity, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		symbols->entries = entries;
		symbols->capacity = capacity;
	}
	symbols->entries[symbols->nr] = *entry;
	symbols->entries[symbols->nr].order = symbols->nr;
	symbols->nr++;
	return 0;
}

/* Perf maps */

/* Room for @bytes more of text, and a NUL. */
static int jit_symbols__reserve_text(struct jit_symbols *symbols, size_t bytes)
{
	size_t needed = symbols->text_bytes + bytes + 1;
	char *text;

	if (needed <= symbols->text_capacity)
		return 0;
	needed *= 2;
	text = realloc(symbols->text, needed);
	if (!text)
		return -ENOMEM;
	symbols->text = text;
	symbols->text_capacity = needed;
	return 0;
}

int jit_symbols__add_perf_map(struct jit_symbols *symbols, uint64_t offset,
			      const char *text, size_t bytes)
{
	const char *line_end;

	if (jit_symbols__reserve_text(symbols, bytes + 1))
		return -ENOMEM;
	if (offset != symbols->text_offset) {
		symbols->text[symbols->text_bytes++] = '\n';
		symbols->is_in_half_line = offset > 0;
	}
	symbols->text_offset = offset + bytes;
	/* Half a line would be read as another address. */
	if (symbols->is_in_half_line) {
		line_end = memchr(text, '\n', bytes);
		if (!line_end)
			return 0;
		bytes -= (size_t)(line_end - text);
		text = line_end;
		symbols->is_in_half_line = false;
	}
	for (size_t i = 0; i < bytes; i++)
		symbols->text[symbols->text_bytes++] = text[i] ? text[i] : '\n';
	return 0;
}

static int jit_symbols__parse_text(struct jit_symbols *symbols)
{
	char *cursor = symbols->text, *line;

	if (cursor)
		cursor[symbols->text_bytes] = '\0';
	while ((line = strsep(&cursor, "\n"))) {
		struct entry entry = {0};

		if (!perf_map__parse_line(line, &entry.symbol) &&
		    jit_symbols__add(symbols, &entry))
			return -ENOMEM;
	}
	return 0;
}

/* Jitdumps */

static int jit_symbols__add_one_code(struct jit_symbols *symbols,
				     const struct gpu_log_jit_code *code)
{
	struct entry entry = {
		.symbol = {.start = code->address,
			   .name = code->is_moved ? NULL : code->name},
		.time_ns = code->time_ns,
		.index = code->index,
		.is_code = true,
	};

	if (__builtin_add_overflow(code->address, code->bytes, &entry.symbol.end) ||
	    !code->bytes || (!code->is_moved && !*code->name))
		return 0;
	symbols->nr_moved += code->is_moved;
	return jit_symbols__add(symbols, &entry);
}

int jit_symbols__add_code(struct jit_symbols *symbols, const void *data, size_t bytes)
{
	const struct gpu_log_jit_code *code;
	struct chunk *chunk = malloc(sizeof(*chunk) + bytes);
	size_t offset = 0, room;

	if (!chunk)
		return -ENOMEM;
	memcpy(chunk->data, data, bytes);
	chunk->next = symbols->chunks;
	symbols->chunks = chunk;
	while (offset < bytes) {
		code = (const void *)(chunk->data + offset);
		if (bytes - offset < sizeof(*code))
			return -EINVAL;
		room = bytes - offset - sizeof(*code);
		if (code->nr_bytes >= room || code->name[code->nr_bytes])
			return -EINVAL;
		if (jit_symbols__add_one_code(symbols, code))
			return -ENOMEM;
		offset += (sizeof(*code) + code->nr_bytes + 1 + 7) & ~(size_t)7;
	}
	return 0;
}

static int compare_indexes(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Code that was moved has the name it had: of the one before it with its index. */
static int jit_symbols__name_moved(struct jit_symbols *symbols)
{
	struct entry **by_index;
	size_t nr = 0;

	if (!symbols->nr_moved)
		return 0;
	by_index = reallocarray(NULL, symbols->nr, sizeof(*by_index));
	if (!by_index)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->nr; i++)
		if (symbols->entries[i].is_code)
			by_index[nr++] = &symbols->entries[i];
	qsort(by_index, nr, sizeof(*by_index), compare_indexes);
	for (size_t i = 0; i < nr; i++) {
		if (by_index[i]->symbol.name)
			continue;
		if (i && by_index[i - 1]->index == by_index[i]->index)
			by_index[i]->symbol.name = by_index[i - 1]->symbol.name;
		if (!by_index[i]->symbol.name) /* moved, but never loaded */
			by_index[i]->symbol.name = "";
	}
	free(by_index);
	return 0;
}

/* The tree */

static int compare_starts(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Return: how far the entries from @low to before @high reach. */
static uint64_t set_max_ends(struct entry *entries, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;
	uint64_t max_end, end;

	if (low == high)
		return 0;
	max_end = entries[middle].symbol.end;
	end = set_max_ends(entries, low, middle);
	max_end = end > max_end ? end : max_end;
	end = set_max_ends(entries, middle + 1, high);
	max_end = end > max_end ? end : max_end;
	entries[middle].max_end = max_end;
	return max_end;
}

int jit_symbols__finish(struct jit_symbols *symbols)
{
	if (jit_symbols__parse_text(symbols) || jit_symbols__name_moved(symbols))
		return -ENOMEM;
	if (!symbols->nr)
		return 0;
	qsort(symbols->entries, symbols->nr, sizeof(*symbols->entries), compare_starts);
	set_max_ends(symbols->entries, 0, symbols->nr);
	return 0;
}

/* Is @a to be taken rather than @b, at a time? */
static bool is_better(const struct entry *a, const struct entry *b, uint64_t time_ns)
{
	bool is_later =
		a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->order > b->order;

	if ((a->time_ns <= time_ns) != (b->time_ns <= time_ns))
		return a->time_ns <= time_ns;
	return a->time_ns <= time_ns ? is_later : !is_later;
}

static void find_best(struct entry *entries, size_t low, size_t high, uint64_t address,
		      uint64_t time_ns, struct entry **best)
{
	size_t middle = low + (high - low) / 2;
	struct entry *entry;

	if (low == high)
		return;
	entry = &entries[middle];
	if (entry->max_end <= address)
		return;
	find_best(entries, low, middle, address, time_ns, best);
	if (entry->symbol.start > address)
		return;
	if (entry->symbol.end > address && (!*best || is_better(entry, *best, time_ns)))
		*best = entry;
	find_best(entries, middle + 1, high, address, time_ns, best);
}

const struct symbol *jit_symbols__find(struct jit_symbols *symbols, uint64_t address,
				       uint64_t time_ns)
{
	struct entry *best = NULL;
	struct symbol *symbol;

	find_best(symbols->entries, 0, symbols->nr, address, time_ns, &best);
	if (!best || !*best->symbol.name)
		return NULL;
	symbol = &best->symbol;
	symbol__demangle(symbol, &symbols->is_memory_told);
	return symbol;
}
