// SPDX-License-Identifier: GPL-2.0-or-later
/* Side-band records, applied one after the other, and what becomes of maps. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perfdata/mmap2.h"
#include "symbol/machine.h"
#include "unit.h"

/* A record as the kernel writes it, large enough for every test. */
union record {
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		char filename[216];
	} mmap;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint8_t build_id[24];
		uint32_t prot, flags;
		char filename[184];
	} mmap2;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
	} comm;
	struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} task;
};

static struct machine *new_machine(void)
{
	struct machine *machine;

	if (machine__new(NULL, &machine))
		abort();
	return machine;
}

static union record mmap2_record(uint32_t pid, uint64_t start, uint64_t end,
				 uint64_t pgoff, const char *path)
{
	union record record = {.mmap2 = {{PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
					  sizeof(record.mmap2)},
					 .pid = pid,
					 .tid = pid,
					 .addr = start,
					 .len = end - start,
					 .pgoff = pgoff,
					 .prot = PROT_READ | PROT_EXEC,
					 .flags = MAP_PRIVATE}};

	strcpy(record.mmap2.filename, path);
	return record;
}

static void map_file(struct machine *machine, uint32_t pid, uint64_t start, uint64_t end,
		     uint64_t pgoff, const char *path)
{
	union record record = mmap2_record(pid, start, end, pgoff, path);

	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static void set_comm(struct machine *machine, uint32_t pid, uint32_t tid,
		     const char *comm, uint16_t misc)
{
	union record record = {.comm = {{PERF_RECORD_COMM, misc, sizeof(record.comm)},
					.pid = pid,
					.tid = tid}};

	strcpy(record.comm.comm, comm);
	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static void task(struct machine *machine, uint32_t type, uint16_t misc, uint32_t ppid,
		 uint32_t ptid, uint32_t pid, uint32_t tid)
{
	union record record = {.task = {{type, misc, sizeof(record.task)},
					.pid = pid,
					.ppid = ppid,
					.tid = tid,
					.ptid = ptid}};

	CHECK_EQ(machine__process(machine, &record.header), 0);
}

static const char *path_at(struct machine *machine, uint32_t pid, uint64_t ip)
{
	const struct map *map = machine__find_map(machine, pid, ip);

	return map ? dso__path(map->dso) : "none";
}

/* "path+offset in the file" */
static const char *place_at(struct machine *machine, uint32_t pid, uint64_t ip)
{
	const struct map *map = machine__find_map(machine, pid, ip);
	static char place[300];

	if (!map)
		return "none";
	snprintf(place, sizeof(place), "%s+0x%llx", dso__path(map->dso),
		 (unsigned long long)(ip - map->start + map->pgoff));
	return place;
}

TEST(unknown_process_has_no_map_and_no_name)
{
	struct machine *machine = new_machine();

	CHECK(!machine__find_map(machine, 1, 0));
	CHECK_STR(machine__comm(machine, 1, 1), "");
	CHECK_EQ(machine__nr_execs(machine, 1), 0);
	machine__delete(machine);
	machine__delete(NULL);
}

TEST(map_covers_start_up_to_end)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x3000, 0x5000, "/a");
	map_file(machine, 10, 0x4000, 0x5000, 0, "/b");
	CHECK_STR(place_at(machine, 10, 0xfff), "none");
	CHECK_STR(place_at(machine, 10, 0x1000), "/a+0x5000");
	CHECK_STR(place_at(machine, 10, 0x2fff), "/a+0x6fff");
	CHECK_STR(place_at(machine, 10, 0x3000), "none");
	CHECK_STR(place_at(machine, 10, 0x4001), "/b+0x1");
	CHECK_STR(place_at(machine, 11, 0x1000), "none");
	machine__delete(machine);
}

TEST(new_map_replaces_what_it_covers)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x10000, 0x20000, 0, "/a");
	map_file(machine, 10, 0x20000, 0x30000, 0x100000, "/b");
	/* in the middle */
	map_file(machine, 10, 0x14000, 0x15000, 0, "/c");
	CHECK_STR(place_at(machine, 10, 0x13fff), "/a+0x3fff");
	CHECK_STR(place_at(machine, 10, 0x14000), "/c+0x0");
	CHECK_STR(place_at(machine, 10, 0x15000), "/a+0x5000");
	/* the end of one and the start of the next */
	map_file(machine, 10, 0x1f000, 0x22000, 0, "/d");
	CHECK_STR(place_at(machine, 10, 0x1efff), "/a+0xefff");
	CHECK_STR(place_at(machine, 10, 0x1f000), "/d+0x0");
	CHECK_STR(place_at(machine, 10, 0x22000), "/b+0x102000");
	/* all of it, exactly and more */
	map_file(machine, 10, 0x10000, 0x30000, 0, "/e");
	CHECK_STR(place_at(machine, 10, 0x14000), "/e+0x4000");
	map_file(machine, 10, 0, UINT64_MAX, 0, "/f");
	CHECK_STR(path_at(machine, 10, 0x14000), "/f");
	CHECK_STR(path_at(machine, 10, UINT64_MAX - 1), "/f");
	machine__delete(machine);
}

/* Against an array with one entry per address. */
TEST(random_maps_match_the_definition)
{
	struct machine *machine = new_machine();
	enum { SPAN = 256 };
	uint64_t offset[SPAN];

	memset(offset, 0xff, sizeof(offset));
	srand(1);
	for (int round = 0; round < 2000; round++) {
		uint64_t start = (uint64_t)(rand() % SPAN);
		uint64_t end = start + (uint64_t)(rand() % (SPAN - (int)start));
		uint64_t pgoff = (uint64_t)rand();

		map_file(machine, 10, start, end, pgoff, "/a");
		for (uint64_t at = start; at < end; at++)
			offset[at] = pgoff + at - start;
		for (uint64_t at = 0; at < SPAN; at++) {
			const struct map *map = machine__find_map(machine, 10, at);

			CHECK_EQ(map ? at - map->start + map->pgoff : UINT64_MAX,
				 offset[at]);
		}
	}
	machine__delete(machine);
}

TEST(data_and_kernel_maps_are_ignored)
{
	struct machine *machine = new_machine();
	union record record = mmap2_record(10, 0x1000, 0x2000, 0, "/data");

	record.mmap2.prot = PROT_READ | PROT_WRITE;
	CHECK_EQ(machine__process(machine, &record.header), 0);
	CHECK_STR(path_at(machine, 10, 0x1000), "none");

	record = mmap2_record(10, 0x1000, 0x2000, 0, "[kernel.kallsyms]_text");
	record.header.misc = PERF_RECORD_MISC_KERNEL;
	CHECK_EQ(machine__process(machine, &record.header), 0);
	CHECK_STR(path_at(machine, 10, 0x1000), "none");
	machine__delete(machine);
}

TEST(old_mmap_is_executable_unless_marked_data)
{
	struct machine *machine = new_machine();
	union record record = {
		.mmap = {{PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof(record.mmap)},
			 .pid = 10,
			 .addr = 0x1000,
			 .len = 0x1000,
			 .pgoff = 0x7000,
			 .filename = "/old"}};

	CHECK_EQ(machine__process(machine, &record.header), 0);
	CHECK_STR(place_at(machine, 10, 0x1800), "/old+0x7800");

	record.mmap.addr = 0x5000;
	record.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	CHECK_EQ(machine__process(machine, &record.header), 0);
	CHECK_STR(path_at(machine, 10, 0x5000), "none");
	machine__delete(machine);
}

TEST(build_id_flavour_of_mmap2_is_read_alike)
{
	struct machine *machine = new_machine();
	union record record = mmap2_record(10, 0x1000, 0x2000, 0x3000, "/with-build-id");

	record.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	memset(record.mmap2.build_id, 0xff, sizeof(record.mmap2.build_id));
	CHECK_EQ(machine__process(machine, &record.header), 0);
	CHECK_STR(place_at(machine, 10, 0x1000), "/with-build-id+0x3000");
	machine__delete(machine);
}

/* What the kernel marks as one, where another recorder has asked for build ids */
TEST(device_and_inode_are_no_build_id)
{
	static const uint8_t own[20] = {1, 2, 3, 4, 5, 6, 7, 8};
	union record record = mmap2_record(10, 0x1000, 0x2000, 0, "/usr/bin/true");
	struct perfdata_mmap2 *mmap2 = (void *)&record;

	CHECK_EQ(perfdata_mmap2__id_bytes(mmap2), 0);
	record.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	mmap2->major = 254;
	mmap2->inode = 11184406;
	mmap2->inode_generation = 50704178;
	CHECK_EQ(perfdata_mmap2__id_bytes(mmap2), 0);
	mmap2->major = 8; /* could be a length */
	CHECK_EQ(perfdata_mmap2__id_bytes(mmap2), 0);
	perfdata_mmap2__mend(&record.header);
	CHECK_EQ(record.header.misc, PERF_RECORD_MISC_USER);
	CHECK_EQ(mmap2->inode, 11184406);

	record.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	memset(mmap2->reserved, 0, sizeof(mmap2->reserved));
	memcpy(mmap2->build_id, own, sizeof(own));
	mmap2->build_id_bytes = 8;
	CHECK_EQ(perfdata_mmap2__id_bytes(mmap2), 8);
	mmap2->build_id_bytes = 20;
	CHECK_EQ(perfdata_mmap2__id_bytes(mmap2), 20);
	perfdata_mmap2__mend(&record.header);
	CHECK_EQ(record.header.misc,
		 PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
}

TEST(program_is_what_is_mapped_first)
{
	struct machine *machine = new_machine();

	CHECK(!machine__program(machine, 10));
	map_file(machine, 10, 0x10000, 0x20000, 0, "//anon");
	map_file(machine, 10, 0x20000, 0x30000, 0, "[vdso]");
	CHECK(!machine__program(machine, 10));
	map_file(machine, 10, 0x555500000000, 0x555500001000, 0, "/bin/app");
	map_file(machine, 10, 0x7f0000000000, 0x7f0000001000, 0, "/lib/ld.so");
	map_file(machine, 10, 0x30000, 0x40000, 0, "/lib/low.so");
	CHECK_STR(machine__program(machine, 10), "/bin/app");
	/* It is its children's, too, until they become another. */
	task(machine, PERF_RECORD_FORK, 0, 10, 10, 11, 11);
	CHECK_STR(machine__program(machine, 11), "/bin/app");
	set_comm(machine, 11, 11, "other", PERF_RECORD_MISC_COMM_EXEC);
	CHECK(!machine__program(machine, 11));
	map_file(machine, 11, 0x400000, 0x500000, 0, "/bin/other");
	CHECK_STR(machine__program(machine, 11), "/bin/other");
	CHECK_STR(machine__program(machine, 10), "/bin/app");
	machine__delete(machine);
}

TEST(anonymous_memory_is_addressed_as_it_is)
{
	struct machine *machine = new_machine();
	struct dso *dso;

	map_file(machine, 10, 0x7f0000000000, 0x7f0000010000, 0x123000, "//anon");
	map_file(machine, 10, 0x7f0000100000, 0x7f0000110000, 0, "/memfd:jit (deleted)");
	map_file(machine, 11, 0x7f0000000000, 0x7f0000010000, 0, "//anon");
	CHECK_STR(place_at(machine, 10, 0x7f0000000abc),
		  "/tmp/perf-10.map+0x7f0000000abc");
	CHECK_STR(place_at(machine, 10, 0x7f0000100abc),
		  "/tmp/perf-10.map+0x7f0000100abc");
	CHECK_STR(path_at(machine, 11, 0x7f0000000abc), "/tmp/perf-11.map");
	/* The part behind a cut too. */
	map_file(machine, 10, 0x7f0000001000, 0x7f0000002000, 0, "/lib");
	CHECK_STR(place_at(machine, 10, 0x7f0000003abc),
		  "/tmp/perf-10.map+0x7f0000003abc");

	dso = machine__find_map(machine, 10, 0x7f0000000000)->dso;
	CHECK(dso == machine__find_map(machine, 10, 0x7f0000002000)->dso);
	machine__delete(machine);
}

TEST(file_is_one_dso_for_all_processes)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x2000, 0, "/lib");
	map_file(machine, 11, 0x5000, 0x6000, 0, "/lib");
	CHECK(machine__find_map(machine, 10, 0x1000)->dso ==
	      machine__find_map(machine, 11, 0x5000)->dso);
	machine__delete(machine);
}

TEST(fork_copies_maps_and_each_side_changes_its_own)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x2000, 0, "/a");
	task(machine, PERF_RECORD_FORK, 0, 10, 10, 20, 20);
	CHECK_STR(path_at(machine, 20, 0x1000), "/a");
	map_file(machine, 10, 0x3000, 0x4000, 0, "/parent");
	map_file(machine, 20, 0x3000, 0x4000, 0, "/child");
	CHECK_STR(path_at(machine, 10, 0x3000), "/parent");
	CHECK_STR(path_at(machine, 20, 0x3000), "/child");
	CHECK_STR(path_at(machine, 20, 0x1000), "/a");
	/* A grandchild outlives both. */
	task(machine, PERF_RECORD_FORK, 0, 20, 20, 30, 30);
	task(machine, PERF_RECORD_EXIT, 0, 20, 20, 20, 20);
	set_comm(machine, 20, 20, "other", PERF_RECORD_MISC_COMM_EXEC);
	CHECK_STR(path_at(machine, 30, 0x3000), "/child");
	machine__delete(machine);
}

TEST(thread_shares_its_process_s_maps)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x2000, 0, "/a");
	set_comm(machine, 10, 10, "main", 0);
	task(machine, PERF_RECORD_FORK, 0, 10, 10, 10, 11);
	CHECK_STR(path_at(machine, 10, 0x1000), "/a");
	CHECK_STR(machine__comm(machine, 10, 11), "main");
	set_comm(machine, 10, 11, "worker", 0);
	CHECK_STR(machine__comm(machine, 10, 11), "worker");
	CHECK_STR(machine__comm(machine, 10, 10), "main");
	/* A thread nobody told of has its process's name. */
	CHECK_STR(machine__comm(machine, 10, 12), "main");
	CHECK_EQ(machine__nr_execs(machine, 10), 0);
	machine__delete(machine);
}

TEST(exec_drops_maps)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x2000, 0, "/a");
	set_comm(machine, 10, 10, "renamed", 0);
	CHECK_STR(path_at(machine, 10, 0x1000), "/a");
	set_comm(machine, 10, 10, "new", PERF_RECORD_MISC_COMM_EXEC);
	CHECK_STR(path_at(machine, 10, 0x1000), "none");
	CHECK_EQ(machine__nr_execs(machine, 10), 1);
	CHECK_STR(machine__comm(machine, 10, 10), "new");
	map_file(machine, 10, 0x1000, 0x2000, 0, "/b");
	CHECK_STR(path_at(machine, 10, 0x1000), "/b");
	machine__delete(machine);
}

TEST(exit_keeps_maps_until_the_pid_is_used_again)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x2000, 0, "/a");
	map_file(machine, 20, 0x1000, 0x2000, 0, "/old");
	set_comm(machine, 20, 20, "old", 0);
	set_comm(machine, 10, 10, "parent", 0);
	task(machine, PERF_RECORD_EXIT, 0, 10, 10, 20, 20);
	CHECK_STR(path_at(machine, 20, 0x1000), "/old");
	CHECK_STR(machine__comm(machine, 20, 20), "old");
	task(machine, PERF_RECORD_FORK, 0, 10, 10, 20, 20);
	CHECK_STR(path_at(machine, 20, 0x1000), "/a");
	CHECK_STR(machine__comm(machine, 20, 20), "parent");
	CHECK_EQ(machine__nr_execs(machine, 20), 1);
	machine__delete(machine);
}

/* perf makes up FORKs for what it finds running: the maps follow by themselves. */
TEST(synthesized_fork_copies_nothing)
{
	struct machine *machine = new_machine();

	map_file(machine, 10, 0x1000, 0x2000, 0, "/a");
	task(machine, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 10, 10, 20, 20);
	CHECK_STR(path_at(machine, 20, 0x1000), "none");
	machine__delete(machine);
}

/* Asked twice each: the second time, the answer is remembered. */
static void expect_path(struct machine *machine, uint32_t pid, uint64_t ip,
			const char *path)
{
	for (int i = 0; i < 2; i++)
		CHECK_STR(path_at(machine, pid, ip), path);
}

TEST(what_was_found_before_is_found_as_it_is_now)
{
	struct machine *machine = new_machine();

	/* Two maps and none within one page */
	map_file(machine, 1, 0x1000, 0x1400, 0, "/low.so");
	map_file(machine, 1, 0x1400, 0x1800, 0, "/high.so");
	map_file(machine, 2, 0x1000, 0x2000, 0, "/other.so");
	for (int i = 0; i < 2; i++) {
		expect_path(machine, 1, 0x1300, "/low.so");
		expect_path(machine, 1, 0x1400, "/high.so");
		expect_path(machine, 1, 0x1800, "none");
		expect_path(machine, 2, 0x1800, "/other.so");
		expect_path(machine, 3, 0x1300, "none");
	}
	map_file(machine, 1, 0x1000, 0x1400, 0, "/new.so");
	expect_path(machine, 1, 0x1300, "/new.so");
	set_comm(machine, 1, 1, "app", PERF_RECORD_MISC_COMM_EXEC);
	expect_path(machine, 1, 0x1300, "none");
	expect_path(machine, 2, 0x1300, "/other.so");
	task(machine, PERF_RECORD_FORK, 0, 2, 2, 1, 1);
	expect_path(machine, 1, 0x1300, "/other.so");
	machine__delete(machine);
}

TEST(thousand_children_share_a_thousand_maps)
{
	struct machine *machine = new_machine();

	for (uint64_t i = 0; i < 1000; i++)
		map_file(machine, 1, i << 12, (i + 1) << 12, 0, "/a");
	for (uint32_t i = 0; i < 1000; i++)
		task(machine, PERF_RECORD_FORK, 0, 1, 1, 1000 + i, 1000 + i);
	CHECK(machine__find_map(machine, 1000, 0) == machine__find_map(machine, 1999, 0));
	CHECK(machine__find_map(machine, 1000, 0) == machine__find_map(machine, 1, 0));
	machine__delete(machine);
}

/* Which were a copy of all maps for each child once: 3 GB here */
TEST(children_that_map_something_share_the_rest)
{
	struct machine *machine = new_machine();
	struct mallinfo2 before, after;

	for (uint64_t i = 0; i < 10000; i++)
		map_file(machine, 1, i << 12, (i + 1) << 12, 0, "/a");
	before = mallinfo2();
	for (uint32_t i = 0; i < 10000; i++) {
		task(machine, PERF_RECORD_FORK, 0, 1, 1, 10000 + i, 10000 + i);
		map_file(machine, 10000 + i, 0x5000800, 0x5001800, 0, "/b");
	}
	after = mallinfo2();
	CHECK_STR(place_at(machine, 1, 0x50007ff), "none");
	CHECK_STR(place_at(machine, 1, 0x1000), "/a+0x0");
	CHECK_STR(place_at(machine, 19999, 0x5000fff), "/b+0x7ff");
	CHECK_STR(place_at(machine, 15000, 9999 << 12 | 5), "/a+0x5");
	/* For each, a few dozen of 10,000 maps. A sanitizer's malloc() tells nothing: 0. */
	CHECK(after.uordblks - before.uordblks < 64ull << 20);
	machine__delete(machine);
}

/* Maps in the order of their addresses: a tree could become a list, which takes minutes. */
TEST(hundred_thousand_maps_are_found_at_once)
{
	struct machine *machine = new_machine();

	for (uint64_t i = 0; i < 100000; i++)
		map_file(machine, 1, i << 12, (i + 1) << 12, 0, "/a");
	for (uint64_t i = 0; i < 100000; i++)
		CHECK_EQ(machine__find_map(machine, 1, i << 12)->start, i << 12);
	machine__delete(machine);
}

TEST(broken_records_are_refused)
{
	struct machine *machine = new_machine();
	union record record = mmap2_record(10, 0x1000, 0x2000, 0, "/a");

	record.header.size = 71;
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);
	record.header.size = 72;
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);
	/* the name's NUL is behind the record's end */
	record.header.size = 74;
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);
	record.header.size = 75;
	CHECK_EQ(machine__process(machine, &record.header), 0);

	record = mmap2_record(10, UINT64_MAX - 5, UINT64_MAX, 0, "/a");
	record.mmap2.len = 100;
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);

	record = (union record){.comm = {{PERF_RECORD_COMM, 0, 16}, .comm = "x"}};
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);
	record = (union record){.task = {{PERF_RECORD_FORK, 0, 31}, .pid = 1}};
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);
	record = (union record){.mmap = {{PERF_RECORD_MMAP, 0, 8}, .pid = 1}};
	CHECK_EQ(machine__process(machine, &record.header), -EINVAL);
	machine__delete(machine);
}

TEST(other_records_are_ignored)
{
	struct machine *machine = new_machine();
	struct perf_event_header record = {.type = PERF_RECORD_SAMPLE, .size = 8};

	CHECK_EQ(machine__process(machine, &record), 0);
	record.type = 81;
	CHECK_EQ(machine__process(machine, &record), 0);
	machine__delete(machine);
}
