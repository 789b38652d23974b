// SPDX-License-Identifier: GPL-2.0-or-later
/* The ELF file of names: read back by libelf and by our own reader of symbols. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/kernel_elf.h"
#include "symbol/elf_symbols.h"
#include "unit.h"
#include "util/log.h"

static char directory[] = "/tmp/test_kernel_elf.XXXXXX";
static char folder[64], file[80];

static void make_directory(void)
{
	CHECK(mkdtemp(directory) != NULL);
	snprintf(folder, sizeof(folder), "%s/x.dso", directory);
	snprintf(file, sizeof(file), "%s/[GPU_Kernel]", folder);
	log_verbosity = -1;
}

static void remove_directory(void)
{
	unlink(file);
	rmdir(folder);
	CHECK_EQ(rmdir(directory), 0); /* nothing else was left in it */
}

static uint64_t address(struct kernel_elf *elf, const char *name)
{
	uint64_t ret = 0;

	CHECK_EQ(kernel_elf__address(elf, name, &ret), 0);
	return ret;
}

/* Write a file of these names. */
static void write_names_of(const struct arch *arch, const char *const *names, size_t nr,
			   uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES])
{
	struct kernel_elf *elf = NULL;

	CHECK_EQ(kernel_elf__new(folder, &elf), 0);
	for (size_t i = 0; i < nr; i++)
		address(elf, names[i]);
	CHECK_EQ(kernel_elf__write(elf, arch, ret_build_id), 0);
	CHECK_EQ(kernel_elf__commit(elf), 0);
	kernel_elf__delete(elf);
}

static void write_names(const char *const *names, size_t nr,
			uint8_t ret_build_id[ELF_IMAGE_BUILD_ID_BYTES])
{
	write_names_of(arch__host(), names, nr, ret_build_id);
}

TEST(file_is_of_the_recorded_machine)
{
	static const struct {
		const char *name;
		uint16_t machine;
		unsigned char nops[4];
	} wanted[] = {
		{"x86_64", EM_X86_64, {0x90, 0x90, 0x90, 0x90}},
		{"aarch64", EM_AARCH64, {0x1f, 0x20, 0x03, 0xd5}},
	};
	static const char *const names[] = {"k"};
	uint8_t build_id[ELF_IMAGE_BUILD_ID_BYTES];
	unsigned char text[4];
	Elf64_Ehdr header;
	int fd;

	make_directory();
	for (size_t i = 0; i < 2; i++) {
		write_names_of(arch__find(wanted[i].name), names, 1, build_id);
		fd = open(file, O_RDONLY | O_CLOEXEC);
		CHECK_EQ(read(fd, &header, sizeof(header)), sizeof(header));
		CHECK_EQ(header.e_machine, wanted[i].machine);
		CHECK_EQ(pread(fd, text, 4, 0x1000), 4);
		CHECK_MEM(text, wanted[i].nops, 4);
		CHECK_EQ(pread(fd, text, 4, 0x1000 + 64 - 4), 4);
		CHECK_MEM(text, wanted[i].nops, 4);
		close(fd);
	}
	remove_directory();
}

TEST(name_has_one_address)
{
	struct kernel_elf *elf = NULL;
	char copy[] = "k1";

	make_directory();
	CHECK_EQ(kernel_elf__new(folder, &elf), 0);
	CHECK_EQ(address(elf, "k1"), 0x0100000000000020);
	CHECK_EQ(address(elf, "k2"), 0x0100000000000060);
	CHECK_EQ(address(elf, copy), 0x0100000000000020);
	CHECK_EQ(address(elf, ""), 0x01000000000000a0);
	for (int i = 0; i < 10000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		CHECK_EQ(address(elf, name), 0x01000000000000e0 + 64 * (uint64_t)i);
	}
	CHECK_EQ(address(elf, "n5000"), 0x01000000000000e0 + 64 * 5000);
	kernel_elf__delete(elf);
	remove_directory();
}

TEST(path_is_absolute)
{
	struct kernel_elf *elf = NULL;

	make_directory();
	CHECK_EQ(chdir(directory), 0);
	CHECK_EQ(kernel_elf__new("x.dso", &elf), 0);
	CHECK_STR(kernel_elf__path(elf), file);
	CHECK_EQ(chdir("/"), 0);
	kernel_elf__delete(elf);
	remove_directory();
}

TEST(names_are_its_functions)
{
	static const char *const names[] = {
		"[GPU_Kernel]void ns::k<float, 4>(float*, int)",
		"cudaLaunchKernel",
		"[unattributed]",
		"line\nfeed\x7f \xc3\xa9",
	};
	static const char *const shown[] = {
		"[GPU_Kernel]void ns::k<float, 4>(float*, int)",
		"cudaLaunchKernel",
		"[unattributed]",
		"line?feed? \xc3\xa9",
	};
	uint8_t build_id[ELF_IMAGE_BUILD_ID_BYTES];
	struct elf_symbols *symbols = NULL;
	const struct symbol *symbol;
	struct build_id id;
	uint64_t where;

	make_directory();
	write_names(names, 4, build_id);
	id = build_id__make(build_id, sizeof(build_id));
	CHECK_EQ(elf_symbols__open(file, &id, "", &symbols), 0);
	for (uint64_t i = 0; i < 4; i++) {
		CHECK_EQ(elf_symbols__address(symbols, 0x1000 + 64 * i + 32, &where), 0);
		CHECK_EQ(where, 0x1000 + 64 * i + 32);
		symbol = elf_symbols__find(symbols, where);
		CHECK(symbol != NULL);
		CHECK_STR(symbol->name, shown[i]);
		CHECK_EQ(symbol->start, 0x1000 + 64 * i);
		CHECK_EQ(symbol->end, 0x1000 + 64 * (i + 1));
	}
	CHECK(elf_symbols__find(symbols, 0x1000 + 64 * 4) == NULL);
	elf_symbols__close(symbols);
	remove_directory();
}

/* What the file holds, as perf and libdwfl look at it. */
TEST(file_is_well_formed)
{
	static const char *const names[] = {"a", "b"};
	uint8_t build_id[ELF_IMAGE_BUILD_ID_BYTES];
	bool has_note = false, has_text = false;
	size_t nr_headers;
	GElf_Ehdr header;
	int fd;
	Elf *elf;

	make_directory();
	write_names(names, 2, build_id);
	elf_version(EV_CURRENT);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	CHECK(elf != NULL);
	CHECK(gelf_getehdr(elf, &header) != NULL);
	CHECK_EQ(header.e_type, ET_DYN);
	CHECK_EQ(elf_getphdrnum(elf, &nr_headers), 0);
	for (size_t i = 0; i < nr_headers; i++) {
		GElf_Phdr program;
		uint8_t bytes[128];

		CHECK(gelf_getphdr(elf, (int)i, &program) != NULL);
		CHECK_EQ(program.p_vaddr, program.p_offset);
		CHECK(i > 0 || (program.p_type == PT_LOAD && program.p_vaddr == 0));
		CHECK(program.p_filesz <= sizeof(bytes) || i == 0);
		if (i == 0)
			continue;
		CHECK_EQ(pread(fd, bytes, program.p_filesz, (off_t)program.p_offset),
			 program.p_filesz);
		if (program.p_type == PT_NOTE) {
			CHECK_EQ(program.p_filesz, 16 + sizeof(build_id));
			CHECK_MEM(bytes + 16, build_id, sizeof(build_id));
			has_note = true;
		} else if (program.p_flags & PF_X) {
			CHECK_EQ(program.p_offset, KERNEL_ELF_MAP_OFFSET);
			CHECK_EQ(program.p_filesz, 2 * 64);
			has_text = true;
		}
	}
	CHECK(has_note && has_text);
	elf_end(elf);
	close(fd);
	remove_directory();
}

TEST(build_id_depends_on_names)
{
	static const char *const names[] = {"a", "bc", "d"}, *const others[] = {"ab",
										"c"};
	uint8_t first[ELF_IMAGE_BUILD_ID_BYTES], again[ELF_IMAGE_BUILD_ID_BYTES];

	make_directory();
	write_names(names, 3, first);
	write_names(names, 3, again);
	CHECK_MEM(first, again, sizeof(first));
	write_names(names, 2, again);
	CHECK(memcmp(first, again, sizeof(first)) != 0);
	write_names(others, 2, first);
	CHECK(memcmp(first, again, sizeof(first)) != 0);
	write_names(NULL, 0, first);
	remove_directory();
}

TEST(old_file_stays_without_commit)
{
	static const char *const names[] = {"old"};
	uint8_t build_id[ELF_IMAGE_BUILD_ID_BYTES];
	struct kernel_elf *elf = NULL;
	struct stat before, after;

	make_directory();
	write_names(names, 1, build_id);
	CHECK_EQ(stat(file, &before), 0);
	CHECK_EQ(kernel_elf__new(folder, &elf), 0);
	address(elf, "new");
	CHECK_EQ(kernel_elf__write(elf, arch__host(), build_id), 0);
	kernel_elf__delete(elf);
	CHECK_EQ(stat(file, &after), 0);
	CHECK_EQ(before.st_ino, after.st_ino);
	remove_directory();
}

TEST(nothing_stays_without_commit)
{
	struct kernel_elf *elf = NULL;

	make_directory();
	CHECK_EQ(kernel_elf__new(folder, &elf), 0);
	kernel_elf__delete(elf);
	CHECK_EQ(access(folder, F_OK), -1);
	kernel_elf__delete(NULL);
	remove_directory();
}

TEST(what_is_in_the_way_is_said)
{
	struct kernel_elf *elf = NULL;
	int fd;

	make_directory();
	CHECK_EQ(kernel_elf__new("/no/such/folder", &elf), -ENOENT);
	CHECK_EQ(kernel_elf__new("/dev/null", &elf), -ENOTDIR);
	fd = open(folder, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	CHECK(kernel_elf__new(folder, &elf) < 0);
	CHECK_EQ(unlink(folder), 0);

	CHECK_EQ(mkdir(folder, 0700), 0);
	CHECK_EQ(mkdir(file, 0700), 0);
	CHECK_EQ(kernel_elf__new(folder, &elf), -EISDIR);
	CHECK_EQ(rmdir(file), 0);
	CHECK(elf == NULL);
	remove_directory();
}
