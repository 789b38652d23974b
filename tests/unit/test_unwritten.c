// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process had not written when it was killed, and the recorder writes in its place */
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "launch_log.h"
#include "log.h"
#include "log_client.h"
#include "marker.h"
#include "record/log_file.h"
#include "record/log_server.h"
#include "record/unwritten.h"
#include "tally.h"
#include "unit.h"
#include "util/gpu_log_cursor.h"

#define SESSION 7

static struct {
	char folder[64], sidecar[80];
	struct spool spool;
	struct log_server server;
} f;

static void open_fixture(void)
{
	strcpy(f.folder, "/tmp/test-unwritten.XXXXXX");
	CHECK(mkdtemp(f.folder) != NULL);
	snprintf(f.sidecar, sizeof(f.sidecar), "%s/perf.data.gpu", f.folder);
	CHECK_EQ(spool__create(f.sidecar, geteuid(), &f.spool), 0);
	log_server__open(SESSION, &f.spool, 0, &f.server);
}

static void close_fixture(void)
{
	log_server__close(&f.server);
	spool__remove(&f.spool);
	rmdir(f.folder);
}

/* Records of a type, in the files with a suffix, all of which are whole */
static uint64_t count(const char *suffix, enum gpu_log_type type)
{
	struct log_limit limit = {};
	struct spool_names names;
	uint64_t nr = 0;
	int got;

	CHECK_EQ(spool__list(&f.spool, suffix, &names), 0);
	for (size_t i = 0; i < names.nr_names; i++) {
		int fd = spool__open_log(&f.spool, names.names[i], &limit);
		struct log_file file = log_file__new(fd, SESSION);

		CHECK(fd >= 0);
		while ((got = log_file__next(&file)) > 0) {
			struct gpu_log_cursor cursor = gpu_log_cursor__new(
				log_file__payload(&file), file.block->payload_bytes);
			const struct gpu_log_record *record;

			while ((got = gpu_log_cursor__next(&cursor, &record)) > 0)
				nr += record->type == type;
			CHECK_EQ(got, 0);
		}
		CHECK_EQ(got, 0);
		log_file__close(&file);
	}
	spool_names__release(&names);
	return nr;
}

static uint64_t nr_launches(void)
{
	return count(SPOOL_LAUNCH_LOG_SUFFIX, GPU_LOG_LAUNCH);
}

static uint64_t nr_apis(void)
{
	return count(SPOOL_LOG_SUFFIX, GPU_LOG_API);
}

static void launch(struct launch_log *launches, uint64_t nr)
{
	static struct launch_stack stack;
	static uint64_t key;

	for (uint64_t i = 0; i < nr; i++) {
		stack.api = 1;
		stack.nr_frames = 1;
		stack.frames[0] = 0x1000;
		launch_log__launch(launches, ++key, &stack);
	}
}

/* By qemu-user, which gives a program no vdso */
static bool is_emulated(void)
{
	return !getauxval(AT_SYSINFO_EHDR);
}

/* What the process does, once it has its logs; then it is killed. */
typedef void play_fn(struct log *log, struct launch_log *launches);

static void play(play_fn *does)
{
	struct launch_log *launches;
	struct log *log;
	pid_t pid;
	int status;

	pid = fork();
	if (!pid) {
		log_client__use(f.server.name, SESSION);
		if (fork_page__init() || log__open(f.spool.path, SESSION, false, &log) ||
		    launch_log__open(f.spool.path, SESSION, log, &launches))
			_exit(1);
		does(log, launches);
		raise(SIGKILL);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	log_server__serve(&f.server);
	CHECK_EQ(f.server.tallies.nr, 1);
}

static void write_nothing(struct log *log, struct launch_log *launches)
{
	log__api(log, 1, "cudaLaunchKernel", 0);
	launch(launches, 100);
}

TEST(a_killed_process_loses_nothing)
{
	open_fixture();
	play(write_nothing);
	CHECK_EQ(nr_launches(), 0);
	CHECK_EQ(nr_apis(), 0);
	for (int i = 0; i < 2; i++) {
		tallies__complete_all(&f.server.tallies);
		CHECK_EQ(nr_launches(), 100);
		CHECK_EQ(nr_apis(), 1);
	}
	CHECK_EQ(count(SPOOL_LAUNCH_LOG_SUFFIX, GPU_LOG_PROCESS), 1);
	CHECK_EQ(count(SPOOL_LOG_SUFFIX, GPU_LOG_PROCESS), 1);
	close_fixture();
}

static void write_some(struct log *log, struct launch_log *launches)
{
	write_nothing(log, launches);
	launch_log__flush(launches);
	log__flush(log);
	write_nothing(log, launches);
	launch_log__flush(launches);
	launch(launches, 30000); /* two blocks are full, and written */
}

TEST(behind_what_it_has_written)
{
	open_fixture();
	play(write_some);
	CHECK(nr_launches() > 200 && nr_launches() < 30200);
	tallies__complete_all(&f.server.tallies);
	CHECK_EQ(nr_launches(), 30200);
	CHECK_EQ(nr_apis(), 2);
	close_fixture();
}

/* One block is full, one is being filled. */
static void write_in_vain(struct log *log, struct launch_log *launches)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};

	write_nothing(log, launches);
	launch_log__flush(launches);
	setrlimit(RLIMIT_FSIZE, &none);
	launch(launches, 12000);
	launch_log__flush(launches);
}

TEST(two_blocks_in_their_order)
{
	open_fixture();
	play(write_in_vain);
	CHECK_EQ(nr_launches(), 100);
	tallies__complete_all(&f.server.tallies);
	CHECK_EQ(nr_launches(), 12100);
	close_fixture();
}

static void end_in_vain(struct log *log, struct launch_log *launches)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &none);
	write_nothing(log, launches);
	launch_log__end(launches, 100);
	log__end(log, 100);
}

TEST(an_end_that_only_the_recorder_can_write)
{
	if (is_emulated())
		SKIP("a limit of files' size isn't the kernel's in an emulator");
	open_fixture();
	play(end_in_vain);
	tallies__complete_all(&f.server.tallies);
	CHECK_EQ(nr_launches(), 100);
	CHECK_EQ(count(SPOOL_LAUNCH_LOG_SUFFIX, GPU_LOG_END), 1);
	CHECK_EQ(count(SPOOL_LOG_SUFFIX, GPU_LOG_END), 1);
	close_fixture();
}

/* There is no room for the end: what can't be written is given up for it. */
static void give_up_and_go_on(struct log *log, struct launch_log *launches)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
	const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &none);
	write_nothing(log, launches);
	launch(launches, 30000);
	launch_log__end(launches, 30100);
	setrlimit(RLIMIT_FSIZE, &any);
	launch(launches, 10);
	launch_log__flush(launches);
	launch(launches, 10);
	launch_log__flush(launches);
	launch(launches, 10);
}

TEST(what_was_given_up_is_not_written_again)
{
	if (is_emulated())
		SKIP("a limit of files' size isn't the kernel's in an emulator");
	open_fixture();
	play(give_up_and_go_on);
	CHECK_EQ(nr_launches(), 20);
	tallies__complete_all(&f.server.tallies);
	CHECK_EQ(nr_launches(), 30);
	CHECK_EQ(count(SPOOL_LAUNCH_LOG_SUFFIX, GPU_LOG_LOSS), 1);
	close_fixture();
}

/* In a child, which has its parent's memory, but none of its locks */
static void fork_and_go_on(struct log *log, struct launch_log *launches)
{
	pid_t pid;

	launch(launches, 100);
	pid = fork();
	if (!pid) {
		write_nothing(log, launches);
		launch(launches, 30000);
		launch_log__flush(launches);
		log__flush(log);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

TEST(a_forked_child_does_not_touch_its_parents)
{
	if (is_emulated())
		SKIP("an emulator wipes no memory on fork");
	open_fixture();
	play(fork_and_go_on);
	CHECK_EQ(nr_launches(), 0);
	tallies__complete_all(&f.server.tallies);
	CHECK_EQ(nr_launches(), 100);
	CHECK_EQ(nr_apis(), 0);
	close_fixture();
}

TEST(a_process_that_runs_is_not_completed)
{
	/* There are as long as a process is. */
	static struct launch_log *launches;
	static struct log *log;

	open_fixture();
	log_client__use(f.server.name, SESSION);
	CHECK_EQ(log__open(f.spool.path, SESSION, false, &log), 0);
	CHECK_EQ(launch_log__open(f.spool.path, SESSION, log, &launches), 0);
	launch(launches, 100);
	log_server__serve(&f.server);
	tallies__complete_all(&f.server.tallies);
	tallies__complete(&f.server.tallies, log__id(log));
	CHECK_EQ(nr_launches(), 0);
	launch_log__flush(launches);
	CHECK_EQ(nr_launches(), 100);
	close_fixture();
}

/* --- memory as it may be at any moment, or as nobody would have it --- */

static const struct tally_owner owner = {.log_id = 11, .own_pid = 5};

static struct log_memory *make_memory(uint64_t nr_ends)
{
	static struct log_memory memory;

	memset(&memory, 0, sizeof(memory));
	block__init(&memory.block, SESSION, owner.log_id);
	for (uint64_t i = 0; i < nr_ends; i++)
		CHECK(block__reserve(&memory.block, GPU_LOG_END,
				     sizeof(struct gpu_log_end)) != NULL);
	block__settle(&memory.block);
	memory.block.sequence = 1;
	return &memory;
}

static void make_file(const char *text)
{
	int fd = openat(f.spool.dir_fd, "5-000000000000000b.gpulog",
			O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static off_t file_bytes(void)
{
	struct stat st;

	CHECK_EQ(fstatat(f.spool.dir_fd, "5-000000000000000b.gpulog", &st, 0), 0);
	return st.st_size;
}

TEST(a_write_that_was_cut_or_not_noted_is_done_again)
{
	struct log_memory *memory;
	off_t bytes;

	open_fixture();
	memory = make_memory(10);
	make_file("half a block");
	unwritten__write(memory, &f.spool, SESSION, &owner);
	bytes = file_bytes();
	CHECK_EQ(count(SPOOL_LOG_SUFFIX, GPU_LOG_END), 10);
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(count(SPOOL_LOG_SUFFIX, GPU_LOG_END), 10);
	/* Noted, but not emptied */
	memory->files[LOG_MEMORY_LOG].written[1].sequence = 1;
	memory->files[LOG_MEMORY_LOG].written[1].bytes = (uint64_t)bytes;
	memory->files[LOG_MEMORY_LOG].nr_writes = 1;
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(count(SPOOL_LOG_SUFFIX, GPU_LOG_END), 10);
	/* The next is begun, and a record of it isn't whole. */
	memory->block.sequence = 2;
	CHECK(block__reserve(&memory->block, GPU_LOG_END, sizeof(struct gpu_log_end)));
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(count(SPOOL_LOG_SUFFIX, GPU_LOG_END), 20);
	close_fixture();
}

TEST(memory_can_have_anything_in_it)
{
	struct log_memory *memory;

	open_fixture();
	make_file("as it was");
	memory = make_memory(10);
	memory->block.whole_bytes = UINT32_MAX;
	memory->files[LOG_MEMORY_LOG].written[0].bytes = 9;
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(file_bytes(), 9);
	memory = make_memory(10);
	memory->files[LOG_MEMORY_LOG].written[0].bytes = 1ull << 40;
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(file_bytes(), 9);
	memory->files[LOG_MEMORY_LOG].written[0].bytes = UINT64_MAX;
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(file_bytes(), 9);
	memset(memory, 0xff, sizeof(*memory));
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(file_bytes(), 9);
	close_fixture();
}

TEST(what_is_no_file_of_the_process_is_left_alone)
{
	struct log_memory *memory = make_memory(10);
	struct stat st;

	open_fixture();
	/* None, and none is made */
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK(fstatat(f.spool.dir_fd, "5-000000000000000b.gpulog", &st, 0));
	/* A link to another's */
	CHECK_EQ(symlinkat(f.sidecar, f.spool.dir_fd, "5-000000000000000b.gpulog"), 0);
	CHECK_EQ(close(open(f.sidecar, O_CREAT | O_WRONLY, 0600)), 0);
	unwritten__write(memory, &f.spool, SESSION, &owner);
	CHECK_EQ(stat(f.sidecar, &st), 0);
	CHECK_EQ(st.st_size, 0);
	unlink(f.sidecar);
	close_fixture();
}

TEST(those_that_have_ended_take_no_memory)
{
	open_fixture();
	play(write_nothing);
	log_client__use(f.server.name, SESSION);
	for (int i = 0; i < 3; i++) {
		struct tally tally = {};

		tally__open(&tally, 100 + (uint64_t)i);
		log_server__serve(&f.server);
	}
	/* Nobody has asked for it. */
	CHECK_EQ(nr_launches(), 100);
	close_fixture();
}
