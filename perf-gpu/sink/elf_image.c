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

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/arch.h"
#include "util/visible.h"

#define NOTE_OFFSET 0x200

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
	memcpy(to, from, strlen(from) + 1);
	visible__clean(to);
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

static int make_text(const struct arch *arch, struct section_content *text)
{
	uint8_t *data = malloc(text->bytes + 1);

	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < text->bytes; i += arch->nop_bytes)
		memcpy(data + i, arch->nop, arch->nop_bytes);
	text->data = data;
	return 0;
}

/* --- writing ----------------------------------------------------------------------------- */

/*
 * By hand: libelf 0.188 crashes where it has no memory for a section, and there is nothing
 * here that it would know better.
 */
struct image_file {
	int fd, err;
	uint64_t nr_bytes;
};

static void put(struct image_file *file, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes && !file->err) {
		ssize_t n = write(file->fd, from, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			file->err = n < 0 ? -errno : -EIO;
			return;
		}
		from += n;
		bytes -= (size_t)n;
		file->nr_bytes += (uint64_t)n;
	}
}

static void pad(struct image_file *file, uint64_t offset)
{
	static const char zeros[256];

	while (file->nr_bytes < offset && !file->err) {
		uint64_t nr = offset - file->nr_bytes;

		put(file, zeros, nr < sizeof(zeros) ? nr : sizeof(zeros));
	}
}

static void put_headers(struct image_file *file, const struct arch *arch,
			const struct section_content *contents, uint64_t sections)
{
	const uint64_t note_bytes = contents[SECTION_NOTE].bytes;
	const uint64_t text_bytes = contents[SECTION_TEXT].bytes;
	Elf64_Phdr headers[] = {
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
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = arch->elf_machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = sections,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(*headers),
		.e_phnum = (Elf64_Half)nr_headers,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NR_SECTIONS,
		.e_shstrndx = SECTION_SHSTRTAB,
	};

	for (size_t i = 0; i < nr_headers; i++) {
		headers[i].p_vaddr = headers[i].p_paddr = headers[i].p_offset;
		headers[i].p_memsz = headers[i].p_filesz;
	}
	put(file, &header, sizeof(header));
	put(file, headers, sizeof(headers));
}

static Elf64_Shdr section_header(const struct section_content *content, Elf64_Word name)
{
	bool is_symtab = content->type == SHT_SYMTAB;

	return (Elf64_Shdr){
		.sh_name = name,
		.sh_type = content->type,
		.sh_flags = content->flags,
		.sh_addr = content->flags & SHF_ALLOC ? content->offset : 0,
		.sh_offset = content->offset,
		.sh_size = content->bytes,
		.sh_addralign = content->align,
		.sh_link = is_symtab ? SECTION_STRTAB : 0,
		.sh_info = is_symtab ? 1 : 0, /* the first that is global */
		.sh_entsize = is_symtab ? sizeof(Elf64_Sym) : 0,
	};
}

static int write_elf(int fd, const struct arch *arch, struct section_content *contents)
{
	struct image_file file = {.fd = fd};
	Elf64_Shdr headers[NR_SECTIONS] = {0};
	Elf64_Word name = 1; /* in .shstrtab */
	uint64_t offset = 0;

	for (int i = SECTION_NULL + 1; i < NR_SECTIONS; i++) {
		struct section_content *content = &contents[i];

		if (!content->offset)
			content->offset = offset;
		offset = (content->offset + content->bytes + 7) & ~7ull;
		headers[i] = section_header(content, name);
		name += (Elf64_Word)strlen(content->name) + 1;
	}
	put_headers(&file, arch, contents, offset);
	for (int i = SECTION_NULL + 1; i < NR_SECTIONS; i++) {
		pad(&file, contents[i].offset);
		put(&file, contents[i].data, contents[i].bytes);
	}
	pad(&file, offset);
	put(&file, headers, sizeof(headers));
	return file.err;
}

int elf_image__write(int fd, const struct arch *arch, const char *const *names,
		     size_t nr_names, uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES])
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
				  .align = 4},
		[SECTION_TEXT] = {.name = ".text",
				  .type = SHT_PROGBITS,
				  .flags = SHF_ALLOC | SHF_EXECINSTR,
				  .offset = ELF_IMAGE_TEXT_OFFSET,
				  .bytes = nr_names * ELF_IMAGE_SYMBOL_BYTES,
				  .align = 16},
		[SECTION_SYMTAB] = {.name = ".symtab", .type = SHT_SYMTAB, .align = 8},
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
		err = make_text(arch, &contents[SECTION_TEXT]);
	if (!err) {
		hash_strings(strtab->data, strtab->bytes, note.id);
		err = write_elf(fd, arch, contents);
	}
	if (!err)
		memcpy(ret_build_id, note.id, sizeof(note.id));
	free(contents[SECTION_TEXT].data);
	free(contents[SECTION_SYMTAB].data);
	free(strtab->data);
	return err;
}
