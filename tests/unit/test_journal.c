// SPDX-License-Identifier: GPL-2.0-or-later
/* What a recorder notes for who finds its recording (record/journal.c) */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_log.h"
#include "record/journal.h"
#include "unit.h"

static const char *const argv[] = {
	"perf-gpu", "record", "", "two words\n100 %", "\xff\x01", NULL,
};

static const struct journal written = {
	.session = 0xfedcba9876543210,
	.clock = {.realtime_ns = UINT64_MAX, .monotonic_ns = 1},
	.stack = {.call_graph = CALL_GRAPH_DWARF, .dwarf_bytes = 65528, .max_frames = 7},
	.events = 5,
	.has_perfdata = true,
	.has_launch_logs = true,
	.data = "perf 1.data.AbCdEf",
	.data_offset = 560,
	.argv = argv,
};

static struct spool spool;
static char folder[] = "/tmp/test-journal.XXXXXX";

static void make_spool(void)
{
	/* What is refused is told, some hundred times. */
	CHECK(freopen("/dev/null", "w", stderr));
	CHECK(mkdtemp(folder));
	CHECK_EQ(spool__open(folder, &spool), 0);
}

static int make_journal(void)
{
	int fd = -1;

	CHECK_EQ(journal__create(&spool, &written, &fd), 0);
	CHECK(fd >= 0);
	return fd;
}

static void remove_spool(void)
{
	unlinkat(spool.dir_fd, GPU_LOG_JOURNAL, 0);
	close(spool.dir_fd);
	CHECK_EQ(rmdir(folder), 0);
}

TEST(what_is_read_is_what_was_written)
{
	struct journal journal;
	int fd;

	make_spool();
	close(make_journal());
	CHECK_EQ(journal__read(&spool, &journal, &fd), 0);
	CHECK_EQ(journal.session, written.session);
	CHECK_EQ(journal.clock.realtime_ns, written.clock.realtime_ns);
	CHECK_EQ(journal.clock.monotonic_ns, written.clock.monotonic_ns);
	CHECK_EQ(journal.stack.call_graph, written.stack.call_graph);
	CHECK_EQ(journal.stack.dwarf_bytes, written.stack.dwarf_bytes);
	CHECK_EQ(journal.stack.max_frames, written.stack.max_frames);
	CHECK_EQ(journal.events, written.events);
	CHECK(journal.has_perfdata && journal.has_launch_logs);
	CHECK_EQ(journal.pid, getpid());
	CHECK_STR(journal.data, written.data);
	CHECK_EQ(journal.data_offset, written.data_offset);
	for (size_t i = 0; argv[i]; i++)
		CHECK_STR(journal.argv[i], argv[i]);
	CHECK(!journal.argv[5]);
	journal__release(&journal);
	close(fd);
	remove_spool();
}

static enum journal_state state_of(void)
{
	enum journal_state state;

	CHECK_EQ(journal__state(&spool, &state), 0);
	return state;
}

TEST(it_is_left_when_nobody_has_it_locked)
{
	struct journal journal;
	int fd, other;

	make_spool();
	CHECK_EQ(state_of(), JOURNAL_NONE);
	fd = make_journal();
	CHECK_EQ(state_of(), JOURNAL_LOCKED);
	CHECK_EQ(journal__read(&spool, &journal, &other), -EBUSY);
	close(fd);
	CHECK_EQ(state_of(), JOURNAL_LEFT);
	CHECK_EQ(journal__read(&spool, &journal, &fd), 0);
	CHECK_EQ(state_of(), JOURNAL_LOCKED);
	journal__release(&journal);
	close(fd);
	remove_spool();
}

TEST(one_that_is_there_already_is_left_alone)
{
	int fd = -1;

	make_spool();
	close(make_journal());
	CHECK_EQ(journal__create(&spool, &written, &fd), -EEXIST);
	CHECK_EQ(fd, -1);
	remove_spool();
}

/* Cut or changed anywhere, it is read as something, or refused; nothing else happens. */
TEST(damage_is_refused_or_harmless)
{
	char text[4096], changed[4096];
	struct journal journal;
	ssize_t nr_bytes;
	int fd, nr_refused = 0;

	make_spool();
	fd = make_journal();
	nr_bytes = pread(fd, text, sizeof(text), 0);
	CHECK(nr_bytes > 100 && nr_bytes < (ssize_t)sizeof(text));
	close(fd);
	for (ssize_t i = 0; i < 2 * nr_bytes; i++) {
		const ssize_t at = i / 2;
		ssize_t nr = i % 2 ? nr_bytes : at;

		memcpy(changed, text, (size_t)nr_bytes);
		changed[at] ^= 1 << at % 7;
		fd = openat(spool.dir_fd, GPU_LOG_JOURNAL, O_WRONLY | O_TRUNC);
		CHECK_EQ(write(fd, changed, (size_t)nr), nr);
		close(fd);
		if (journal__read(&spool, &journal, &fd)) {
			nr_refused++;
			continue;
		}
		CHECK(nr == nr_bytes || at >= nr_bytes - 1);
		CHECK(!strchr(journal.data, '/'));
		journal__release(&journal);
		close(fd);
	}
	CHECK(nr_refused > nr_bytes);
	remove_spool();
}
