// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An ELF file of any bytes: its symbols, as reports look for them, and what the recorder
 * takes out of the files that a target has mapped, exported functions and build ids.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "perfdata/buffer.h"
#include "record/build_ids.h"
#include "record/elf_functions.h"
#include "symbol/elf_symbols.h"
#include "symbol/symtab.h"

#define MAX_FUNCTIONS 16
/* Words of the input that are looked up as offsets and as addresses */
#define MAX_LOOKUPS 512

static volatile size_t sum; /* so that what is looked at is read */

static bool is_wanted(const char *name, const void *ctx)
{
	(void)ctx;
	sum += strlen(name);
	return true;
}

static void look_for_functions(const char *path)
{
	uint64_t offsets[MAX_FUNCTIONS];
	size_t nr;

	if (!elf_functions__find(path, is_wanted, NULL, MAX_FUNCTIONS, offsets, &nr) &&
	    nr > MAX_FUNCTIONS)
		abort();
}

static void read_build_id(const char *path)
{
	struct perfdata_buffer table = {0};
	struct build_ids_unreadable unreadable;
	struct build_ids *ids;

	if (build_ids__new(&ids))
		abort();
	build_ids__add(ids, path, NULL, 0);
	build_ids__read(ids, &table, &unreadable);
	perfdata_buffer__release(&table);
	build_ids__delete(ids);
}

static void look_up(struct elf_symbols *elf, uint64_t address)
{
	const struct symbol *symbol = elf_symbols__find(elf, address);

	if (!symbol)
		return;
	if (address < symbol->start || address >= symbol->end || !*symbol->name ||
	    !*symbol->demangled)
		abort();
	sum += strlen(symbol->name) + strlen(symbol->demangled);
}

static void look_up_words(struct elf_symbols *elf, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < MAX_LOOKUPS; i++) {
		size_t at = i * 8;
		uint64_t word = i, address;

		if (at + sizeof(word) <= size)
			memcpy(&word, data + at, sizeof(word));
		look_up(elf, word);
		if (!elf_symbols__address(elf, word, &address))
			look_up(elf, address);
		if (!elf_symbols__address(elf, at, &address))
			look_up(elf, address);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct build_id any = {0};
	struct elf_symbols *elf;
	struct fuzz_path path;
	int fd = fuzz_file__open(data, size, &path);

	look_for_functions(path.text);
	read_build_id(path.text);
	/* No debug files: they would be this machine's. */
	if (!elf_symbols__open(path.text, &any, "", &elf)) {
		look_up_words(elf, data, size);
		elf_symbols__close(elf);
	}
	close(fd);
	return 0;
}
