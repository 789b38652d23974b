// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/marker_offset.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "record/elf_functions.h"

static bool has_name(const char *name, const void *wanted)
{
	return !strcmp(name, wanted);
}

int marker_offset__find(const char *path, const char *symbol, uint64_t *ret)
{
	uint64_t offset;
	size_t nr;
	int err;

	err = elf_functions__find(path, has_name, symbol, 1, &offset, &nr);
	if (err)
		return err;
	if (!nr)
		return -ENOENT;
	*ret = offset;
	return 0;
}

struct own_search {
	uint64_t address;
	uint64_t offset;
};

/* Called for the program first, then for its libraries. */
static int find_in_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct own_search *search = ctx;
	uint64_t address = search->address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz) {
			search->offset = address - segment->p_vaddr + segment->p_offset;
			return 1;
		}
	}
	return -1; /* not of the program: stop here */
}

int marker_offset__find_own(const void *function, uint64_t *ret)
{
	struct own_search search = {.address = (uint64_t)(uintptr_t)function};

	if (dl_iterate_phdr(find_in_program, &search) != 1)
		return -ENOENT;
	*ret = search.offset;
	return 0;
}
