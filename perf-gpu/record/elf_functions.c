// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/elf_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

struct search {
	Elf *elf;
	elf_function_filter_fn *is_wanted;
	const void *ctx;
	uint64_t *offsets;
	size_t nr, max;
};

/* The offset in the file of what is loaded at @address. */
static int file_offset(Elf *elf, uint64_t address, uint64_t *ret)
{
	size_t nr_segments;

	if (elf_getphdrnum(elf, &nr_segments))
		return -EINVAL;
	for (size_t i = 0; i < nr_segments; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz) {
			*ret = address - segment.p_vaddr + segment.p_offset;
			return 0;
		}
	}
	return -ENOENT;
}

static void search__add(struct search *search, uint64_t address)
{
	uint64_t offset;

	if (file_offset(search->elf, address, &offset))
		return;
	for (size_t i = 0; i < search->nr; i++) {
		if (search->offsets[i] == offset)
			return;
	}
	if (search->nr < search->max)
		search->offsets[search->nr++] = offset;
}

static void search__take_symbols(struct search *search, Elf_Scn *section,
				 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(search->elf, header->sh_link, sym.st_name);

		if (name && sym.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
		    search->is_wanted(name, search->ctx))
			search__add(search, sym.st_value);
	}
}

int elf_functions__find(const char *path, elf_function_filter_fn *is_wanted,
			const void *ctx, size_t max, uint64_t *ret_offsets,
			size_t *ret_nr)
{
	struct search search = {
		.is_wanted = is_wanted, .ctx = ctx, .offsets = ret_offsets, .max = max};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int fd, err = 0;

	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	search.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!search.elf || elf_kind(search.elf) != ELF_K_ELF) {
		err = -EINVAL;
		goto out;
	}
	while ((section = elf_nextscn(search.elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			search__take_symbols(&search, section, &header);
	}
	*ret_nr = search.nr;
out:
	elf_end(search.elf);
	close(fd);
	return err;
}
