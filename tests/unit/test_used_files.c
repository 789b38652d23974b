// SPDX-License-Identifier: GPL-2.0-or-later
/* Which mappings inject repeats (source/used_files.c) */
#include <string.h>
#include <sys/mman.h>

#include "perfdata/format.h"
#include "source/used_files.h"
#include "unit.h"

struct mapping {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, bytes, pgoff;
	uint8_t build_id[24];
	uint32_t prot, flags;
	char path[64];
};

static struct mapping mapping(uint32_t pid, uint64_t start, const char *path)
{
	struct mapping record = {
		.header = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(record)},
		.pid = pid,
		.tid = pid,
		.addr = start,
		.bytes = 0x1000,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	strcpy(record.path, path);
	return record;
}

static struct used_files *new_files(void)
{
	struct used_files *files;

	CHECK_EQ(used_files__new(&files), 0);
	return files;
}

static void map_file(struct used_files *files, uint32_t pid, uint64_t start,
		     const char *path)
{
	struct mapping record = mapping(pid, start, path);

	CHECK_EQ(used_files__add_record(files, &record.header, 0), 0);
}

static void exec(struct used_files *files, uint32_t pid)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
	} record = {{PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(record)},
		    pid,
		    pid,
		    "app"};

	CHECK_EQ(used_files__add_record(files, &record.header, 0), 0);
}

static void launch(struct used_files *files, uint32_t pid, uint64_t return_address)
{
	const uint64_t ips[] = {PERF_CONTEXT_USER, return_address};
	const struct launch_sample sample = {.pid = pid, .ips = ips, .nr_ips = 2};

	CHECK_EQ(used_files__add_launch(files, &sample, 0), 0);
}

static bool wants(struct used_files *files, const char *path)
{
	struct mapping record = mapping(1, 0x1000, path);

	return used_files__wants(files, &record.header);
}

TEST(what_no_stack_goes_through_is_left_out)
{
	struct used_files *files = new_files();

	exec(files, 1);
	map_file(files, 1, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/libused.so");
	map_file(files, 1, 0x21000, "/libunused.so");
	map_file(files, 1, 0x30000, "[vdso]");
	launch(files, 1, 0x20800);
	CHECK(wants(files, "/app"));
	CHECK(wants(files, "/libused.so"));
	CHECK(!wants(files, "/libunused.so"));
	CHECK(!wants(files, "[vdso]"));
	CHECK(wants(files, "//anon"));
	used_files__delete(files);
	used_files__delete(NULL);
}

/* Of a page that was seen, all addresses have the same file only if it is mapped whole. */
TEST(files_that_share_a_page_are_told_apart)
{
	struct used_files *files = new_files();

	exec(files, 1);
	map_file(files, 1, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/first.so");
	map_file(files, 1, 0x21000, "/second.so");
	map_file(files, 1, 0x30800, "/third.so");
	map_file(files, 1, 0x31800, "/fourth.so");
	launch(files, 1, 0x20800);
	launch(files, 1, 0x20801);
	CHECK(!wants(files, "/second.so"));
	launch(files, 1, 0x21001);
	CHECK(wants(files, "/second.so"));
	launch(files, 1, 0x31400);
	launch(files, 1, 0x31401);
	CHECK(!wants(files, "/fourth.so"));
	launch(files, 1, 0x31c00);
	CHECK(wants(files, "/fourth.so"));
	/* The call is the last instruction of the page before. */
	map_file(files, 1, 0x40000, "/fifth.so");
	map_file(files, 1, 0x41000, "/sixth.so");
	launch(files, 1, 0x41800);
	CHECK(!wants(files, "/fifth.so"));
	launch(files, 1, 0x41000);
	CHECK(wants(files, "/fifth.so"));
	used_files__delete(files);
}

/* What is known of a page is so no longer where it is mapped anew, nor in other processes. */
TEST(a_page_is_known_until_maps_change)
{
	struct used_files *files = new_files();

	exec(files, 1);
	map_file(files, 1, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/old.so");
	launch(files, 1, 0x20800);
	map_file(files, 1, 0x20000, "/new.so");
	CHECK(!wants(files, "/new.so"));
	launch(files, 1, 0x20800);
	CHECK(wants(files, "/new.so"));
	exec(files, 2);
	map_file(files, 2, 0x10000, "/app");
	map_file(files, 2, 0x20000, "/of_other.so");
	launch(files, 1, 0x20800);
	CHECK(!wants(files, "/of_other.so"));
	launch(files, 2, 0x20800);
	CHECK(wants(files, "/of_other.so"));
	used_files__delete(files);
}

TEST(each_program_of_a_process_stays)
{
	struct used_files *files = new_files();

	exec(files, 1);
	map_file(files, 1, 0x10000, "/sh");
	map_file(files, 1, 0x20000, "/libc.so");
	exec(files, 1);
	map_file(files, 1, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/libc.so");
	CHECK(wants(files, "/sh"));
	CHECK(wants(files, "/app"));
	CHECK(!wants(files, "/libc.so"));
	used_files__delete(files);
}

/* What is mapped when the launch is made counts, in that process. */
TEST(an_address_is_another_files_later)
{
	struct used_files *files = new_files();

	map_file(files, 1, 0x10000, "/app");
	map_file(files, 2, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/early.so");
	map_file(files, 2, 0x20000, "/other.so");
	map_file(files, 1, 0x20000, "/late.so");
	launch(files, 1, 0x20800);
	CHECK(!wants(files, "/early.so"));
	CHECK(!wants(files, "/other.so"));
	CHECK(wants(files, "/late.so"));
	used_files__delete(files);
}

static void launch_chain(struct used_files *files, uint32_t pid, uint64_t chain)
{
	static const uint64_t ips[] = {PERF_CONTEXT_USER, 0x20800};
	const struct launch_sample sample = {.pid = pid, .ips = ips, .nr_ips = 2};

	CHECK_EQ(used_files__add_launch(files, &sample, chain), 0);
}

/* A number is not all that decides about which files a callchain goes through. */
TEST(the_same_callchain_goes_through_others_elsewhere_and_later)
{
	struct used_files *files = new_files();

	map_file(files, 1, 0x10000, "/app");
	map_file(files, 2, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/one.so");
	map_file(files, 2, 0x20000, "/two.so");
	launch_chain(files, 1, 1);
	CHECK(!wants(files, "/two.so"));
	launch_chain(files, 2, 1);
	CHECK(wants(files, "/two.so"));
	map_file(files, 1, 0x20000, "/late.so");
	CHECK(!wants(files, "/late.so"));
	launch_chain(files, 1, 1);
	launch_chain(files, 1, 1);
	CHECK(wants(files, "/late.so"));
	used_files__delete(files);
}

TEST(a_copied_stack_may_go_through_anything)
{
	const struct launch_sample sample = {.pid = 1, .user_state_bytes = 8};
	struct used_files *files = new_files();

	map_file(files, 1, 0x10000, "/app");
	map_file(files, 1, 0x20000, "/lib.so");
	CHECK(!wants(files, "/lib.so"));
	CHECK_EQ(used_files__add_launch(files, &sample, 0), 0);
	CHECK(wants(files, "/lib.so"));
	used_files__delete(files);
}

TEST(what_is_no_mapping_of_code_is_shown)
{
	struct mapping record = mapping(1, 0x10000, "/data");
	struct used_files *files = new_files();

	record.prot = PROT_READ;
	CHECK(used_files__wants(files, &record.header));
	record.prot = PROT_EXEC;
	CHECK(!used_files__wants(files, &record.header));
	memset(record.path, 'x', sizeof(record.path)); /* without an end */
	CHECK(used_files__wants(files, &record.header));
	CHECK_EQ(used_files__add_record(files, &record.header, 0), 0);
	record.header.size = sizeof(struct perfdata_mmap2);
	CHECK(used_files__wants(files, &record.header));
	CHECK_EQ(used_files__add_record(files, &record.header, 0), 0);
	record.header.type = PERF_RECORD_EXIT;
	CHECK(used_files__wants(files, &record.header));
	used_files__delete(files);
}

static void map_at(struct used_files *files, uint64_t time_ns, const char *path)
{
	struct mapping record = mapping(1, 0x10000, path);

	CHECK_EQ(used_files__add_record(files, &record.header, time_ns), 0);
}

static void launch_at(struct used_files *files, uint64_t time_ns)
{
	static const uint64_t ips[] = {PERF_CONTEXT_USER, 0x10800};
	const struct launch_sample sample = {
		.pid = 1, .ips = ips, .nr_ips = 2, .time_ns = time_ns};

	CHECK_EQ(used_files__add_launch(files, &sample, 0), 0);
}

/* Launches among each other may be in any order, as rings have them. */
TEST(it_is_known_whether_the_order_was_that_of_time)
{
	static const uint64_t orders[][4] = {
		/* map, launch, launch, map; 0: not there */
		{1, 3, 2, 4}, {1, 2, 2, 2}, {2, 1, 3, 0}, /* it was before the map */
		{1, 3, 2, 2}, /* the second map was before it */
		{3, 4, 4, 2},
	};
	static const bool are_in_order[] = {true, true, false, false, false};

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct used_files *files = new_files();

		map_at(files, orders[i][0], "/a");
		launch_at(files, orders[i][1]);
		launch_at(files, orders[i][2]);
		if (orders[i][3])
			map_at(files, orders[i][3], "/b");
		CHECK_EQ(used_files__are_in_order(files), are_in_order[i]);
		used_files__delete(files);
	}
}
