// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats: DWARF 5, 6.4; the Linux Standard Base, "Exception Frames". */
#include "unwind/tables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>

#include "cfi_code.h"

/* x86-64 has numbers up to 66 and arm64 up to 95 for what unwinding can restore. */
#define MAX_REGISTER 127
/* Compilers remember one state, and seldom another within it. */
#define MAX_REMEMBERED 16
/* Of one entry. A function of some thousand instructions, with 20 returns, has 200. */
#define MAX_PROGRAM_BYTES 65536
/* Entries can overlap, or be in an index twice: all together are looked at so often. */
#define MAX_TIMES 4

#define HEADER_VERSION 1
#define ENCODING_FRAME (DW_EH_PE_pcrel | DW_EH_PE_sdata4)
#define ENCODING_COUNT DW_EH_PE_udata4
#define ENCODING_TABLE (DW_EH_PE_datarel | DW_EH_PE_sdata4)

/* .eh_frame_hdr, in the form that all linkers write; the file is little-endian. */
struct header {
	uint8_t version;
	uint8_t frame_encoding, count_encoding, table_encoding;
	int32_t frame; /* from here: .eh_frame */
	uint32_t nr_entries;
	struct {
		int32_t start; /* of the function; from the header */
		int32_t entry; /* likewise */
	} entries[];
} __attribute__((packed));

struct tables {
	const unsigned char *e_ident;
	Elf_Data *data;
	bool is_eh_frame;
	uint64_t nr_bytes_left; /* that may be looked at */
	/* The common entry that was looked at last */
	Dwarf_Off common_offset;
	bool has_common, has_augmentation_size;
	size_t address_bytes; /* of a function's start, and of its length */
};

static bool tables__take(struct tables *tables, uint64_t nr_bytes)
{
	if (nr_bytes > tables->nr_bytes_left)
		return false;
	tables->nr_bytes_left -= nr_bytes;
	return true;
}

static bool code__names_register(const struct cfi_code *code)
{
	switch (code->op) {
	case CFI_OFFSET:
	case CFI_RESTORE:
	case CFI_OFFSET_EXTENDED:
	case CFI_RESTORE_EXTENDED:
	case CFI_UNDEFINED:
	case CFI_SAME_VALUE:
	case CFI_REGISTER:
	case CFI_EXPRESSION:
	case CFI_OFFSET_EXTENDED_SF:
	case CFI_VAL_OFFSET:
	case CFI_VAL_OFFSET_SF:
	case CFI_VAL_EXPRESSION:
	case CFI_GNU_NEGATIVE_OFFSET_EXTENDED:
		return true;
	default:
		return false;
	}
}

/* libdw goes up to what it doesn't know, which it takes for the end of all. */
static bool program__is_bounded(const unsigned char *start, const unsigned char *end)
{
	struct cfi_cursor cursor = {.at = start, .end = end};
	unsigned int nr_remembered = 0;
	struct cfi_code code;
	enum cfi_next next;

	while ((next = cfi_cursor__next(&cursor, &code)) == CFI_NEXT_CODE) {
		if (code__names_register(&code) && code.first > MAX_REGISTER)
			return false;
		if (code.op == CFI_REMEMBER_STATE && ++nr_remembered > MAX_REMEMBERED)
			return false;
		if (code.op == CFI_RESTORE_STATE && nr_remembered)
			nr_remembered--;
	}
	return next == CFI_NEXT_END ||
	       (next == CFI_NEXT_UNKNOWN && code.op != CFI_SET_LOC);
}

static bool tables__check_program(struct tables *tables, const unsigned char *start,
				  const unsigned char *end)
{
	return start <= end && end - start <= MAX_PROGRAM_BYTES &&
	       tables__take(tables, (uint64_t)(end - start)) &&
	       program__is_bounded(start, end);
}

/* Bytes of an address in an encoding; 0: not one that is written. */
static size_t encoded_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	default:
		return 0;
	}
}

/* How functions' addresses are encoded, as a common entry tells; false: not known. */
static bool read_augmentation(const Dwarf_CIE *common, uint8_t *ret_encoding)
{
	const uint8_t *data = common->augmentation_data;
	const uint8_t *end = data + common->augmentation_data_size;

	*ret_encoding = DW_EH_PE_absptr;
	if (!*common->augmentation)
		return true;
	if (*common->augmentation != 'z')
		return false;
	for (const char *letter = common->augmentation + 1; *letter; letter++) {
		size_t nr_bytes;

		if (*letter == 'S' || *letter == 'B')
			continue;
		if (data >= end)
			return false;
		switch (*letter) {
		case 'R':
			*ret_encoding = *data++;
			break;
		case 'L':
			data++;
			break;
		case 'P':
			nr_bytes = encoded_bytes(*data);
			/* One that is aligned has an unknown number of bytes before it. */
			if (!nr_bytes || *data == DW_EH_PE_aligned ||
			    (size_t)(end - data) < 1 + nr_bytes)
				return false;
			data += 1 + nr_bytes;
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool tables__check_common(struct tables *tables, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	uint8_t encoding;

	if (tables->has_common && tables->common_offset == offset)
		return true;
	tables->has_common = false;
	if (dwarf_next_cfi(tables->e_ident, tables->data, tables->is_eh_frame, offset,
			   &next, &entry))
		return true; /* nor can libdw read it, or what belongs to it */
	if (!dwarf_cfi_cie_p(&entry) || !read_augmentation(&entry.cie, &encoding) ||
	    !tables__check_program(tables, entry.cie.initial_instructions,
				   entry.cie.initial_instructions_end))
		return false;
	tables->address_bytes = encoded_bytes(encoding);
	tables->has_augmentation_size = *entry.cie.augmentation == 'z';
	tables->common_offset = offset;
	tables->has_common = true;
	return tables->address_bytes && encoding != DW_EH_PE_aligned;
}

/* Skip the bytes that a function's entry has for who handles exceptions. */
static bool skip_augmentation(struct cfi_cursor *cursor)
{
	unsigned int shift = 0;
	uint64_t nr_bytes = 0;
	unsigned char byte;

	do {
		if (cursor->at == cursor->end || shift > 28)
			return false;
		byte = *cursor->at++;
		nr_bytes |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (nr_bytes > (uint64_t)(cursor->end - cursor->at))
		return false;
	cursor->at += nr_bytes;
	return true;
}

static bool tables__check_function(struct tables *tables, const Dwarf_FDE *function)
{
	struct cfi_cursor cursor = {.at = function->start, .end = function->end};

	if (!tables__check_common(tables, function->CIE_pointer))
		return false;
	if (!tables->has_common)
		return true;
	if ((size_t)(cursor.end - cursor.at) < 2 * tables->address_bytes)
		return false;
	cursor.at += 2 * tables->address_bytes;
	if (tables->has_augmentation_size && !skip_augmentation(&cursor))
		return false;
	return tables__check_program(tables, cursor.at, cursor.end);
}

/* The entry at an offset. @ret_next: of the next; -1: there is none. */
static bool tables__check_entry(struct tables *tables, Dwarf_Off offset,
				Dwarf_Off *ret_next)
{
	Dwarf_CFI_Entry entry;

	*ret_next = (Dwarf_Off)-1;
	/* So that an index of entries that can't be read has an end, too */
	if (!tables__take(tables, sizeof(uint64_t)))
		return false;
	if (dwarf_next_cfi(tables->e_ident, tables->data, tables->is_eh_frame, offset,
			   ret_next, &entry))
		return true;
	return dwarf_cfi_cie_p(&entry) || tables__check_function(tables, &entry.fde);
}

static bool tables__check_all(struct tables *tables)
{
	Dwarf_Off offset = 0, next;

	for (; offset < tables->data->d_size; offset = next) {
		if (!tables__check_entry(tables, offset, &next))
			return false;
		if (next == (Dwarf_Off)-1 || next <= offset)
			break;
	}
	return true;
}

/*
 * @at: the header's address. @ret_frame: that of .eh_frame. @ret_nr: of entries; 0: there
 * is no index. False: in another form than linkers write.
 */
static bool read_header(const Elf_Data *data, uint64_t at, uint64_t *ret_frame,
			uint32_t *ret_nr)
{
	const struct header *header = data->d_buf;

	*ret_nr = 0;
	if (data->d_size < offsetof(struct header, nr_entries) ||
	    header->version != HEADER_VERSION || header->frame_encoding != ENCODING_FRAME)
		return false;
	*ret_frame =
		at + offsetof(struct header, frame) + (uint64_t)(int64_t)header->frame;
	if (header->count_encoding == DW_EH_PE_omit ||
	    header->table_encoding == DW_EH_PE_omit)
		return true;
	if (header->count_encoding != ENCODING_COUNT ||
	    header->table_encoding != ENCODING_TABLE || data->d_size < sizeof(*header) ||
	    header->nr_entries >
		    (data->d_size - sizeof(*header)) / sizeof(header->entries[0]))
		return false;
	*ret_nr = header->nr_entries;
	return true;
}

/* @frame: address of .eh_frame; @at: of the index */
static bool tables__check_index(struct tables *tables, uint64_t frame,
				const struct header *header, uint64_t at, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t entry = at + (uint64_t)(int64_t)header->entries[i].entry;
		Dwarf_Off next;

		if (!tables__check_entry(tables, entry - frame, &next))
			return false;
	}
	return true;
}

static bool tables__check_eh_frame(struct tables *tables, uint64_t frame,
				   const Elf_Data *header, uint64_t header_at)
{
	uint64_t named;
	uint32_t nr;

	tables->is_eh_frame = true;
	tables->nr_bytes_left = MAX_TIMES * (uint64_t)tables->data->d_size;
	if (!header || !header->d_buf)
		return tables__check_all(tables);
	if (!read_header(header, header_at, &named, &nr))
		return false;
	/* As libdw does: an index of something else is none. */
	if (!nr || named != frame)
		return tables__check_all(tables);
	return tables__check_index(tables, frame, header->d_buf, header_at, nr);
}

struct sections {
	Elf_Scn *eh_frame, *eh_frame_hdr, *debug_frame;
};

static void find_sections(Elf *elf, struct sections *ret)
{
	size_t names;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	*ret = (struct sections){0};
	if (elf_getshdrstrndx(elf, &names) || !names)
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name)
			continue;
		if (!strcmp(name, ".eh_frame") && !ret->eh_frame)
			ret->eh_frame = section;
		else if (!strcmp(name, ".eh_frame_hdr"))
			ret->eh_frame_hdr = section;
		else if (!strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame"))
			ret->debug_frame = section;
	}
}

static bool check_eh_frame_section(struct tables *tables, const struct sections *sections)
{
	GElf_Shdr frame, header;
	Elf_Data *index = NULL;

	header.sh_addr = 0;
	if (!gelf_getshdr(sections->eh_frame, &frame) || frame.sh_type != SHT_PROGBITS)
		return true;
	tables->data = elf_rawdata(sections->eh_frame, NULL);
	if (sections->eh_frame_hdr && gelf_getshdr(sections->eh_frame_hdr, &header))
		index = elf_rawdata(sections->eh_frame_hdr, NULL);
	return !tables->data || !tables->data->d_buf ||
	       tables__check_eh_frame(tables, frame.sh_addr, index, header.sh_addr);
}

/* A file without names of sections: of .eh_frame only the start is known. */
static bool check_eh_frame_segment(struct tables *tables, Elf *elf)
{
	size_t nr, nr_bytes;
	uint64_t frame, offset;
	GElf_Phdr segment;
	Elf_Data *index;
	uint32_t nr_entries;

	if (elf_getphdrnum(elf, &nr) || !elf_rawfile(elf, &nr_bytes))
		return true;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) ||
		    segment.p_type != PT_GNU_EH_FRAME)
			continue;
		index = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset,
					     segment.p_filesz, ELF_T_BYTE);
		if (!index || !index->d_buf ||
		    !read_header(index, segment.p_vaddr, &frame, &nr_entries))
			return false;
		offset = frame - segment.p_vaddr + segment.p_offset;
		if (offset >= nr_bytes)
			return false;
		tables->data = elf_getdata_rawchunk(elf, (int64_t)offset,
						    nr_bytes - offset, ELF_T_BYTE);
		return !tables->data || !tables->data->d_buf ||
		       tables__check_eh_frame(tables, frame, index, segment.p_vaddr);
	}
	return true;
}

static bool check_debug_frame(struct tables *tables, Elf_Scn *section)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return true;
	/* libdw does the same, and would find it done. */
	if (header.sh_flags & SHF_COMPRESSED)
		elf_compress(section, 0, 0);
	tables->data = elf_getdata(section, NULL);
	if (!tables->data || !tables->data->d_buf)
		return true;
	tables->is_eh_frame = false;
	tables->has_common = false;
	tables->nr_bytes_left = MAX_TIMES * (uint64_t)tables->data->d_size;
	return tables__check_all(tables);
}

bool tables__are_bounded(Elf *elf)
{
	struct tables tables = {.e_ident = (void *)elf_getident(elf, NULL)};
	struct sections sections;

	if (!tables.e_ident || tables.e_ident[EI_DATA] != ELFDATA2LSB ||
	    tables.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	find_sections(elf, &sections);
	if (sections.eh_frame ? !check_eh_frame_section(&tables, &sections)
			      : !check_eh_frame_segment(&tables, elf))
		return false;
	return !sections.debug_frame || check_debug_frame(&tables, sections.debug_frame);
}
