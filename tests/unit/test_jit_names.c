// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of JIT code, from a recording's GPU records to a process's address */
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#include "gpu_log_build.h"
#include "source/jit_names.h"
#include "unit.h"
#include "util/log.h"

struct fixture {
	struct log_build build;
	struct sidecar *sidecar;
	struct jit_names *names;
};

/* The log of a process, in a block of its own */
static void begin_log(struct fixture *f, uint32_t pid, uint32_t ppid, bool is_forked,
		      uint64_t start_ns)
{
	struct gpu_log_process process = {
		.pid = pid,
		.ppid = ppid,
		.is_forked = is_forked,
		.start_ns = start_ns,
		.comm = "app",
	};

	if (f->build.bytes)
		log_build__end_block(&f->build);
	f->build.session = 7;
	f->build.log_id++;
	LOG_BUILD_ADD(&f->build, GPU_LOG_PROCESS, process);
}

static void add_piece(struct fixture *f, uint32_t kind, uint64_t offset, const void *data,
		      size_t bytes)
{
	struct {
		struct gpu_log_jit piece;
		unsigned char deflated[1000];
	} record = {
		.piece = {.kind = kind, .offset = offset, .nr_bytes = (uint32_t)bytes}};
	uLongf deflated_bytes = sizeof(record.deflated);

	CHECK_EQ(compress(record.deflated, &deflated_bytes, data, bytes), Z_OK);
	record.piece.nr_deflated_bytes = (uint32_t)deflated_bytes;
	log_build__add(&f->build, GPU_LOG_JIT, &record,
		       sizeof(record.piece) + deflated_bytes, NULL);
}

static void add_text(struct fixture *f, const char *text)
{
	add_piece(f, GPU_LOG_JIT_PERF_MAP, 0, text, strlen(text));
}

static void read_logs(struct fixture *f)
{
	char path[] = P_tmpdir "/perf-gpu-unit.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	log_build__end_block(&f->build);
	CHECK_EQ(log_build__save(&f->build, path), 0);
	CHECK_EQ(sidecar__open(path, &f->sidecar), 0);
	unlink(path);
	CHECK_EQ(jit_names__new(f->sidecar, &f->names), 0);
}

static void close_fixture(struct fixture *f)
{
	jit_names__delete(f->names);
	sidecar__close(f->sidecar);
	log_build__release(&f->build);
}

TEST(each_process_has_its_own)
{
	struct fixture f = {0};

	begin_log(&f, 10, 1, false, 100);
	add_text(&f, "1000 100 _Z5firstv\n");
	begin_log(&f, 11, 1, false, 100);
	add_text(&f, "1000 100 second\n");
	begin_log(&f, 12, 1, false, 100);
	read_logs(&f);
	CHECK_STR(jit_names__find(f.names, 0, 0x1000, 1), "first");
	CHECK_STR(jit_names__find(f.names, 1, 0x1000, 1), "second");
	CHECK(!jit_names__find(f.names, 2, 0x1000, 1));
	CHECK(!jit_names__find(f.names, 0, 0x1100, 1));
	close_fixture(&f);
}

/* A pid was used again: the child is of the later one. */
TEST(a_forked_process_has_its_parents_too)
{
	struct fixture f = {0};

	begin_log(&f, 10, 1, false, 100);
	add_text(&f, "1000 100 early\n2000 100 early\n");
	begin_log(&f, 10, 1, false, 200);
	add_text(&f, "1000 100 parent\n3000 100 parent\n");
	begin_log(&f, 11, 10, true, 300);
	add_text(&f, "3000 100 child\n");
	begin_log(&f, 12, 11, true, 400);
	begin_log(&f, 10, 1, false, 500);
	add_text(&f, "1000 100 late\n");
	begin_log(&f, 13, 10, false, 600); /* no fork: it has executed something else */
	read_logs(&f);
	CHECK_STR(jit_names__find(f.names, 2, 0x1000, 1), "parent");
	CHECK_STR(jit_names__find(f.names, 2, 0x3000, 1), "child");
	CHECK(!jit_names__find(f.names, 2, 0x2000, 1));
	CHECK_STR(jit_names__find(f.names, 3, 0x1000, 1), "parent");
	CHECK_STR(jit_names__find(f.names, 3, 0x3000, 1), "child");
	CHECK(!jit_names__find(f.names, 5, 0x1000, 1));
	close_fixture(&f);
}

/* Its pid is its parent's, as nobody's is. */
TEST(a_process_is_not_its_own_parent)
{
	struct fixture f = {0};

	begin_log(&f, 10, 10, true, 100);
	add_text(&f, "1000 100 own\n");
	read_logs(&f);
	CHECK(!jit_names__find(f.names, 0, 0x2000, 1));
	close_fixture(&f);
}

TEST(what_is_broken_is_told_and_skipped)
{
	static const char garbage[] =
		"no gpu_log_jit_code at all, and longer than one is";
	struct fixture f = {0};

	log_verbosity = -1;
	begin_log(&f, 10, 1, false, 100);
	add_text(&f, "1000 100 first\n");
	add_piece(&f, GPU_LOG_JIT_CODE, 40, garbage, sizeof(garbage));
	add_piece(&f, 99, 0, "of a later writer", 17);
	add_piece(&f, GPU_LOG_JIT_PERF_MAP, 15, "2000 100 second\n", 16);
	read_logs(&f);
	CHECK_STR(jit_names__find(f.names, 0, 0x1000, 1), "first");
	CHECK_STR(jit_names__find(f.names, 0, 0x2000, 1), "second");
	close_fixture(&f);
}

/* 64 KiB of the shortest lines, in 100 bytes; and of two names, one is 60,000 bytes long */
TEST(what_bursts_is_told_and_skipped)
{
	static char lines[6 * 10000 + 1], name[60000];
	struct fixture f = {0};

	log_verbosity = -1;
	begin_log(&f, 10, 1, false, 100);
	add_text(&f, "1000 100 first\n");
	for (size_t i = 0; i < 10000; i++)
		memcpy(lines + 6 * i, "1 1 a\n", 6);
	for (int i = 0; i < 8; i++)
		add_piece(&f, GPU_LOG_JIT_PERF_MAP, 0, lines, 6 * 10000);
	add_text(&f, "2000 100 behind\n");
	begin_log(&f, 11, 1, false, 100);
	add_text(&f, "1000 100 other\n");
	read_logs(&f);
	CHECK_STR(jit_names__find(f.names, 0, 0x1000, 1), "first");
	CHECK(!jit_names__find(f.names, 0, 0x2000, 1));
	/* It is all logs together that may not burst. */
	CHECK(!jit_names__find(f.names, 1, 0x1000, 1));
	close_fixture(&f);

	f = (struct fixture){0};
	begin_log(&f, 10, 1, false, 100);
	add_text(&f, "1000 100 first\n");
	memset(name, 'x', sizeof(name));
	memcpy(name, "3000 100 ", 9);
	name[sizeof(name) - 1] = '\n';
	for (int i = 0; i < 30; i++)
		add_piece(&f, GPU_LOG_JIT_PERF_MAP, 0, name, sizeof(name));
	add_text(&f, "2000 100 behind\n");
	read_logs(&f);
	CHECK_STR(jit_names__find(f.names, 0, 0x1000, 1), "first");
	CHECK(!jit_names__find(f.names, 0, 0x2000, 1));
	close_fixture(&f);
}
