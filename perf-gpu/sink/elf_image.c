// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file, as readers want it (perf, hotspot, and objdump for perf annotate):
 *
 *   +----------------------------+ 0        PT_LOAD, read only
 *   | ELF header, program headers|
 *   | .note.gnu.build-id         | 0x200    PT_NOTE
 *   +----------------------------+ 0x1000   PT_LOAD, executable: what is mapped
 *   | .text: nops, 64 bytes for  |
 *   | each name                  |
 *   +----------------------------+
 *   | .symtab: a function each   |
 *   | .strtab, .shstrtab         |
 *   | section headers            |
 *   +----------------------------+
 *
 * Addresses in the file are offsets in it. The first PT_LOAD is there for
 * libdwfl, which takes the first one's address as the file's beginning.
 *
 * Stateless; any thread.
 */
#include "sink/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/visible.h"

#define NOTE_OFFSET 0x200

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
static const uint8_t nop[] = {0x90};
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};
#else
#error "which e_machine, and which nop?"
#endif

/* The sections, in the order of the file. */
enum section {
	SECTION_NULL,
	SECTION_NOTE,
	SECTION_TEXT,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_SHSTRTAB,
	NR_SECTIONS,
};

struct section_content {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t offset; /* in the file; 0: behind the section before */
	void *data;
	size_t bytes;
	uint64_t align;
	Elf_Type elf_type;
};

struct build_id_note {
	Elf64_Nhdr header;
	char owner[4];
	uint8_t id[ELF_IMAGE_BUILD_ID_BYTES];
};

/*
 * Nobody forges names to get the same id twice: a hash that is good for telling
 * lists apart will do, and no library at hand has a cryptographic one. FNV-1a of
 * 128 bits (http://www.isthe.com/chongo/tech/comp/fnv/), and a CRC-32.
 */
static void hash_strings(const char *strings, size_t bytes,
			 uint8_t ret_id[ELF_IMAGE_BUILD_ID_BYTES])
{
	const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
	unsigned __int128 fnv =
		(unsigned __int128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d;
	uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)strings, bytes);

	for (size_t i = 0; i < bytes; i++)
		fnv = (fnv ^ (unsigned char)strings[i]) * prime;
	memcpy(ret_id, &fnv, sizeof(fnv));
	memcpy(ret_id + sizeof(fnv), &crc, sizeof(crc));
}

static void copy_visible(char *to, const char *from)
{
	for (; *from; from++)
		*to++ = visible_char(*from);
	*to = '\0';
}

/* Fill in .strtab and .symtab. */
static int make_symbols(const char *const *names, size_t nr_names,
			struct section_content *strtab, struct section_content *symtab)
{
	size_t nr_bytes = 1;
	Elf64_Sym *symbols;
	char *strings;

	for (size_t i = 0; i < nr_names; i++)
		nr_bytes += strlen(names[i]) + 1;
	if (nr_bytes > UINT32_MAX) /* st_name */
		return -E2BIG;
	symbols = calloc(nr_names + 1, sizeof(*symbols));
	strings = calloc(nr_bytes, 1);
	symtab->data = symbols;
	strtab->data = strings;
	if (!symbols || !strings)
		return -ENOMEM;
	symtab->bytes = (nr_names + 1) * sizeof(*symbols);
	strtab->bytes = nr_bytes;

	nr_bytes = 1;
	for (size_t i = 0; i < nr_names; i++) {
		symbols[i + 1] = (Elf64_Sym){
			.st_name = (Elf64_Word)nr_bytes,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = SECTION_TEXT,
			.st_value = ELF_IMAGE_TEXT_OFFSET + i * ELF_IMAGE_SYMBOL_BYTES,
			.st_size = ELF_IMAGE_SYMBOL_BYTES,
		};
		copy_visible(strings + nr_bytes, names[i]);
		nr_bytes += strlen(names[i]) + 1;
	}
	return 0;
}

static int make_text(struct section_content *text)
{
	uint8_t *data = malloc(text->bytes + 1);

	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < text->bytes; i += sizeof(nop))
		memcpy(data + i, nop, sizeof(nop));
	text->data = data;
	return 0;
}

static int add_section(Elf *elf, const struct section_content *content, uint64_t offset,
		       Elf64_Word name)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf64_Shdr *header = section ? elf64_getshdr(section) : NULL;
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	bool is_symtab = content->type == SHT_SYMTAB;

	if (!header || !data)
		return -EIO;
	*header = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = content->type,
		.sh_flags = content->flags,
		.sh_addr = content->flags & SHF_ALLOC ? offset : 0,
		.sh_offset = offset,
		.sh_size = content->bytes,
		.sh_addralign = content->align,
		.sh_link = is_symtab ? SECTION_STRTAB : 0,
		.sh_info = is_symtab ? 1 : 0, /* the first that is global */
		.sh_entsize = is_symtab ? sizeof(Elf64_Sym) : 0,
	};
	data->d_buf = content->data;
	data->d_size = content->bytes;
	data->d_align = content->align;
	data->d_type = content->elf_type;
	return 0;
}

static int add_program_headers(Elf *elf, const struct section_content *contents)
{
	const uint64_t note_bytes = contents[SECTION_NOTE].bytes;
	const uint64_t text_bytes = contents[SECTION_TEXT].bytes;
	const Elf64_Phdr headers[] = {
		{
			.p_type = PT_LOAD,
			.p_flags = PF_R,
			.p_filesz = NOTE_OFFSET + note_bytes,
			.p_align = ELF_IMAGE_TEXT_OFFSET,
		},
		{
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = ELF_IMAGE_TEXT_OFFSET,
			.p_filesz = text_bytes,
			.p_align = ELF_IMAGE_TEXT_OFFSET,
		},
		{
			.p_type = PT_NOTE,
			.p_flags = PF_R,
			.p_offset = NOTE_OFFSET,
			.p_filesz = note_bytes,
			.p_align = 4,
		},
	};
	const size_t nr_headers = sizeof(headers) / sizeof(*headers);
	Elf64_Phdr *to = elf64_newphdr(elf, nr_headers);

	if (!to)
		return -EIO;
	for (size_t i = 0; i < nr_headers; i++) {
		to[i] = headers[i];
		to[i].p_vaddr = to[i].p_paddr = headers[i].p_offset;
		to[i].p_memsz = headers[i].p_filesz;
	}
	return 0;
}

/* Contents are laid out here, since readers want the text at its place. */
static int write_elf(int fd, struct section_content *contents)
{
	uint64_t offset = 0;
	Elf64_Word name = 1; /* in .shstrtab */
	Elf64_Ehdr *header;
	int err = -EIO;
	Elf *elf;

	errno = 0; /* libelf has errors of its own, too */
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -EIO;
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	if (!elf)
		return -EIO;
	header = elf64_newehdr(elf);
	if (!header || !elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT))
		goto out;
	if (add_program_headers(elf, contents))
		goto out;
	for (int i = SECTION_NULL + 1; i < NR_SECTIONS; i++) {
		const struct section_content *content = &contents[i];

		if (content->offset)
			offset = content->offset;
		if (add_section(elf, content, offset, name))
			goto out;
		offset = (offset + content->bytes + 7) & ~7ull;
		name += (Elf64_Word)strlen(content->name) + 1;
	}
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_type = ET_DYN;
	header->e_machine = HOST_MACHINE;
	header->e_version = EV_CURRENT;
	header->e_phoff = sizeof(*header);
	header->e_shoff = offset;
	header->e_shstrndx = SECTION_SHSTRTAB;
	if (elf_update(elf, ELF_C_WRITE) >= 0)
		err = 0;
out:
	if (err && errno)
		err = -errno;
	elf_end(elf);
	return err;
}

int elf_image__write(int fd, const char *const *names, size_t nr_names,
		     uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES])
{
	static char section_names[] = "\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0"
				      ".shstrtab";
	struct build_id_note note = {
		.header = {.n_namesz = sizeof(note.owner),
			   .n_descsz = sizeof(note.id),
			   .n_type = NT_GNU_BUILD_ID},
		.owner = "GNU",
	};
	struct section_content contents[NR_SECTIONS] = {
		[SECTION_NOTE] = {.name = ".note.gnu.build-id",
				  .type = SHT_NOTE,
				  .flags = SHF_ALLOC,
				  .offset = NOTE_OFFSET,
				  .data = &note,
				  .bytes = sizeof(note),
				  .align = 4,
				  .elf_type = ELF_T_NHDR},
		[SECTION_TEXT] = {.name = ".text",
				  .type = SHT_PROGBITS,
				  .flags = SHF_ALLOC | SHF_EXECINSTR,
				  .offset = ELF_IMAGE_TEXT_OFFSET,
				  .bytes = nr_names * ELF_IMAGE_SYMBOL_BYTES,
				  .align = 16},
		[SECTION_SYMTAB] = {.name = ".symtab",
				    .type = SHT_SYMTAB,
				    .align = 8,
				    .elf_type = ELF_T_SYM},
		[SECTION_STRTAB] = {.name = ".strtab", .type = SHT_STRTAB, .align = 1},
		[SECTION_SHSTRTAB] = {.name = ".shstrtab",
				      .type = SHT_STRTAB,
				      .data = section_names,
				      .bytes = sizeof(section_names),
				      .align = 1},
	};
	struct section_content *strtab = &contents[SECTION_STRTAB];
	int err;

	err = make_symbols(names, nr_names, strtab, &contents[SECTION_SYMTAB]);
	if (!err)
		err = make_text(&contents[SECTION_TEXT]);
	if (!err) {
		hash_strings(strtab->data, strtab->bytes, note.id);
		err = write_elf(fd, contents);
	}
	if (!err)
		memcpy(ret_build_id, note.id, sizeof(note.id));
	free(contents[SECTION_TEXT].data);
	free(contents[SECTION_SYMTAB].data);
	free(strtab->data);
	return err;
}
