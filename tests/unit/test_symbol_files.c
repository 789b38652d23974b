// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a recorded file is found, the file being this program; and that no
 * other build's symbols are taken.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/machine.h"
#include "symbol/symbol_files.h"
#include "unit.h"
#include "util/log.h"

#define APP "/bin/app"

static const struct build_id any;
static const struct build_id other = {.bytes = {0xab, 0xcd, 0xef}, .nr_bytes = 20};

/* A root of its own, and a home in it. */
static char root[] = "/tmp/test-perf-gpu-XXXXXX";

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_root(void)
{
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_root(void)
{
	if (!mkdtemp(root))
		abort();
	atexit(remove_root);
	setenv("HOME", root, 1);
	unsetenv("PERF_BUILDID_DIR");
	log_verbosity = -1;
}

/* Have this program as @path below the root. */
static void put_program(const char *path)
{
	char target[PATH_MAX], own[PATH_MAX] = "";

	/* In an emulator the link itself is another file's, but for who asks. */
	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		abort();
	snprintf(target, sizeof(target), "%s%s", root, path);
	for (char *slash = target + sizeof(root); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(target, 0700);
		*slash = '/';
	}
	if (symlink(own, target))
		abort();
}

static struct build_id own_build_id(void)
{
	const void *bytes = NULL;
	struct build_id id;
	ssize_t nr_bytes;
	Elf *elf;
	int fd;

	elf_version(EV_CURRENT);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	nr_bytes = dwelf_elf_gnu_build_id(elf, &bytes);
	CHECK(nr_bytes > 0);
	id = build_id__make(bytes, nr_bytes > 0 ? (size_t)nr_bytes : 0);
	elf_end(elf);
	close(fd);
	return id;
}

static struct symbol_files *new_files(const char *symfs)
{
	struct symbol_files *files;

	if (symbol_files__new(symfs, &files))
		abort();
	return files;
}

static int try_open(struct symbol_files *files, const char *path,
		    const struct build_id *id)
{
	struct elf_symbols *elf = NULL;
	int err = symbol_files__open(files, path, id, &elf);

	CHECK((err == 0) == (elf != NULL));
	elf_symbols__close(elf);
	return err;
}

/* Have this program under a build id: @format has %s for the two parts of that. */
static void put_by_build_id(const char *format, const struct build_id *id)
{
	char text[BUILD_ID_TEXT_BYTES], path[PATH_MAX], head[3] = "";

	build_id__format(id, text);
	memcpy(head, text, 2);
	snprintf(path, sizeof(path), format, head, text + 2);
	put_program(path);
}

TEST(build_id_of_zeros_is_none)
{
	static const uint8_t zeros[20];

	CHECK_EQ(build_id__make(zeros, sizeof(zeros)).nr_bytes, 0);
	CHECK_EQ(build_id__make(NULL, 0).nr_bytes, 0);
}

TEST(build_id_is_cut_and_trailing_zeros_do_not_count)
{
	static const uint8_t bytes[32] = {1, 2, 3, [20] = 7};
	struct build_id cut = build_id__make(bytes, 32),
			short_id = build_id__make(bytes, 3);
	struct build_id shorter = build_id__make(bytes, 2);

	CHECK_EQ(cut.nr_bytes, 20);
	CHECK(build_id__is_equal(&cut, &short_id));
	CHECK(!build_id__is_equal(&cut, &shorter));
}

TEST(build_id_as_text)
{
	static const uint8_t bytes[] = {0x01, 0xfe, 0x00, 0xa0};
	struct build_id id = build_id__make(bytes, sizeof(bytes));
	char text[BUILD_ID_TEXT_BYTES];

	CHECK_STR(build_id__format(&id, text), "01fe00a0");
	CHECK_STR(build_id__format(&any, text), "");
}

TEST(ids_are_kept_by_path)
{
	struct symbol_files *files = new_files(NULL);
	struct build_id id = own_build_id(), found;

	CHECK_EQ(symbol_files__build_id(files, "/a").nr_bytes, 0);
	CHECK_EQ(symbol_files__set_build_id(files, "/a", &id), 0);
	found = symbol_files__build_id(files, "/a");
	CHECK(build_id__is_equal(&found, &id));
	CHECK_EQ(symbol_files__set_build_id(files, "/a", &other), 0);
	found = symbol_files__build_id(files, "/a");
	CHECK(build_id__is_equal(&found, &other));
	CHECK_EQ(symbol_files__build_id(files, "/b").nr_bytes, 0);
	symbol_files__delete(files);
	symbol_files__delete(NULL);
}

TEST(same_build_is_taken)
{
	struct build_id id = own_build_id();
	struct symbol_files *files;

	make_root();
	files = new_files(NULL);
	CHECK_EQ(try_open(files, "/proc/self/exe", &any), 0);
	CHECK_EQ(try_open(files, "/proc/self/exe", &id), 0);
	CHECK_EQ(symbol_files__nr_stale(files), 0);
	symbol_files__delete(files);
}

TEST(other_build_is_not)
{
	bool has_vdso = getauxval(AT_SYSINFO_EHDR); /* none in an emulator */
	struct symbol_files *files;

	make_root();
	files = new_files(NULL);
	CHECK_EQ(try_open(files, "/proc/self/exe", &other), -ESTALE);
	CHECK_EQ(try_open(files, "[vdso]", &other), has_vdso ? -ESTALE : -ENOENT);
	CHECK_EQ(symbol_files__nr_stale(files), 1 + has_vdso);
	/* Nothing there isn't another build. */
	CHECK_EQ(try_open(files, "/nowhere", &other), -ENOENT);
	CHECK_EQ(symbol_files__nr_stale(files), 1 + has_vdso);
	symbol_files__delete(files);
}

TEST(symfs_stands_for_the_root)
{
	struct build_id id = own_build_id();
	struct symbol_files *files;

	make_root();
	put_program(APP);
	files = new_files(root);
	CHECK_EQ(try_open(files, APP, &any), 0);
	CHECK_EQ(try_open(files, APP, &id), 0);
	CHECK_EQ(try_open(files, APP, &other), -ESTALE);
	/* The machine's own files aren't looked at. */
	CHECK_EQ(try_open(files, "/proc/self/exe", &any), -ENOENT);
	symbol_files__delete(files);
	files = new_files("");
	CHECK_EQ(try_open(files, "/proc/self/exe", &any), 0);
	symbol_files__delete(files);
}

TEST(perf_cache_is_looked_at)
{
	struct build_id id = own_build_id();
	struct symbol_files *files;
	char path[PATH_MAX];

	make_root();
	put_by_build_id("/.debug/.build-id/%s/%s/elf", &id);
	put_by_build_id("/.debug/.build-id/%s/%s/elf", &other);
	for (int i = 0; i < 3; i++) {
		/* by HOME, by PERF_BUILDID_DIR, by --symfs */
		files = new_files(i == 2 ? root : NULL);
		CHECK_EQ(try_open(files, "/nowhere", &id), 0);
		CHECK_EQ(try_open(files, "/nowhere", &any), -ENOENT);
		/* What the cache has there isn't that build. */
		CHECK_EQ(try_open(files, "/nowhere", &other), -ENOENT);
		symbol_files__delete(files);
		snprintf(path, sizeof(path), "%s/.debug", root);
		setenv("PERF_BUILDID_DIR", path, 1);
		setenv("HOME", "/nowhere", 1);
	}
	unsetenv("PERF_BUILDID_DIR");
	unsetenv("HOME");
	files = new_files(NULL);
	CHECK_EQ(try_open(files, "/nowhere", &id), -ENOENT);
	symbol_files__delete(files);
}

TEST(system_debug_files_are_looked_at)
{
	struct build_id id = own_build_id();
	struct symbol_files *files;

	make_root();
	put_by_build_id("/usr/lib/debug/.build-id/%s/%s.debug", &id);
	files = new_files(root);
	CHECK_EQ(try_open(files, "/nowhere", &id), 0);
	CHECK_EQ(try_open(files, "/nowhere", &other), -ENOENT);
	symbol_files__delete(files);
}

/* An MMAP2 record, with the build id in it if there is one */
static void map_program(struct machine *machine, uint32_t pid, const char *path,
			const struct build_id *id)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint8_t id_bytes, reserved[3];
		uint8_t id[20];
		uint32_t prot, flags;
		char path[64];
	} record = {
		.header = {.type = PERF_RECORD_MMAP2,
			   .misc = PERF_RECORD_MISC_USER,
			   .size = sizeof(record)},
		.pid = pid,
		.addr = 0x1000,
		.len = 1 << 24,
		.prot = 4,
	};

	if (id->nr_bytes) {
		record.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		record.id_bytes = (uint8_t)id->nr_bytes;
		memcpy(record.id, id->bytes, sizeof(record.id));
	}
	snprintf(record.path, sizeof(record.path), "%s", path);
	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static struct dso *mapped(struct machine *machine, uint32_t pid)
{
	const struct map *map = machine__find_map(machine, pid, 0x2000);

	CHECK(map != NULL);
	return map ? map->dso : NULL;
}

static bool has_symbols(struct dso *dso)
{
	for (uint64_t offset = 0; offset < 1 << 22; offset += 16)
		if (dso__find_symbol(dso, offset, NULL))
			return true;
	return false;
}

TEST(machine_takes_the_id_of_the_record_then_of_the_table)
{
	struct build_id id = own_build_id();
	struct machine *machine;

	make_root();
	put_program(APP);
	CHECK_EQ(machine__new(root, &machine), 0);
	map_program(machine, 1, APP, &any);
	CHECK_EQ(machine__set_build_id(machine, APP, &other), 0);
	map_program(machine, 2, APP, &any);
	map_program(machine, 3, APP, &id);
	map_program(machine, 4, APP, &other);
	CHECK(has_symbols(mapped(machine, 1)));
	CHECK(!has_symbols(mapped(machine, 2)));
	CHECK(has_symbols(mapped(machine, 3)));
	CHECK(mapped(machine, 2) == mapped(machine, 4));
	CHECK(mapped(machine, 2) != mapped(machine, 3));
	CHECK_EQ(machine__nr_stale_files(machine), 1);
	machine__delete(machine);
}

/* A store with this program under a name. */
static struct symbol_store *store_with(const char *name)
{
	struct symbol_store *store;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(symbol_store__new(&store), 0);
	CHECK_EQ(symbol_store__add(store, name, fd), 0);
	return store;
}

TEST(an_archives_files_come_first)
{
	struct build_id id = own_build_id();
	char name[SYMBOL_STORE_NAME_BYTES];
	struct symbol_store *store =
		store_with(symbol_store__name(SYMBOL_STORE_ELF, &id, name));
	struct symbol_files *files;

	make_root();
	files = new_files(NULL);
	symbol_files__set_store(files, store);
	CHECK_EQ(try_open(files, "/nowhere", &id), 0);
	/* not in it: one of this machine's, if it is the one that was recorded */
	CHECK_EQ(try_open(files, "/nowhere", &other), -ENOENT);
	CHECK_EQ(try_open(files, "/proc/self/exe", &other), -ESTALE);
	/* which is no wonder on another machine */
	CHECK_EQ(symbol_files__nr_stale(files), 0);
	/* not known which it was: any of this machine's would be wrong */
	CHECK_EQ(try_open(files, "/proc/self/exe", &any), -ENOENT);
	symbol_files__delete(files);
	symbol_store__delete(store);
}

TEST(an_archive_that_lies_is_not_believed)
{
	struct build_id id = own_build_id();
	char name[SYMBOL_STORE_NAME_BYTES];
	struct symbol_store *store =
		store_with(symbol_store__name(SYMBOL_STORE_ELF, &other, name));
	struct symbol_files *files;

	make_root();
	files = new_files(NULL);
	symbol_files__set_store(files, store);
	CHECK_EQ(try_open(files, "/nowhere", &other), -ENOENT);
	CHECK_EQ(try_open(files, "/proc/self/exe", &id), 0);
	symbol_files__delete(files);
	symbol_store__delete(store);
}

TEST(an_archive_has_a_vdso_and_files_by_path)
{
	struct build_id id = own_build_id();
	char name[SYMBOL_STORE_NAME_BYTES];
	struct symbol_store *vdso =
		store_with(symbol_store__name(SYMBOL_STORE_VDSO, &id, name));
	struct symbol_store *by_path = store_with("symfs/opt/app");
	struct symbol_files *files;

	make_root();
	files = new_files(NULL);
	symbol_files__set_store(files, vdso);
	CHECK_EQ(try_open(files, "[vdso]", &id), 0);
	CHECK_EQ(try_open(files, "/opt/app", &id), -ENOENT);
	symbol_files__set_store(files, by_path);
	CHECK_EQ(try_open(files, "/opt/app", &any), 0);
	CHECK_EQ(try_open(files, "/opt/app", &id), 0);
	CHECK_EQ(try_open(files, "/opt/app", &other), -ENOENT);
	CHECK_EQ(try_open(files, "/opt/other", &any), -ENOENT);
	symbol_files__delete(files);
	symbol_store__delete(by_path);
	symbol_store__delete(vdso);
}

TEST(an_archive_goes_with_symfs)
{
	struct symbol_store *store = store_with("symfs/opt/app");
	struct symbol_files *files;

	make_root();
	put_program("/opt/lib");
	files = new_files(root);
	symbol_files__set_store(files, store);
	CHECK_EQ(try_open(files, "/opt/app", &any), 0);
	CHECK_EQ(try_open(files, "/opt/lib", &any), 0);
	symbol_files__delete(files);
	symbol_store__delete(store);
}
