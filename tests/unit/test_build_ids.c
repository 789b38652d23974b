// SPDX-License-Identifier: GPL-2.0-or-later
/* Build ids of mapped files, and where a probe goes in a file */
#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "perfdata/format.h"
#include "record/build_ids.h"
#include "record/marker_offset.h"
#include "unit.h"

TEST(a_file_is_there_once)
{
	const struct perfdata_build_id *entry;
	struct perfdata_buffer table = {0};
	struct build_ids_unreadable unreadable;
	struct build_ids *ids;
	char own[4096] = "";

	CHECK(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	CHECK_EQ(build_ids__new(&ids), 0);
	build_ids__add(ids, own, NULL, 0);
	build_ids__add(ids, own, NULL, 0);
	build_ids__read(ids, &table, &unreadable);
	CHECK(table.nr_bytes > sizeof(*entry));
	entry = (const struct perfdata_build_id *)table.data;
	CHECK_EQ(table.nr_bytes, entry->header.size);
	CHECK_EQ(entry->pid, -1);
	CHECK_EQ(entry->header.misc, PERF_RECORD_MISC_USER | PERFDATA_MISC_BUILD_ID_SIZE);
	CHECK_EQ(entry->id_bytes, 20);
	CHECK_STR(entry->path, own);
	CHECK_EQ((entry->header.size - sizeof(*entry)) % PERFDATA_STRING_ALIGN, 0);
	perfdata_buffer__release(&table);
	build_ids__delete(ids);
}

/* The file may be another one by the time the table is made. */
TEST(what_the_kernel_told_counts)
{
	const uint8_t first[4] = {1, 2, 3, 4}, second[4] = {5, 6, 7, 8}, zero[24] = {0};
	const struct perfdata_build_id *entry;
	struct perfdata_buffer table = {0};
	struct build_ids_unreadable unreadable;
	struct build_ids *ids;
	char own[4096] = "";

	CHECK(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	CHECK_EQ(build_ids__new(&ids), 0);
	build_ids__add(ids, own, first, sizeof(first));
	build_ids__add(ids, own, second, sizeof(second));
	build_ids__add(ids, own, NULL, 0);
	build_ids__add(ids, own, zero, 24); /* longer than any */
	build_ids__read(ids, &table, &unreadable);
	entry = (const struct perfdata_build_id *)table.data;
	CHECK_EQ(table.nr_bytes, entry->header.size);
	CHECK_EQ(entry->id_bytes, sizeof(second));
	CHECK_MEM(entry->id, second, sizeof(second));
	CHECK_STR(entry->path, own);
	perfdata_buffer__release(&table);
	build_ids__delete(ids);
}

TEST(what_has_no_build_id_is_left_out)
{
	char dir[] = P_tmpdir "/perf-gpu-unit.XXXXXX", fifo[64];
	struct perfdata_buffer table = {0};
	struct build_ids_unreadable unreadable;
	struct build_ids *ids;

	CHECK(mkdtemp(dir));
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	CHECK_EQ(build_ids__new(&ids), 0);
	build_ids__add(ids, "[vdso]", NULL, 0);
	build_ids__add(ids, "//anon", NULL, 0);
	build_ids__add(ids, "relative", NULL, 0);
	build_ids__add(ids, "", NULL, 0);
	build_ids__add(ids, dir, NULL, 0);
	build_ids__add(ids, fifo, NULL, 0); /* opening it must not wait for a writer */
	build_ids__add(ids, "/dev/zero", NULL, 0);
	build_ids__add(ids, "/proc/self/maps", NULL, 0);
	build_ids__add(ids, "/no/such/file", NULL, 0);
	build_ids__add(ids, "/memfd:code (deleted)", NULL, 0);
	build_ids__add(ids, "/SYSV00000000 (deleted)", NULL, 0);
	build_ids__add(ids, "/no/such/other", NULL, 0);
	build_ids__read(ids, &table, &unreadable);
	/* What could not be opened is counted; what only has no id isn't. */
	CHECK_EQ(unreadable.nr, 2);
	CHECK_STR(unreadable.path, "/no/such/file");
	CHECK_EQ(unreadable.err, -ENOENT);
	CHECK_EQ(table.nr_bytes, 0);
	build_ids__delete(ids);
	unlink(fifo);
	rmdir(dir);
}

/* A function of libc's .dynsym is found in its file where memory has it. */
TEST(a_symbol_is_found_by_its_offset)
{
	char line[4096], path[4096];
	unsigned long start, pgoff, address = (unsigned long)(uintptr_t)&getppid;
	uint64_t offset = 0;
	bool is_found = false;
	FILE *maps;

	maps = fopen("/proc/self/maps", "r");
	CHECK(maps);
	while (!is_found && fgets(line, sizeof(line), maps)) {
		unsigned long end;

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095s", &start, &end, &pgoff,
			   path) == 4)
			is_found = address >= start && address < end;
	}
	fclose(maps);
	if (!is_found || !strstr(path, "libc"))
		SKIP("getppid is not libc's own");
	CHECK_EQ(marker_offset__find(path, "getppid", &offset), 0);
	CHECK_EQ(offset, address - start + pgoff);
	CHECK_EQ(marker_offset__find(path, "perf_gpu_launch", &offset), -ENOENT);
}

TEST(files_that_are_no_elf)
{
	uint64_t offset;

	CHECK_EQ(marker_offset__find("/no/such/file", "main", &offset), -ENOENT);
	CHECK_EQ(marker_offset__find("/dev/null", "main", &offset), -EINVAL);
	CHECK_EQ(marker_offset__find("/proc/self/maps", "main", &offset), -EINVAL);
}

static void a_function(void)
{
}

TEST(own_functions_are_found)
{
	uint64_t first, second;

	CHECK_EQ(marker_offset__find_own(a_function, &first), 0);
	CHECK_EQ(marker_offset__find_own((const char *)a_function + 1, &second), 0);
	CHECK_EQ(second, first + 1);
	CHECK_EQ(marker_offset__find_own(&first, &second), -ENOENT);
}
