// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/marker_offset.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

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

static bool find_in_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			    const char *symbol, uint64_t *ret_address)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, header->sh_link, sym.st_name);

		if (name && sym.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC && !strcmp(name, symbol)) {
			*ret_address = sym.st_value;
			return true;
		}
	}
	return false;
}

int marker_offset__find(const char *path, const char *symbol, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	uint64_t address;
	int err = -ENOENT;
	GElf_Shdr header;
	Elf *elf;
	int fd;

	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		err = -EINVAL;
		goto out;
	}
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		if (find_in_section(elf, section, &header, symbol, &address)) {
			err = file_offset(elf, address, ret);
			break;
		}
	}
out:
	elf_end(elf);
	close(fd);
	return err;
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
