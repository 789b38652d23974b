// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind tables that libdw may be given, and such that would keep it busy: unwind/tables.c */
#include "unit.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>

#include "unwind/tables.h"

#define FRAME_AT 0x200 /* .eh_frame, in the file and in memory */
#define INDEX_AT 0x180

/* A file of a segment with an index, and of tables that go on to its end */
struct file {
	unsigned char bytes[1 << 18];
	size_t nr_bytes;
};

static void put(struct file *file, const void *bytes, size_t nr)
{
	memcpy(file->bytes + file->nr_bytes, bytes, nr);
	file->nr_bytes += nr;
}

static void put_32(struct file *file, uint32_t word)
{
	put(file, &word, sizeof(word));
}

static void begin(struct file *file, uint32_t nr_indexed)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	Elf64_Phdr segment = {
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = INDEX_AT,
		.p_vaddr = INDEX_AT,
		.p_filesz = 12 + 8 * nr_indexed,
	};
	static const unsigned char forms[4] = {1, 0x1b, 0x03, 0x3b};

	memset(file, 0, sizeof(*file));
	put(file, &header, sizeof(header));
	put(file, &segment, sizeof(segment));
	file->nr_bytes = INDEX_AT;
	put(file, forms, sizeof(forms));
	put_32(file, FRAME_AT - INDEX_AT - 4);
	put_32(file, nr_indexed);
	file->nr_bytes = FRAME_AT;
}

/* A common entry with "zR" and 4 bytes for addresses; returns where it is. */
static size_t add_common(struct file *file, const void *program, size_t nr)
{
	static const unsigned char head[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b};
	size_t at = file->nr_bytes;

	put_32(file, (uint32_t)(4 + sizeof(head) + nr));
	put_32(file, 0);
	put(file, head, sizeof(head));
	put(file, program, nr);
	return at;
}

/* An entry of a function of the common one at COMMON */
static size_t add_function(struct file *file, size_t common, const void *program,
			   size_t nr)
{
	size_t at = file->nr_bytes;

	put_32(file, (uint32_t)(4 + 8 + 1 + nr));
	put_32(file, (uint32_t)(file->nr_bytes - common));
	put_32(file, 0);
	put_32(file, 16);
	put(file, "", 1);
	put(file, program, nr);
	return at;
}

static void index_entry(struct file *file, size_t i, size_t at)
{
	uint32_t words[2] = {(uint32_t)i * 16, (uint32_t)(at - INDEX_AT)};

	memcpy(file->bytes + INDEX_AT + 12 + 8 * i, words, sizeof(words));
}

static bool is_bounded(struct file *file)
{
	Elf *elf;
	bool is;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)file->bytes, file->nr_bytes);
	CHECK(elf);
	is = tables__are_bounded(elf);
	elf_end(elf);
	return is;
}

/* def_cfa r7 8, offset r16 1 */
static const unsigned char plain[] = {0x0c, 7, 8, 0x90, 1};

/* A function's program, in a file whose index has it, and in one without an index */
static bool function_is_bounded(const void *program, size_t nr)
{
	static struct file file;
	bool is[2];

	for (uint32_t nr_indexed = 0; nr_indexed < 2; nr_indexed++) {
		size_t at;

		begin(&file, nr_indexed);
		at = add_function(&file, add_common(&file, plain, sizeof(plain)), program,
				  nr);
		put_32(&file, 0);
		if (nr_indexed)
			index_entry(&file, 0, at);
		is[nr_indexed] = is_bounded(&file);
	}
	CHECK_EQ(is[0], is[1]);
	return is[0];
}

#define BOUNDED(...)                                              \
	function_is_bounded((const unsigned char[]){__VA_ARGS__}, \
			    sizeof((const unsigned char[]){__VA_ARGS__}))

TEST(what_compilers_write_is_bounded)
{
	CHECK(BOUNDED(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x4c, 0xc6, 0x0c, 7,
		      8, 0x0b));
	CHECK(BOUNDED(0x0f, 3, 0x77, 0x08, 0x06, 0x10, 6, 2, 0x76, 0));
	CHECK(BOUNDED(0x05, 127, 1)); /* offset_extended r127 */
}

TEST(registers_that_no_processor_has_are_not)
{
	CHECK(!BOUNDED(0x05, 0x80, 1, 1)); /* offset_extended r128 */
	CHECK(!BOUNDED(0x06, 0xff, 0xff, 0x7f)); /* restore_extended */
	CHECK(!BOUNDED(0x07, 0xff, 0xff, 0x7f)); /* undefined */
	CHECK(!BOUNDED(0x08, 0xff, 0xff, 0x7f)); /* same_value */
	CHECK(!BOUNDED(0x09, 0xff, 0xff, 0x7f, 1)); /* register */
	CHECK(!BOUNDED(0x10, 0xff, 0xff, 0x7f, 0)); /* expression */
	CHECK(!BOUNDED(0x11, 0xff, 0xff, 0x7f, 1)); /* offset_extended_sf */
	CHECK(!BOUNDED(0x14, 0xff, 0xff, 0x7f, 1)); /* val_offset */
	CHECK(!BOUNDED(0x15, 0xff, 0xff, 0x7f, 1)); /* val_offset_sf */
	CHECK(!BOUNDED(0x16, 0xff, 0xff, 0x7f, 0)); /* val_expression */
	CHECK(!BOUNDED(0x2f, 0xff, 0xff, 0x7f, 1)); /* GNU_negative_offset_extended */
	/* What is added to one, or says where the frame is, is no register of the table. */
	CHECK(BOUNDED(0x0c, 7, 0xff, 0xff, 0x7f)); /* def_cfa */
}

/* The rest of it would be read from what comes behind. */
TEST(an_operand_that_is_cut_is_not)
{
	CHECK(!BOUNDED(0x07));
	CHECK(!BOUNDED(0x07, 0x80));
	CHECK(!BOUNDED(0x01, 0, 0, 0, 0)); /* set_loc */
	CHECK(BOUNDED(0x3f, 0x07)); /* nobody knows it, nor goes on behind it */
}

TEST(states_are_remembered_a_few_at_a_time)
{
	unsigned char program[2000];

	memset(program, 0x0a, sizeof(program));
	CHECK(function_is_bounded(program, 16));
	CHECK(!function_is_bounded(program, 17));
	for (size_t i = 1; i < sizeof(program); i += 2)
		program[i] = 0x0b;
	CHECK(function_is_bounded(program, sizeof(program)));
}

TEST(programs_have_a_length)
{
	static unsigned char nops[65537];

	CHECK(function_is_bounded(nops, 65536));
	CHECK(!function_is_bounded(nops, 65537));
}

TEST(common_entries_are_looked_at)
{
	static const unsigned char bad[] = {0x07, 0xff, 0xff, 0x7f};
	static struct file file;

	begin(&file, 0);
	add_function(&file, add_common(&file, bad, sizeof(bad)), plain, sizeof(plain));
	put_32(&file, 0);
	CHECK(!is_bounded(&file));
}

/* An index can point at what is no entry where entries follow each other. */
TEST(what_the_index_points_at_is_looked_at)
{
	static const unsigned char bad[] = {0x07, 0xff, 0xff, 0x7f};
	static struct file file;
	size_t common, at;

	begin(&file, 1);
	common = add_common(&file, plain, sizeof(plain));
	put_32(&file, 0); /* the end, for who goes through all */
	at = add_function(&file, common, bad, sizeof(bad));
	index_entry(&file, 0, common);
	CHECK(is_bounded(&file));
	index_entry(&file, 0, at);
	CHECK(!is_bounded(&file));
}

/* Many entries of an index that point at the same */
TEST(all_together_has_a_bound)
{
	static unsigned char nops[8192];
	static struct file file;
	size_t at;

	begin(&file, 15);
	at = add_function(&file, add_common(&file, plain, sizeof(plain)), nops,
			  sizeof(nops));
	for (size_t i = 0; i < 15; i++)
		index_entry(&file, i, at);
	put_32(&file, 0);
	CHECK(!is_bounded(&file));
}

TEST(an_index_in_another_form_is_not)
{
	static struct file file;

	for (size_t i = 0; i < 4; i++) {
		begin(&file, 1);
		index_entry(&file, 0,
			    add_function(&file, add_common(&file, plain, sizeof(plain)),
					 plain, sizeof(plain)));
		put_32(&file, 0);
		CHECK(is_bounded(&file));
		file.bytes[INDEX_AT + i] = 0x01;
		CHECK_EQ(is_bounded(&file), i == 0);
	}
}

/* By sections, as files have them that aren't made by hand: this very program's */
TEST(sections_are_found_by_their_names)
{
	unsigned char *instructions;
	Elf_Scn *section = NULL;
	Dwarf_CFI_Entry entry;
	GElf_Shdr header;
	Dwarf_Off next;
	size_t names;
	int fd;
	Elf *elf;

	elf_version(EV_CURRENT);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	CHECK(elf);
	CHECK(tables__are_bounded(elf));
	CHECK(!elf_getshdrstrndx(elf, &names));
	do {
		section = elf_nextscn(elf, section);
		CHECK(section && gelf_getshdr(section, &header));
	} while (strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame"));
	CHECK(!dwarf_next_cfi((void *)elf_getident(elf, NULL), elf_rawdata(section, NULL),
			      true, 0, &next, &entry));
	CHECK(dwarf_cfi_cie_p(&entry));
	instructions = (unsigned char *)(uintptr_t)entry.cie.initial_instructions;
	CHECK(entry.cie.initial_instructions_end - instructions >= 3);
	memcpy(instructions, (unsigned char[]){0x07, 0xff, 0x7f}, 3);
	CHECK(!tables__are_bounded(elf));
	elf_end(elf);
	close(fd);
}
