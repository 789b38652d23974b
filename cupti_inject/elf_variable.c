// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf_variable.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	const unsigned char *bytes;
	size_t nr;
};

static int file__map(struct file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -1;
	file->bytes = map;
	file->nr = (size_t)st.st_size;
	return 0;
}

/* A part of the file, if all of it is there and aligned; else NULL */
static const void *file__part(const struct file *file, uint64_t offset, uint64_t bytes)
{
	if (offset > file->nr || bytes > file->nr - offset || offset % 8)
		return NULL;
	return file->bytes + offset;
}

static const ElfW(Shdr) * file__sections(const struct file *file, size_t *ret_nr)
{
	const ElfW(Ehdr) *header = file__part(file, 0, sizeof(*header));

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_shentsize != sizeof(ElfW(Shdr)))
		return NULL;
	*ret_nr = header->e_shnum;
	return file__part(file, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr)));
}

/* The variable's symbol in a table, or NULL */
static const ElfW(Sym) * find_symbol(const struct file *file, const ElfW(Shdr) * table,
				     const ElfW(Shdr) * texts, const char *name,
				     size_t bytes)
{
	const ElfW(Sym) *symbols = file__part(file, table->sh_offset, table->sh_size);
	const size_t nr = table->sh_size / sizeof(*symbols),
		     name_bytes = strlen(name) + 1;

	if (!symbols || texts->sh_offset > file->nr ||
	    texts->sh_size > file->nr - texts->sh_offset)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		const ElfW(Sym) *symbol = &symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
		    symbol->st_size == bytes && symbol->st_shndx != SHN_UNDEF &&
		    symbol->st_name < texts->sh_size &&
		    texts->sh_size - symbol->st_name >= name_bytes &&
		    !memcmp(file->bytes + texts->sh_offset + symbol->st_name, name,
			    name_bytes))
			return symbol;
	}
	return NULL;
}

static const ElfW(Sym) *
	file__find(const struct file *file, const char *name, size_t bytes)
{
	size_t nr = 0;
	const ElfW(Shdr) *sections = file__sections(file, &nr);

	for (size_t i = 0; sections && i < nr; i++)
		if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < nr)
			return find_symbol(file, &sections[i],
					   &sections[sections[i].sh_link], name, bytes);
	return NULL;
}

/* The object that an address is of, or NULL */
static const struct link_map *object_of(const void *address)
{
	struct link_map *object = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

void *elf_variable__find(const void *code, const char *name, size_t bytes)
{
	const struct link_map *object = object_of(code);
	const ElfW(Sym) * symbol;
	void *found = NULL;
	struct file file;

	if (!object ||
	    file__map(&file, *object->l_name ? object->l_name : "/proc/self/exe"))
		return NULL;
	symbol = file__find(&file, name, bytes);
	if (symbol)
		found = (void *)(object->l_addr + symbol->st_value);
	if ((uintptr_t)found % bytes || object_of(found) != object)
		found = NULL;
	munmap((void *)file.bytes, file.nr);
	return found;
}
