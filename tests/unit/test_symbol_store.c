// SPDX-License-Identifier: GPL-2.0-or-later
/* Files with symbols that are in no folder: their names, and that these are found. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/symbol_store.h"
#include "unit.h"

static const struct build_id id = {.bytes = {0xab, 0xcd, 0xef}, .nr_bytes = 3};

TEST(names_are_those_of_perfs_cache)
{
	char name[SYMBOL_STORE_NAME_BYTES];

	CHECK_STR(symbol_store__name(SYMBOL_STORE_ELF, &id, name),
		  "symfs/.debug/.build-id/ab/cdef/elf");
	CHECK(symbol_store__is_by_id(name));
	CHECK(!symbol_store__is_by_path(name));
	CHECK_STR(symbol_store__name(SYMBOL_STORE_VDSO, &id, name),
		  "symfs/.debug/.build-id/ab/cdef/vdso");
	CHECK(symbol_store__is_by_id(name));
	CHECK_STR(symbol_store__name(SYMBOL_STORE_DEBUG, &id, name),
		  "symfs/.debug/.build-id/ab/cdef/debug");
	CHECK(symbol_store__is_by_id(name));
}

TEST(the_longest_id_has_room)
{
	struct build_id longest = {.nr_bytes = BUILD_ID_MAX_BYTES};
	char name[SYMBOL_STORE_NAME_BYTES];

	memset(longest.bytes, 0xff, sizeof(longest.bytes));
	symbol_store__name(SYMBOL_STORE_DEBUG, &longest, name);
	CHECK(symbol_store__is_by_id(name));
}

TEST(nothing_else_is_a_name_by_id)
{
	static const char *const names[] = {
		"",
		"symfs/.debug/.build-id/",
		"symfs/.debug/.build-id/ab/cdef",
		"symfs/.debug/.build-id/ab/cdef/",
		"symfs/.debug/.build-id/ab/cdef/other",
		"symfs/.debug/.build-id/ab/cdef/elf/x",
		"symfs/.debug/.build-id/ab/cde/elf",
		"symfs/.debug/.build-id/ab//elf",
		"symfs/.debug/.build-id/abc/def/elf",
		"symfs/.debug/.build-id/ab/../elf",
		"symfs/.debug/.build-id/AB/CDEF/elf",
		"symfs/.debug/.build-id/ab/ffffffffffffffffffffffffffffffffffffffff/elf",
		"/symfs/.debug/.build-id/ab/cdef/elf",
		"./symfs/.debug/.build-id/ab/cdef/elf",
		".debug/.build-id/ab/cdef/elf",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK(!symbol_store__is_by_id(names[i]));
}

TEST(paths_lead_nowhere_else)
{
	static const char *const bad[] = {
		"",	      "symfs",	       "symfs/",
		"symfs//app", "symfs/../x",    "symfs/a/../x",
		"symfs/a/..", "symfs/./a",     "symfs/a/",
		"symfsa/b",   "/symfs/a",      "../symfs/a",
		"symfs/.",    "symfs/a/.",     "symfs/.debug/some",
		"a",	      "symfs/a//../b",
	};
	static const char *const good[] = {"symfs/a", "symfs/opt/a b", "symfs/opt/..a",
					   "symfs/tmp/perf-1.map", "symfs/.debugger"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!symbol_store__is_by_path(bad[i]));
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK(symbol_store__is_by_path(good[i]));
}

TEST(no_path_is_longer_than_paths_are)
{
	static char name[8192] = "symfs/";

	memset(name + strlen(name), 'a', sizeof(name) - strlen(name) - 1);
	CHECK(!symbol_store__is_by_path(name));
}

static int new_file(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

TEST(files_are_found_by_id_and_path)
{
	const struct build_id other = {.bytes = {0xab, 0xcd}, .nr_bytes = 2};
	char name[SYMBOL_STORE_NAME_BYTES];
	struct symbol_store *store;
	int by_id = new_file(), by_path = new_file(), again = new_file();

	CHECK_EQ(symbol_store__new(&store), 0);
	symbol_store__name(SYMBOL_STORE_ELF, &id, name);
	CHECK_EQ(symbol_store__add(store, name, by_id), 0);
	CHECK_EQ(symbol_store__add(store, "symfs/opt/app", by_path), 0);
	CHECK_EQ(symbol_store__add(store, name, again), -EEXIST);

	CHECK_EQ(symbol_store__find_id(store, SYMBOL_STORE_ELF, &id), by_id);
	CHECK_EQ(symbol_store__find_id(store, SYMBOL_STORE_DEBUG, &id), -ENOENT);
	CHECK_EQ(symbol_store__find_id(store, SYMBOL_STORE_ELF, &other), -ENOENT);
	CHECK_EQ(symbol_store__find_id(store, SYMBOL_STORE_ELF, &(struct build_id){}),
		 -ENOENT);
	CHECK_EQ(symbol_store__find_path(store, "/opt/app"), by_path);
	CHECK_EQ(symbol_store__find_path(store, "/opt/other"), -ENOENT);
	CHECK_EQ(symbol_store__find_path(store, "[vdso]"), -ENOENT);

	symbol_store__delete(store);
	CHECK_EQ(fcntl(by_id, F_GETFD), -1);
	CHECK_EQ(fcntl(again, F_GETFD), FD_CLOEXEC);
	close(again);
}

static int stop_at_second(const char *name, int fd, void *context)
{
	(void)name;
	(void)fd;
	return ++*(int *)context == 2 ? -EINTR : 0;
}

TEST(a_visit_can_be_ended)
{
	struct symbol_store *store;
	int nr = 0;

	CHECK_EQ(symbol_store__new(&store), 0);
	CHECK_EQ(symbol_store__add(store, "symfs/a", new_file()), 0);
	CHECK_EQ(symbol_store__add(store, "symfs/b", new_file()), 0);
	CHECK_EQ(symbol_store__add(store, "symfs/c", new_file()), 0);
	CHECK_EQ(symbol_store__for_each(store, stop_at_second, &nr), -EINTR);
	CHECK_EQ(nr, 2);
	symbol_store__delete(store);
}
