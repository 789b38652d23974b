// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of an ELF file, by libdwfl, which knows where symbol tables are
 * found: .symtab, the debug file that the build id or .gnu_debuglink names,
 * .dynsym with the compressed table of .gnu_debugdata.
 *
 * Which symbols count, and which of several at one address, is perf's choice
 * (tools/perf/util/symbol-elf.c, symbol.c:choose_best_symbol), so that the
 * names are the ones that perf shows.
 *
 * Symbols are read when the first one is looked for: who unwinds through a file
 * needs none of them, and those of a large library take a second.
 *
 * Names point into the mapped files, which stay open as long as the object.
 * Everything that a file says goes through libelf, which checks it.
 * One thread.
 */
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf_symbols.h"
#include "symbol/symtab.h"
#include "util/log.h"

struct segment {
	uint64_t offset, bytes; /* in the file */
	uint64_t address;
	bool is_executable;
};

struct elf_symbols {
	Dwfl_Callbacks callbacks;
	char *debug_path; /* of the callbacks */
	bool is_stored; /* its debug file is the one below, and no other */
	int debug_fd; /* -1: none, or libdwfl has it */
	Dwfl *dwfl; /* owns the files and the names in them */
	Dwfl_Module *module;
	Elf *file; /* the module's main one */
	GElf_Addr bias; /* of the module in dwfl */
	struct segment *segments;
	size_t nr_segments;
	bool has_symtab; /* was tried */
	bool has_full_symtab;
	Elf *symbols_file; /* where they are from; NULL: nowhere */
	struct symtab symtab;
};

/* A symbol while it is weighed against others. */
struct candidate {
	uint64_t start, end;
	uint64_t section_end;
	const char *name;
	int index; /* in the symbol table */
	bool is_sized;
	uint8_t binding;
};

/* What libelf and libdwfl have failed by, if it was not what is in the file */
static int system_error(int otherwise)
{
	return errno == ENOMEM || errno == EIO || errno == EMFILE || errno == ENFILE
		       ? -errno
		       : otherwise;
}

static int elf_symbols__read_segments(struct elf_symbols *elf)
{
	size_t nr_headers;

	if (elf_getphdrnum(elf->file, &nr_headers))
		return -EINVAL;
	elf->segments = calloc(nr_headers ? nr_headers : 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < nr_headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf->file, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		elf->segments[elf->nr_segments++] = (struct segment){
			.offset = header.p_offset,
			.bytes = header.p_filesz,
			.address = header.p_vaddr,
			.is_executable = header.p_flags & PF_X,
		};
	}
	return 0;
}

int elf_symbols__address(const struct elf_symbols *elf, uint64_t offset, uint64_t *ret)
{
	const struct segment *found = NULL;

	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct segment *segment = &elf->segments[i];

		if (offset < segment->offset ||
		    offset - segment->offset >= segment->bytes)
			continue;
		if (!found || segment->is_executable)
			found = segment;
	}
	if (!found)
		return -ENOENT;
	*ret = offset - found->offset + found->address;
	return 0;
}

/* Functions, and labels of assembler code that are meant to be seen. */
static bool symbol__is_wanted(const GElf_Sym *sym, const char *name, bool is_code)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	unsigned int visibility = GELF_ST_VISIBILITY(sym->st_other);

	if (!*name)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	if (type != STT_NOTYPE || !is_code)
		return false;
	/* $x and the like mark where code begins on Arm; .L are an assembler's own */
	return visibility != STV_HIDDEN && visibility != STV_INTERNAL && *name != '$' &&
	       strncmp(name, ".L", 2) != 0;
}

/* True and a candidate if symbol @i of the module is one. */
static bool candidate__read(Dwfl_Module *module, int i, GElf_Addr bias,
			    struct candidate *ret)
{
	GElf_Word section_index = SHN_UNDEF;
	GElf_Addr address, file_bias;
	GElf_Shdr section;
	const char *name;
	GElf_Sym sym;
	Elf *file;

	name = dwfl_module_getsym_info(module, i, &sym, &address, &section_index, &file,
				       &file_bias);
	if (!name || !file || section_index == SHN_UNDEF ||
	    !gelf_getshdr(elf_getscn(file, section_index), &section) ||
	    !symbol__is_wanted(&sym, name, section.sh_flags & SHF_EXECINSTR))
		return false;

	/* dwfl has moved the file to a place of its own, and its sections with it. */
	ret->start = address - bias;
	ret->section_end = section.sh_addr + file_bias - bias + section.sh_size;
	ret->is_sized = sym.st_size != 0;
	if (__builtin_add_overflow(ret->start, sym.st_size, &ret->end))
		return false;
	ret->name = name;
	ret->index = i;
	ret->binding = GELF_ST_BIND(sym.st_info);
	return true;
}

static int candidate__compare_start(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Of two at one address, the better one is greater. */
static int candidate__compare_worth(const struct candidate *x, const struct candidate *y)
{
	size_t underscores_x = strspn(x->name, "_"), underscores_y = strspn(y->name, "_");
	size_t length_x = strlen(x->name), length_y = strlen(y->name);

	if ((x->binding == STB_WEAK) != (y->binding == STB_WEAK))
		return x->binding == STB_WEAK ? -1 : 1;
	if ((x->binding == STB_GLOBAL) != (y->binding == STB_GLOBAL))
		return x->binding == STB_GLOBAL ? 1 : -1;
	if (underscores_x != underscores_y)
		return underscores_x > underscores_y ? -1 : 1;
	if (length_x != length_y)
		return length_x > length_y ? 1 : -1;
	return (x->index < y->index) - (x->index > y->index);
}

/*
 * Order of symtab__add(), where the last one wins: a label in the middle of a
 * function doesn't cut it, a function within another does.
 */
static int candidate__compare_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->is_sized != y->is_sized)
		return x->is_sized ? 1 : -1;
	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	return candidate__compare_worth(x, y);
}

/* What has no size reaches to the next symbol, within its section. */
static void candidates__extend(struct candidate *candidates, size_t nr)
{
	uint64_t next = UINT64_MAX;

	qsort(candidates, nr, sizeof(*candidates), candidate__compare_start);
	for (size_t i = nr; i-- > 0;) {
		struct candidate *candidate = &candidates[i];

		if (i + 1 < nr && candidates[i + 1].start > candidate->start)
			next = candidates[i + 1].start;
		if (!candidate->is_sized)
			candidate->end = next < candidate->section_end
						 ? next
						 : candidate->section_end;
	}
}

static bool has_section_of_type(Elf *file, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return true;
	return false;
}

/* Which of the two files the symbols are of */
static void elf_symbols__find_origin(struct elf_symbols *elf, int nr_symbols)
{
	GElf_Addr address, bias;
	GElf_Word section;
	GElf_Sym sym;
	Elf *file;

	for (int i = 0; i < nr_symbols && !elf->symbols_file; i++)
		if (dwfl_module_getsym_info(elf->module, i, &sym, &address, &section,
					    &file, &bias))
			elf->symbols_file = file;
	elf->has_full_symtab =
		elf->symbols_file && has_section_of_type(elf->symbols_file, SHT_SYMTAB);
}

static int elf_symbols__read_symbols(struct elf_symbols *elf)
{
	struct candidate *candidates;
	int nr_symbols, err = 0;
	size_t nr = 0;

	errno = 0;
	nr_symbols = dwfl_module_getsymtab(elf->module);
	if (nr_symbols < 0)
		return system_error(0);
	elf_symbols__find_origin(elf, nr_symbols);
	candidates = calloc((size_t)nr_symbols, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	for (int i = 0; i < nr_symbols; i++)
		nr += candidate__read(elf->module, i, elf->bias, &candidates[nr]);
	candidates__extend(candidates, nr);
	qsort(candidates, nr, sizeof(*candidates), candidate__compare_rank);
	for (size_t i = 0; i < nr && !err; i++)
		err = symtab__add(&elf->symtab, candidates[i].start, candidates[i].end,
				  candidates[i].name);
	if (!err)
		err = symtab__finish(&elf->symtab);
	free(candidates);
	return err;
}

/*
 * libdwfl asks the servers of DEBUGINFOD_URLS, which some distributions set for
 * everyone, for every stripped file: gigabytes and minutes, though most stacks go through
 * exported functions alone (dso.c asks for the others). It looks at the variable at each
 * query.
 */
static int elf_symbols__read_symbols_offline(struct elf_symbols *elf)
{
	static const char variable[] = "DEBUGINFOD_URLS";
	const char *value = getenv(variable);
	char *saved = value ? strdup(value) : NULL;
	int err;

	if (value && !saved)
		return -ENOMEM;
	unsetenv(variable);
	err = elf_symbols__read_symbols(elf);
	if (saved && setenv(variable, saved, 1))
		err = err ? err : -ENOMEM;
	free(saved);
	return err;
}

/* libdwfl's way; of a stored file, only the debug file that is stored with it */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **ret_name)
{
	struct elf_symbols *elf = *userdata;
	int fd;

	if (!elf->is_stored)
		return dwfl_standard_find_debuginfo(module, userdata, name, base, path,
						    link, crc, ret_name);
	fd = elf->debug_fd;
	elf->debug_fd = -1;
	return fd;
}

static int elf_symbols__new(const char *debug_path, struct elf_symbols **ret)
{
	struct elf_symbols *elf = calloc(1, sizeof(*elf));

	if (!elf)
		return -ENOMEM;
	elf->debug_fd = -1;
	elf->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &elf->debug_path,
	};
	elf->debug_path = strdup(debug_path);
	elf->dwfl = elf->debug_path ? dwfl_begin(&elf->callbacks) : NULL;
	if (!elf->dwfl) {
		elf_symbols__close(elf);
		return -ENOMEM;
	}
	*ret = elf;
	return 0;
}

/* Is @file the build that is looked for? */
static bool has_build_id(Elf *file, const struct build_id *id)
{
	const void *bytes = NULL;
	struct build_id own;
	ssize_t nr_bytes;

	if (!id->nr_bytes)
		return true;
	nr_bytes = dwelf_elf_gnu_build_id(file, &bytes);
	own = build_id__make(bytes, nr_bytes > 0 ? (size_t)nr_bytes : 0);
	return build_id__is_equal(&own, id);
}

/* Consumes @fd. */
static int elf_symbols__load_file(struct elf_symbols *elf, const char *path, int fd,
				  const struct build_id *id)
{
	GElf_Ehdr header;
	void **userdata;

	errno = 0;
	dwfl_report_begin(elf->dwfl);
	elf->module = dwfl_report_offline(elf->dwfl, path, path, fd);
	if (!elf->module)
		close(fd);
	dwfl_report_end(elf->dwfl, NULL, NULL);
	if (elf->module) {
		dwfl_module_info(elf->module, &userdata, NULL, NULL, NULL, NULL, NULL,
				 NULL);
		*userdata = elf;
	}
	elf->file = elf->module ? dwfl_module_getelf(elf->module, &elf->bias) : NULL;
	if (!elf->file || !gelf_getehdr(elf->file, &header) ||
	    (header.e_type != ET_DYN && header.e_type != ET_EXEC)) {
		int err = system_error(-EINVAL);

		if (err != -EINVAL)
			return err;
		pr_debug("%s: no symbols: not an executable or shared ELF file", path);
		return -EINVAL;
	}
	if (!has_build_id(elf->file, id)) {
		pr_debug("%s: no symbols: not the build that was recorded", path);
		return -ESTALE;
	}
	return elf_symbols__read_segments(elf);
}

/* Consumes @fd. */
static int elf_symbols__read(const char *path, int fd, const struct build_id *id,
			     const char *debug_path, struct elf_symbols **ret)
{
	struct elf_symbols *elf = NULL;
	int err;

	err = elf_symbols__new(debug_path, &elf);
	if (err) {
		close(fd);
		return err;
	}
	err = elf_symbols__load_file(elf, path, fd, id);
	if (err)
		elf_symbols__close(elf);
	else
		*ret = elf;
	return err;
}

int elf_symbols__open(const char *path, const struct build_id *id, const char *debug_path,
		      struct elf_symbols **ret)
{
	struct stat st;
	int fd = -1;

	/* Before open(2), which has effects on a device, and may wait on a FIFO. */
	if (stat(path, &st) ||
	    (S_ISREG(st.st_mode) &&
	     (fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)) {
		int err = -errno;

		pr_debug("%s: no symbols: %s", path, strerror(-err));
		return err;
	}
	if (fd < 0) {
		pr_debug("%s: no symbols: not a regular file", path);
		return -EINVAL;
	}
	return elf_symbols__read(path, fd, id, debug_path, ret);
}

static bool is_debug_file_of(int fd, const struct build_id *id)
{
	Elf *file = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	bool is_it = file && has_build_id(file, id);

	elf_end(file);
	return is_it;
}

int elf_symbols__open_stored(int fd, int debug_fd, const char *name,
			     const struct build_id *id, struct elf_symbols **ret)
{
	struct elf_symbols *elf = NULL;
	int err;

	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = elf_symbols__read(name, fd, id, "", &elf);
	if (err)
		return err;
	elf->is_stored = true;
	if (debug_fd >= 0 && is_debug_file_of(debug_fd, id))
		elf->debug_fd = fcntl(debug_fd, F_DUPFD_CLOEXEC, 0);
	*ret = elf;
	return 0;
}

/* libdwfl reads files; the kernel ends the image with its section headers. */
int elf_symbols__open_vdso(const struct build_id *id, const char *debug_path,
			   struct elf_symbols **ret)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t bytes;
	int fd;

	if (!image)
		return -ENOENT;
	bytes = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, image, bytes) != (ssize_t)bytes) {
		close(fd);
		return -EIO;
	}
	return elf_symbols__read("[vdso]", fd, id, debug_path, ret);
}

void elf_symbols__close(struct elf_symbols *elf)
{
	if (!elf)
		return;
	symtab__release(&elf->symtab);
	if (elf->dwfl)
		dwfl_end(elf->dwfl);
	if (elf->debug_fd >= 0)
		close(elf->debug_fd);
	free(elf->debug_path);
	free(elf->segments);
	free(elf);
}

Elf *elf_symbols__file(const struct elf_symbols *elf)
{
	return elf->file;
}

/* Who can't read them goes on without. */
static void elf_symbols__load(struct elf_symbols *elf)
{
	const char *path;
	int err;

	elf->has_symtab = true;
	path = dwfl_module_info(elf->module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	err = elf_symbols__read_symbols_offline(elf);
	if (err)
		pr_warning("cannot read the symbols of %s: %s: its functions are "
			   "[unknown]",
			   path, strerror(-err));
	else
		pr_debug("%s: %zu symbols", path, elf->symtab.nr_symbols);
}

const struct symbol *elf_symbols__find(struct elf_symbols *elf, uint64_t address)
{
	if (!elf->has_symtab)
		elf_symbols__load(elf);
	return symtab__find(&elf->symtab, address);
}

bool elf_symbols__are_full(struct elf_symbols *elf)
{
	if (!elf->has_symtab)
		elf_symbols__load(elf);
	return elf->has_full_symtab;
}

static struct elf_image image_of(Elf *file)
{
	struct elf_image image = {0};

	image.data = file ? elf_rawfile(file, &image.bytes) : NULL;
	return image.data ? image : (struct elf_image){0};
}

struct elf_image elf_symbols__image(struct elf_symbols *elf)
{
	return image_of(elf->file);
}

struct elf_image elf_symbols__debug_image(struct elf_symbols *elf)
{
	if (!elf->has_symtab)
		elf_symbols__load(elf);
	return image_of(elf->symbols_file == elf->file ? NULL : elf->symbols_file);
}
