// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/elf_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file may be anybody's: what is larger is nothing that is to be read into memory. CUDA
 * 13's libcuda has 90 MB, 9 segments and 60 KB of symbols.
 */
#define MAX_SECTION_BYTES (64u << 20)
#define MAX_SEGMENTS	  256

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

	if (elf_getphdrnum(elf, &nr_segments) || nr_segments > MAX_SEGMENTS)
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

/* What libelf has failed by: the system, or what is in the file */
static int elf_error(void)
{
	return errno == EIO || errno == ENOMEM ? -errno : -EINVAL;
}

static int search__take_symbols(struct search *search, Elf_Scn *section,
				const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym sym;

	if (!data)
		return elf_error();
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(search->elf, header->sh_link, sym.st_name);

		if (name && sym.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
		    search->is_wanted(name, search->ctx))
			search__add(search, sym.st_value);
	}
	return errno == EIO || errno == ENOMEM ? -errno : 0;
}

static bool is_sane(Elf *elf, const GElf_Shdr *symbols)
{
	Elf_Scn *section = elf_getscn(elf, symbols->sh_link);
	GElf_Shdr names;

	return symbols->sh_size <= MAX_SECTION_BYTES && gelf_getshdr(section, &names) &&
	       names.sh_size <= MAX_SECTION_BYTES;
}

/* Whatever is there, opening it must not wait. A descriptor or a negative errno. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!err)
		return fd;
	close(fd);
	return err;
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
	fd = open_file(path);
	if (fd < 0)
		return fd;
	errno = 0;
	/* Not mapped: a file that is cut meanwhile must not be a SIGBUS. */
	search.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!search.elf || elf_kind(search.elf) != ELF_K_ELF) {
		err = elf_error();
		goto out;
	}
	while ((section = elf_nextscn(search.elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		if (is_sane(search.elf, &header))
			err = search__take_symbols(&search, section, &header);
		else
			err = -EINVAL;
		break; /* there is one in a file */
	}
	if (err)
		goto out;
	*ret_nr = search.nr;
out:
	elf_end(search.elf);
	close(fd);
	return err;
}
