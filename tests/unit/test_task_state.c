// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of processes behind a part of a recording: as the kernel would tell it */
#include "record/task_state.h"

#include <stddef.h>
#include <string.h>

#include "perfdata/format.h"
#include "perfdata/sample.h"
#include "record/events.h"
#include "unit.h"

static struct perf_event_attr attr;

struct record {
	union {
		struct perf_event_header header;
		struct {
			struct perf_event_header comm_header;
			uint32_t comm_pid, comm_tid;
			char comm[16];
		};
		struct {
			struct perf_event_header task_header;
			uint32_t pid, ppid, tid, ptid;
			uint64_t time_ns;
		};
		struct perfdata_mmap2 map;
		unsigned char bytes[256];
	};
};

static void take(struct task_state *state, struct record *record, size_t bytes,
		 uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const struct perfdata_sample id = {
		.pid = pid, .tid = tid, .time_ns = time_ns, .id = SIDEBAND_EVENT_ID};

	bytes += perfdata_sample__write_id(&attr, &id, record->bytes + bytes);
	record->header.size = (uint16_t)bytes;
	task_state__take(state, &record->header, time_ns);
}

static void comm(struct task_state *state, uint32_t pid, uint32_t tid, const char *name,
		 bool is_exec, uint64_t time_ns)
{
	struct record record = {.comm_header = {.type = PERF_RECORD_COMM},
				.comm_pid = pid,
				.comm_tid = tid};

	if (is_exec)
		record.header.misc = PERF_RECORD_MISC_COMM_EXEC;
	strcpy(record.comm, name);
	take(state, &record, 32, pid, tid, time_ns);
}

static void map_bytes(struct task_state *state, uint32_t pid, uint64_t addr,
		      uint64_t bytes, const char *path, uint64_t time_ns)
{
	struct record record = {.map = {.header = {.type = PERF_RECORD_MMAP2},
					.pid = pid,
					.tid = pid,
					.addr = addr,
					.bytes = bytes}};

	strcpy((char *)record.bytes + sizeof(record.map), path);
	take(state, &record, sizeof(record.map) + 16, pid, pid, time_ns);
}

static void map(struct task_state *state, uint32_t pid, uint64_t addr, const char *path,
		uint64_t time_ns)
{
	map_bytes(state, pid, addr, 0x1000, path, time_ns);
}

static void task(struct task_state *state, uint32_t type, uint32_t pid, uint32_t tid,
		 uint32_t ppid, uint64_t time_ns)
{
	struct record record = {.task_header = {.type = type},
				.pid = pid,
				.tid = tid,
				.ppid = ppid,
				.ptid = ppid,
				.time_ns = time_ns};

	take(state, &record, 32, pid, tid, time_ns);
}

/* "PID/TID NAME;" and "PID@ADDRESS PATH;" */
static int describe(void *ctx, const struct perf_event_header *event)
{
	const struct record *record = (const void *)event;
	struct perfdata_sample id;
	char *text = ctx;

	CHECK_EQ(perfdata_sample__parse_id(&attr, event, &id), 0);
	if (event->type == PERF_RECORD_COMM) {
		CHECK_EQ(id.pid, record->comm_pid);
		CHECK_EQ(id.tid, record->comm_tid);
		sprintf(text + strlen(text), "%u/%u %s;", record->comm_pid,
			record->comm_tid, record->comm);
	} else if (event->type == PERF_RECORD_MMAP2) {
		CHECK_EQ(id.pid, record->map.pid);
		sprintf(text + strlen(text), "%u@%llx %s;", record->map.pid,
			(unsigned long long)record->map.addr, record->map.path);
	} else {
		sprintf(text + strlen(text), "type %u;", event->type);
	}
	return 0;
}

static void expect(struct task_state *state, const char *wanted)
{
	char text[1024] = "";

	task_state__settle(state, UINT64_MAX);
	CHECK_EQ(task_state__write(state, describe, text), 0);
	CHECK_STR(text, wanted);
}

static struct task_state new_state(void)
{
	const struct stack_config stack = {.call_graph = CALL_GRAPH_UNWIND};

	sideband_event__init(&stack, &attr);
	return (struct task_state){.attr = &attr};
}

static void end(struct task_state *state)
{
	task_state__release(state);
	CHECK_EQ(state->nr_bytes, 0);
	CHECK_EQ(state->nr_forgotten, 0);
}

#define NR_MAPS 80000ull

struct oldest {
	uint64_t nr, first_ns, newest_ns;
};

/* Records come in the order of their times. */
static int note_oldest(void *ctx, const struct perf_event_header *event)
{
	struct oldest *oldest = ctx;
	struct perfdata_sample id;

	CHECK_EQ(perfdata_sample__parse_id(&attr, event, &id), 0);
	if (!oldest->nr++)
		oldest->first_ns = id.time_ns;
	CHECK(id.time_ns >= oldest->newest_ns);
	oldest->newest_ns = id.time_ns;
	return 0;
}

TEST(the_last_name_and_what_is_mapped)
{
	struct task_state state = new_state();

	comm(&state, 1, 1, "bash", false, 1);
	map(&state, 1, 0x1000, "/old", 2);
	comm(&state, 1, 1, "app", true, 3);
	map(&state, 1, 0x1000, "/app", 4);
	map(&state, 1, 0x5000, "/lib", 5);
	map(&state, 1, 0x5000, "/other", 6);
	comm(&state, 1, 1, "renamed", false, 7);
	expect(&state, "1/1 renamed;1@1000 /app;1@5000 /other;");
	end(&state);
}

/* Whole or in part, also by one that begins where it does, in the order of their coming */
TEST(a_mapping_replaces_what_it_covers)
{
	struct task_state state = new_state();

	comm(&state, 1, 1, "app", true, 1);
	map_bytes(&state, 1, 0x1000, 0x4000, "/long", 2);
	map(&state, 1, 0x9000, "/high", 3);
	map(&state, 1, 0x1000, "/begin", 4);
	map(&state, 1, 0x4000, "/end", 5);
	map(&state, 1, 0x8000, "/below", 6);
	expect(&state, "1/1 app;1@1000 /long;1@9000 /high;1@1000 /begin;1@4000 /end;"
		       "1@8000 /below;");
	map_bytes(&state, 1, 0x2000, 0x7000, "/wide", 7);
	expect(&state, "1/1 app;1@1000 /long;1@9000 /high;1@1000 /begin;1@2000 /wide;");
	map_bytes(&state, 1, 0, UINT64_MAX, "/all", 8);
	expect(&state, "1/1 app;1@0 /all;");
	end(&state);
}

/* As of a program that maps and unmaps, of which only the former is told */
TEST(the_oldest_of_too_many_mappings_is_forgotten)
{
	struct task_state state = new_state();
	struct oldest oldest = {0};

	for (uint64_t i = 0; i < NR_MAPS; i++) {
		/* Up, down, and some in their places */
		map_bytes(&state, 1, (NR_MAPS + (i & 1 ? i : -i)) << 12, 0x1000, "/jit",
			  i + 1);
		if (i % 16 == 0)
			map_bytes(&state, 1, (NR_MAPS + (i & 1 ? i : -i)) << 12, 0x800,
				  "/sub", i + 1);
	}
	task_state__settle(&state, UINT64_MAX);
	CHECK_EQ(task_state__write(&state, note_oldest, &oldest), 0);
	CHECK_EQ(oldest.nr, 65530);
	CHECK_EQ(oldest.nr + state.nr_forgotten, NR_MAPS + NR_MAPS / 16);
	CHECK(oldest.first_ns > 1);
	task_state__release(&state);
	CHECK_EQ(state.nr_bytes, 0);
}

TEST(a_child_has_what_its_parent_had)
{
	struct task_state state = new_state();

	comm(&state, 1, 1, "parent", true, 1);
	map(&state, 1, 0x1000, "/app", 2);
	task(&state, PERF_RECORD_FORK, 2, 2, 1, 3);
	map(&state, 1, 0x2000, "/later", 4);
	task(&state, PERF_RECORD_FORK, 3, 3, 1, 5);
	comm(&state, 3, 3, "exec'd", true, 6);
	task(&state, PERF_RECORD_EXIT, 1, 1, 0, 7);
	expect(&state, "2/2 parent;2@1000 /app;3/3 exec'd;");
	end(&state);
}

TEST(threads_come_and_go)
{
	struct task_state state = new_state();

	comm(&state, 1, 1, "app", true, 1);
	task(&state, PERF_RECORD_FORK, 1, 5, 1, 2);
	task(&state, PERF_RECORD_FORK, 1, 6, 1, 3);
	comm(&state, 1, 6, "worker", false, 4);
	task(&state, PERF_RECORD_EXIT, 1, 5, 1, 5);
	expect(&state, "1/1 app;1/6 worker;");
	/* The first thread may leave first. */
	task(&state, PERF_RECORD_EXIT, 1, 1, 0, 6);
	expect(&state, "1/6 worker;");
	task(&state, PERF_RECORD_EXIT, 1, 6, 1, 7);
	expect(&state, "");
	CHECK_EQ(state.nr_bytes, 0);
	end(&state);
}

/* Each CPU has its own ring: what the child did may be read before its fork. */
TEST(records_count_by_their_times)
{
	struct task_state state = new_state();

	comm(&state, 2, 2, "child", true, 5);
	map(&state, 2, 0x2000, "/child", 6);
	comm(&state, 1, 1, "parent", true, 1);
	map(&state, 1, 0x1000, "/parent", 2);
	task(&state, PERF_RECORD_FORK, 2, 2, 1, 4);
	expect(&state, "1/1 parent;1@1000 /parent;2/2 child;2@2000 /child;");
	end(&state);
}

TEST(what_is_not_settled_is_written_as_it_came)
{
	struct task_state state = new_state();
	char text[256] = "";

	comm(&state, 1, 1, "app", true, 1);
	task(&state, PERF_RECORD_EXIT, 1, 1, 0, 9);
	task_state__settle(&state, 5);
	CHECK_EQ(task_state__write(&state, describe, text), 0);
	CHECK_STR(text, "1/1 app;type 4;");
	expect(&state, "");
	end(&state);
}

/* A pid that is used again is another process. */
TEST(a_pid_is_used_again)
{
	struct task_state state = new_state();

	comm(&state, 1, 1, "parent", true, 1);
	comm(&state, 2, 2, "first", true, 2);
	map(&state, 2, 0x2000, "/first", 3);
	task(&state, PERF_RECORD_FORK, 2, 2, 1, 4);
	expect(&state, "1/1 parent;2/2 parent;");
	end(&state);
}

TEST(memory_is_bounded)
{
	struct task_state state = new_state();

	for (uint64_t i = 0; i < 600000; i++)
		map(&state, 1, i << 12, "/jit", i + 1);
	CHECK(state.nr_bytes <= TASK_STATE_MAX_BYTES);
	CHECK(state.nr_forgotten);
	task_state__release(&state);
	CHECK_EQ(state.nr_bytes, 0);
}
