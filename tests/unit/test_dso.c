// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols of this program, of its libraries, of the vdso, and of perf maps. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/dso.h"
#include "symbol/symbol_files.h"
#include "unit.h"

/* Functions with a body, which the linker can't fold into one. */
__attribute__((noinline)) static int own_static_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

__attribute__((noinline, used)) static int
own_mangled(int x) __asm__("_ZN8own_test7mangledEi");
static int own_mangled(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 5 + 2;
}

/* A label without size, before a function with one, in this program's text. */
__asm__(".text\n"
	".globl own_label\n"
	".type own_label, @notype\n"
	"own_label:\n"
	"	.fill 32, 1, 0x90\n"
	".globl own_after_label\n"
	".type own_after_label, @function\n"
	"own_after_label:\n"
	"	.fill 16, 1, 0x90\n"
	".type own_inner_label, @notype\n"
	"own_inner_label:\n"
	"	.fill 16, 1, 0x90\n"
	".size own_after_label, 32\n"
	".type own_weak, @function\n"
	".weak own_weak\n"
	"own_weak:\n"
	".type __own_alias, @function\n"
	".globl __own_alias\n"
	"__own_alias:\n"
	".type own_alias, @function\n"
	".globl own_alias\n"
	"own_alias:\n"
	"	.fill 16, 1, 0x90\n"
	".size own_weak, 16\n"
	".size __own_alias, 16\n"
	".size own_alias, 16\n");
void own_label(void);
void own_after_label(void);
void own_alias(void);

/* The file that is mapped at @address, and which of its bytes that is. */
static bool find_file(const void *address, char *path, uint64_t *offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t wanted = (uintptr_t)address;
	char line[PATH_MAX + 100];
	bool is_found = false;

	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, pgoff;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %[^\n]",
			   &start, &end, &pgoff, path) == 4 &&
		    start <= wanted && wanted < end) {
			*offset = wanted - start + pgoff;
			is_found = true;
		}
	}
	if (maps)
		fclose(maps);
	return is_found;
}

static struct dso *new_dso(const char *path, uint32_t pid)
{
	static struct symbol_files *files;
	const struct perf_map_origin origin = {.uid = getuid(), .end_ns = UINT64_MAX};
	const struct build_id any = {0};
	struct dso *dso;

	if ((!files && symbol_files__new(NULL, &files)) ||
	    dso__new(path, pid, files, &any, &dso))
		abort();
	symbol_files__set_origin(files, &origin);
	return dso;
}

static const char *name_at(struct dso *dso, uint64_t offset)
{
	const struct symbol *symbol = dso__find_symbol(dso, offset, NULL);

	return symbol ? symbol->name : "none";
}

/* Check that the code at @address has a name. */
static void check_own(const void *address, const char *name, const char *demangled)
{
	uint64_t offset = 0, symbol_address = 0;
	const struct symbol *symbol;
	char path[PATH_MAX] = "";
	struct dso *dso;

	CHECK(find_file(address, path, &offset));
	dso = new_dso(path, 1);
	symbol = dso__find_symbol(dso, offset, &symbol_address);
	CHECK(symbol != NULL);
	if (symbol) {
		CHECK_STR(symbol->name, name);
		CHECK_STR(symbol->demangled, demangled);
		CHECK(symbol->start <= symbol_address && symbol_address < symbol->end);
	}
	dso__delete(dso);
}

TEST(path_and_basename)
{
	struct dso *dso = new_dso("/usr/lib/libfoo.so.1", 7);

	CHECK_STR(dso__path(dso), "/usr/lib/libfoo.so.1");
	CHECK_STR(dso__basename(dso), "libfoo.so.1");
	dso__delete(dso);
	dso = new_dso("[vdso]", 7);
	CHECK_STR(dso__basename(dso), "[vdso]");
	dso__delete(dso);
	dso = new_dso("//anon", 7);
	CHECK_STR(dso__path(dso), "/tmp/perf-7.map");
	CHECK_STR(dso__basename(dso), "perf-7.map");
	dso__delete(dso);
	dso = new_dso("/tmp/perf-8.map", 7);
	CHECK_STR(dso__path(dso), "/tmp/perf-8.map");
	dso__delete(dso);
	dso__delete(NULL);
}

TEST(anonymous_names)
{
	static const char *const anonymous[] = {
		"//anon",
		"[heap]",
		"[stack]",
		"[stack:12]",
		"[anon]",
		"[anon:jit]",
		"/dev/zero (deleted)",
		"/memfd:doublemapper (deleted)",
		"/SYSV00000000",
		"/anon_hugepage (deleted)",
		"anon_inode:[perf_event]",
		"/tmp/perf-12.map",
	};
	static const char *const files[] = {
		"/usr/bin/python3", "[vdso]",
		"[vsyscall]",	    "",
		"/tmp/perf-x.map",  "/tmp/perf-12.map.old",
		"/home/memfd:x",    "[uprobes]",
	};

	for (size_t i = 0; i < sizeof(anonymous) / sizeof(*anonymous); i++)
		CHECK(dso__is_anonymous(anonymous[i]));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		CHECK(!dso__is_anonymous(files[i]));
}

TEST(own_functions_are_found)
{
	CHECK_EQ(own_static_function(1), 4);
	CHECK_EQ(own_mangled(1), 7);
	check_own((const char *)own_static_function, "own_static_function",
		  "own_static_function");
	check_own((const char *)own_static_function + 1, "own_static_function",
		  "own_static_function");
	check_own((const char *)own_mangled, "_ZN8own_test7mangledEi",
		  "own_test::mangled");
}

TEST(label_without_size_covers_up_to_the_next_symbol)
{
	check_own((const char *)own_label, "own_label", "own_label");
	check_own((const char *)own_label + 31, "own_label", "own_label");
	check_own((const char *)own_label + 32, "own_after_label", "own_after_label");
}

TEST(label_inside_a_function_does_not_cut_it)
{
	check_own((const char *)own_after_label + 20, "own_after_label",
		  "own_after_label");
}

/* Not the weak one, and the one with fewer underscores. */
TEST(best_of_several_names_is_chosen)
{
	check_own((const char *)own_alias, "own_alias", "own_alias");
}

TEST(library_function_is_found)
{
	uint64_t offset = 0, address = 0;
	const struct symbol *symbol;
	char path[PATH_MAX] = "";
	struct dso *dso;

	CHECK(find_file((const void *)lcong48, path, &offset));
	dso = new_dso(path, 1);
	symbol = dso__find_symbol(dso, offset, &address);
	CHECK(symbol && strcmp(symbol->name, "lcong48") == 0);
	CHECK(symbol && symbol->start == address);
	dso__delete(dso);
}

TEST(offsets_outside_of_segments_have_no_symbol)
{
	char path[PATH_MAX] = "";
	uint64_t offset = 0;
	struct dso *dso;

	CHECK(find_file((const void *)lcong48, path, &offset));
	dso = new_dso(path, 1);
	CHECK_STR(name_at(dso, UINT64_MAX), "none");
	CHECK_STR(name_at(dso, 1ull << 40), "none");
	/* the ELF header is mapped, but no function */
	CHECK_STR(name_at(dso, 0), "none");
	dso__delete(dso);
}

TEST(vdso_has_symbols)
{
	struct dso *dso = new_dso("[vdso]", 1);
	bool is_found = false;

	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP("this process has no vdso: an emulator gives none");
	for (uint64_t offset = 0; offset < 0x4000 && !is_found; offset += 16)
		is_found = strstr(name_at(dso, offset), "gettime") != NULL;
	CHECK(is_found);
	dso__delete(dso);
}

TEST(files_that_are_none_have_no_symbols)
{
	static const char *const paths[] = {
		"/nowhere/lib.so", "/usr", "/dev/null",	 "/proc/self/maps",
		"relative",	   "",	   "[vsyscall]", "[uprobes]",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct dso *dso = new_dso(paths[i], 1);
		uint64_t address = 0;

		CHECK(!dso__find_symbol(dso, 0x1000, &address));
		CHECK_EQ(address, 0x1000);
		CHECK_STR(dso__path(dso), paths[i]);
		dso__delete(dso);
	}
}

/* A file of that name may be there, but it isn't the one that was mapped. */
TEST(deleted_file_has_no_symbols)
{
	char directory[] = "/tmp/perf-gpu-test-XXXXXX", path[64];
	char header[64];
	struct dso *dso;
	int fd, exe;

	CHECK(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/x (deleted)", directory);
	CHECK_EQ(symlink("/proc/self/exe", path), 0);
	dso = new_dso(path, 1);
	for (uint64_t offset = 0; offset < 1 << 20; offset += 64)
		CHECK_STR(name_at(dso, offset), "none");
	dso__delete(dso);
	unlink(path);

	/* What waits for a writer isn't opened. */
	snprintf(path, sizeof(path), "%s/fifo", directory);
	CHECK_EQ(mkfifo(path, 0600), 0);
	dso = new_dso(path, 1);
	CHECK_STR(name_at(dso, 0), "none");
	dso__delete(dso);
	unlink(path);

	/* An ELF header, and nothing of what it promises. */
	snprintf(path, sizeof(path), "%s/cut", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	exe = open("/proc/self/exe", O_RDONLY);
	CHECK_EQ(read(exe, header, sizeof(header)), sizeof(header));
	close(exe);
	CHECK_EQ(write(fd, header, sizeof(header)), sizeof(header));
	close(fd);
	dso = new_dso(path, 1);
	CHECK_STR(name_at(dso, 0x800), "none");
	dso__delete(dso);
	unlink(path);
	rmdir(directory);
}

/* The perf map of this process, for it alone to write. */
static void write_perf_map(const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	file = fopen(path, "wx");
	CHECK(file != NULL);
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void remove_perf_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
}

TEST(perf_map_names_anonymous_memory)
{
	struct dso *dso = new_dso("//anon", (uint32_t)getpid());
	const struct symbol *symbol;

	write_perf_map("7f0000002000 100 py::second:/srv/model.py\n"
		       "7f0000001000 80 py::first:/srv/a file.py\n"
		       "0x7f0000003000 0x10 _Z5thirdv\n");
	symbol = dso__find_symbol(dso, 0x7f0000001010, NULL);
	CHECK(symbol && strcmp(symbol->name, "py::first:/srv/a file.py") == 0);
	CHECK(symbol && strcmp(symbol->demangled, "py::first:/srv/a file.py") == 0);
	CHECK(symbol && symbol->start == 0x7f0000001000);
	CHECK_STR(name_at(dso, 0x7f0000001080), "none");
	CHECK_STR(name_at(dso, 0x7f00000020ff), "py::second:/srv/model.py");
	symbol = dso__find_symbol(dso, 0x7f0000003000, NULL);
	CHECK(symbol && strcmp(symbol->demangled, "third") == 0);
	dso__delete(dso);
	remove_perf_map();
}

TEST(perf_map_later_line_wins)
{
	struct dso *dso = new_dso("//anon", (uint32_t)getpid());

	write_perf_map("1000 100 old\n1000 100 new\n1080 20 inside\n10f0 20 across\n");
	CHECK_STR(name_at(dso, 0x1000), "new");
	CHECK_STR(name_at(dso, 0x1090), "inside");
	CHECK_STR(name_at(dso, 0x10a0), "new");
	CHECK_STR(name_at(dso, 0x10f0), "across");
	CHECK_STR(name_at(dso, 0x110f), "across");
	dso__delete(dso);
	remove_perf_map();
}

TEST(perf_map_broken_lines_are_skipped)
{
	struct dso *dso = new_dso("[heap]", (uint32_t)getpid());

	write_perf_map("\n \nzzz 10 bad\n1000\n1000 \n1000 10\n1000 10 \n1000 -10 minus\n"
		       "ffffffffffffffff 10 over\n11111111111111111111 10 wide\n"
		       "2000 0 empty\n3000 10 good\n4000 10 last");
	CHECK_STR(name_at(dso, 0x1000), "none");
	CHECK_STR(name_at(dso, UINT64_MAX), "none");
	CHECK_STR(name_at(dso, 0x2000), "none");
	CHECK_STR(name_at(dso, 0x3000), "good");
	CHECK_STR(name_at(dso, 0x4000), "last");
	dso__delete(dso);
	remove_perf_map();
}

TEST(perf_map_is_no_link)
{
	struct dso *dso = new_dso("//anon", (uint32_t)getpid());
	char path[64], target[80];

	write_perf_map("1000 100 linked\n");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(target, sizeof(target), "%s.target", path);
	CHECK_EQ(rename(path, target), 0);
	CHECK_EQ(symlink(target, path), 0);
	CHECK_STR(name_at(dso, 0x1000), "none");
	dso__delete(dso);
	remove_perf_map();
	unlink(target);
}

static const char *name_by_origin(const struct perf_map_origin *origin)
{
	const struct build_id any = {0};
	struct symbol_files *files;
	const char *name;
	struct dso *dso;

	CHECK_EQ(symbol_files__new(NULL, &files), 0);
	CHECK_EQ(dso__new("//anon", (uint32_t)getpid(), files, &any, &dso), 0);
	if (origin)
		symbol_files__set_origin(files, origin);
	name = strcmp(name_at(dso, 0x1000), "none") ? "found" : "none";
	dso__delete(dso);
	symbol_files__delete(files);
	return name;
}

TEST(perf_map_is_of_the_recording)
{
	struct perf_map_origin origin = {.uid = getuid(), .end_ns = 1500000000};
	struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1, .tv_nsec = 500000000}};
	char path[64];

	write_perf_map("1000 100 compiled\n");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
	CHECK_STR(name_by_origin(&origin), "found");
	CHECK_STR(name_by_origin(NULL), "none");
	origin.end_ns--;
	CHECK_STR(name_by_origin(&origin), "none");
	origin.end_ns++;
	origin.uid++;
	/* Root's may be of what the user has recorded through sudo. */
	CHECK_STR(name_by_origin(&origin), getuid() ? "none" : "found");
	if (!getuid()) {
		CHECK_EQ(chown(path, origin.uid + 1, (gid_t)-1), 0);
		CHECK_STR(name_by_origin(&origin), "none");
	}
	remove_perf_map();
}

TEST(debuginfod_variable_is_left_alone)
{
	char path[PATH_MAX] = "";
	uint64_t offset = 0;
	struct dso *dso;

	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
	CHECK(find_file((const void *)lcong48, path, &offset));
	dso = new_dso(path, 1);
	CHECK_STR(name_at(dso, offset), "lcong48");
	CHECK_STR(getenv("DEBUGINFOD_URLS"), "http://127.0.0.1:1/");
	dso__delete(dso);
}
