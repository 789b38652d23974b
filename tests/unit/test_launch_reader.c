// SPDX-License-Identifier: GPL-2.0-or-later
/* What the recorder reads of a launch log, also of one that no library has written */
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>

#include "gpu_log_build.h"
#include "record/launch_reader.h"
#include "record/stack_table.h"
#include "unit.h"

#define SESSION 7
#define LOG_ID	0x1122334455667788
#define PID	42
#define API	0x2000001

static const uint64_t frames[300] = {0x400100, 0x400200, 0x400300};

static struct log_build new_log(void)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_ID};

	log_build__process(&build, PID, "app"); /* starts at 1000 */
	return build;
}

static void set_time(struct log_build *build, uint64_t time_ns)
{
	struct gpu_log_time record = {.time_ns = time_ns};

	LOG_BUILD_ADD(build, GPU_LOG_TIME, record);
}

/* As a file; what is in @build is given up. */
static int open_log(struct log_build *build, struct launch_reader **ret)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, build->data, build->bytes), (ssize_t)build->bytes);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	log_build__release(build);
	return launch_reader__open(fd, SESSION, ret);
}

static struct launch_reader *open_whole_log(struct log_build *build)
{
	struct launch_reader *reader = NULL;

	log_build__end_block(build);
	CHECK_EQ(open_log(build, &reader), 0);
	return reader;
}

static struct logged_event next(struct launch_reader *reader, enum logged_kind kind,
				uint64_t time_ns)
{
	struct logged_event event;

	CHECK_EQ(launch_reader__next(reader, &event), 1);
	CHECK_EQ(event.kind, kind);
	CHECK_EQ(event.time_ns, time_ns);
	return event;
}

static void check_end(struct launch_reader *reader, int wanted)
{
	struct logged_event event;

	CHECK_EQ(launch_reader__next(reader, &event), wanted);
	CHECK_EQ(launch_reader__next(reader, &event), wanted);
	launch_reader__close(reader);
}

TEST(a_launch_has_its_stack)
{
	struct log_build build = new_log();
	struct launch_reader *reader;
	const struct launch_frames *launch;

	log_build__stack(&build, 1, 43, API, frames, 3);
	set_time(&build, 5000);
	log_build__launch(&build, 1, 77, -100);
	log_build__launch(&build, 1, 78, 100);
	reader = open_whole_log(&build);
	CHECK_EQ(launch_reader__process(reader)->pid, PID);
	launch = next(reader, LOGGED_LAUNCH, 4900).launch;
	CHECK_EQ(launch->time_ns, 4900);
	CHECK_EQ(launch->pid, PID);
	CHECK_EQ(launch->tid, 43);
	CHECK_EQ(launch->cpu, 1);
	CHECK_EQ(launch->nr_frames, 3);
	CHECK_EQ(launch->frames[2], 0x400300);
	CHECK_EQ(launch->event.log_id, LOG_ID);
	CHECK_EQ(launch->event.correlation_id, 77);
	CHECK_EQ(launch->event.api, API);
	launch = next(reader, LOGGED_LAUNCH, 5100).launch;
	CHECK_EQ(launch->event.correlation_id, 78);
	check_end(reader, 0);
}

TEST(launches_go_out_by_time)
{
	struct log_build build = new_log();
	struct launch_reader *reader;

	log_build__stack(&build, 1, PID, API, frames, 1);
	for (int32_t i = 0; i < 20000; i++) {
		if (i % 1000 == 0)
			log_build__end_block(&build);
		/* Of four threads, one is always 100 launches late. */
		log_build__launch(&build, 1, 0, 10 * (i % 4 ? i + 400 : i));
	}
	reader = open_whole_log(&build);
	for (uint64_t i = 0, last_ns = 0; i < 20000; i++) {
		struct logged_event event;

		CHECK_EQ(launch_reader__next(reader, &event), 1);
		CHECK(event.time_ns >= last_ns);
		last_ns = event.time_ns;
	}
	check_end(reader, 0);
}

/* Else the frames would have no names. */
TEST(a_mapping_is_not_later_than_the_launch_behind_it)
{
	struct log_build build = new_log();
	struct launch_reader *reader;
	struct logged_event event;

	log_build__thread(&build, 3000, PID, "main");
	log_build__map(&build, 3000, 0x400000, "/bin/app");
	log_build__map(&build, 500, 0x500000, "");
	log_build__stack(&build, 1, PID, API, frames, 1);
	log_build__launch(&build, 1, 1, 1000); /* at 2000 */
	log_build__map(&build, 4000, 0x600000, "/lib/last.so");
	reader = open_whole_log(&build);
	event = next(reader, LOGGED_MAP, 500);
	CHECK_EQ(event.map->start, 0x500000);
	CHECK_STR(event.map->path, "");
	event = next(reader, LOGGED_THREAD, 2000);
	CHECK_STR(event.thread->comm, "main");
	event = next(reader, LOGGED_MAP, 2000);
	CHECK_STR(event.map->path, "/bin/app");
	next(reader, LOGGED_LAUNCH, 2000);
	next(reader, LOGGED_MAP, 4000);
	check_end(reader, 0);
}

TEST(a_launch_without_its_stack_is_one_all_the_same)
{
	struct log_build build = new_log();
	const struct launch_frames *launch;
	struct launch_reader *reader;

	log_build__launch(&build, 9, 77, 0);
	reader = open_whole_log(&build);
	launch = next(reader, LOGGED_LAUNCH, 1000).launch;
	CHECK_EQ(launch->nr_frames, 0);
	CHECK_EQ(launch->pid, PID);
	CHECK_EQ(launch->tid, PID);
	CHECK_EQ(launch->event.log_id, LOG_ID);
	CHECK_EQ(launch->event.correlation_id, 77);
	CHECK_EQ(launch_reader__counts(reader).nr_lost_stacks, 1);
	check_end(reader, 0);
}

TEST(losses_are_counted)
{
	struct gpu_log_loss loss = {.kind = GPU_LOG_LOSS_LAUNCH, .nr_records = 5};
	struct log_build build = new_log();
	struct launch_reader *reader;

	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	loss.nr_records = UINT64_MAX;
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	loss.kind = GPU_LOG_LOSS_WRITE; /* of another log */
	LOG_BUILD_ADD(&build, GPU_LOG_LOSS, loss);
	reader = open_whole_log(&build);
	CHECK_EQ(launch_reader__next(reader, &(struct logged_event){}), 0);
	CHECK_EQ(launch_reader__counts(reader).nr_lost, UINT64_MAX);
	check_end(reader, 0);
}

TEST(times_do_not_wrap)
{
	struct log_build build = new_log();
	struct launch_reader *reader;

	log_build__launch(&build, 1, 0, INT32_MIN);
	set_time(&build, UINT64_MAX - 10);
	log_build__launch(&build, 1, 0, 100);
	reader = open_whole_log(&build);
	next(reader, LOGGED_LAUNCH, 0);
	next(reader, LOGGED_LAUNCH, UINT64_MAX);
	check_end(reader, 0);
}

TEST(ids_that_cannot_be_are_taken_for_the_process)
{
	struct log_build build = new_log();
	struct launch_reader *reader;
	struct logged_event event;

	log_build__thread(&build, 1000, 0xffffffff, "fifteen letters and more");
	log_build__stack(&build, 1, 0, API, frames, 1);
	log_build__launch(&build, 1, 0, 0);
	reader = open_whole_log(&build);
	event = next(reader, LOGGED_THREAD, 1000);
	CHECK_EQ(event.thread->tid, PID);
	CHECK_STR(event.thread->comm, "fifteen letters");
	CHECK_EQ(next(reader, LOGGED_LAUNCH, 1000).launch->tid, PID);
	check_end(reader, 0);
}

TEST(more_frames_than_perf_has_are_cut)
{
	struct log_build build = new_log();
	struct launch_reader *reader;

	log_build__stack(&build, 1, PID, API, frames, 200);
	log_build__launch(&build, 1, 0, 0);
	reader = open_whole_log(&build);
	CHECK_EQ(next(reader, LOGGED_LAUNCH, 1000).launch->nr_frames, LAUNCH_MAX_FRAMES);
	check_end(reader, 0);
}

TEST(what_is_whole_comes_before_the_error)
{
	struct log_build build = new_log();
	struct launch_reader *reader = NULL;

	log_build__launch(&build, 1, 0, 0);
	log_build__end_block(&build);
	log_build__launch(&build, 1, 0, 1);
	log_build__end_block(&build);
	build.bytes -= 8;
	CHECK_EQ(open_log(&build, &reader), 0);
	next(reader, LOGGED_LAUNCH, 1000);
	check_end(reader, -EINVAL);
}

TEST(a_log_does_not_turn_into_another)
{
	struct log_build build = new_log();
	struct launch_reader *reader = NULL;

	log_build__end_block(&build);
	build.log_id++;
	log_build__launch(&build, 1, 0, 1);
	log_build__end_block(&build);
	CHECK_EQ(open_log(&build, &reader), 0);
	check_end(reader, -EINVAL);
}

static void refuse(struct log_build *build, int wanted)
{
	struct launch_reader *reader = NULL;

	CHECK_EQ(open_log(build, &reader), wanted);
	CHECK(!reader);
}

TEST(what_is_no_launch_log_is_refused)
{
	struct log_build empty = {}, other = new_log(), nobody = {.session = SESSION};
	struct log_build headless = {.session = SESSION, .log_id = LOG_ID};

	refuse(&empty, -ENODATA);
	other.session++;
	log_build__end_block(&other);
	refuse(&other, -EINVAL);
	nobody.log_id = LOG_ID;
	log_build__process(&nobody, 0, "app");
	log_build__end_block(&nobody);
	refuse(&nobody, -EINVAL);
	log_build__launch(&headless, 1, 0, 0);
	log_build__end_block(&headless);
	refuse(&headless, -EINVAL);
}

/* @record is one that the log breaks at. */
static void check_broken(enum gpu_log_type type, const void *record, size_t bytes,
			 const char *text)
{
	struct log_build build = new_log();

	log_build__add(&build, type, record, bytes, text);
	check_end(open_whole_log(&build), -EINVAL);
}

#define CHECK_BROKEN(type, record) check_broken((type), &(record), sizeof(record), NULL)

TEST(records_that_contradict_themselves_end_the_log)
{
	const struct gpu_log_stack stack = {.stack = 1, .nr_frames = 1};
	const struct gpu_log_stack huge = {.stack = 1, .nr_frames = UINT32_MAX};
	const uint64_t nothing = 0;
	struct gpu_log_map map = {.nr_bytes = 100};
	char path[PATH_MAX + 1];

	CHECK_BROKEN(GPU_LOG_STACK, stack);
	CHECK_BROKEN(GPU_LOG_STACK, huge);
	CHECK_BROKEN(GPU_LOG_STACK, nothing);
	CHECK_BROKEN(GPU_LOG_TIME, nothing);
	CHECK_BROKEN(GPU_LOG_LAUNCH, nothing);
	CHECK_BROKEN(GPU_LOG_THREAD, nothing);
	CHECK_BROKEN(GPU_LOG_LOSS, nothing);
	CHECK_BROKEN(GPU_LOG_MAP, nothing);
	CHECK_BROKEN(GPU_LOG_MAP, map);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	map.nr_bytes = sizeof(path) - 1;
	check_broken(GPU_LOG_MAP, &map, sizeof(map), path);
	map = (struct gpu_log_map){.start = UINT64_MAX, .bytes = 2};
	check_broken(GPU_LOG_MAP, &map, sizeof(map), "x");
}

/* More than are held back for the launch behind them */
TEST(mappings_without_end_are_given_out)
{
	struct log_build build = new_log();
	struct launch_reader *reader;

	for (uint64_t i = 0; i < 3 * LAUNCH_READER_WINDOW; i++)
		log_build__map(&build, 2000 + i, 0x1000 * i, "/bin/app");
	reader = open_whole_log(&build);
	for (uint64_t i = 0; i < 3 * LAUNCH_READER_WINDOW; i++)
		next(reader, LOGGED_MAP, 2000 + i);
	check_end(reader, 0);
}

TEST(a_reader_can_be_closed_at_any_time)
{
	struct log_build build = new_log();
	struct launch_reader *reader;

	for (uint64_t i = 0; i < 10; i++)
		log_build__map(&build, 2000 + i, 0x1000 * i, "/bin/app");
	reader = open_whole_log(&build);
	next(reader, LOGGED_MAP, 2000);
	launch_reader__close(reader);
	launch_reader__close(NULL);
}

TEST(stacks_behind_the_reach_of_launches_are_forgotten)
{
	const size_t stack_bytes = sizeof(struct gpu_log_stack) + 127 * sizeof(uint64_t);
	const uint32_t nr_of_reach = GPU_LOG_STACK_REACH / stack_bytes + 1;
	struct stack_table table = {};
	struct launch_frames *launch;

	for (uint32_t id = 1; id <= 4 * nr_of_reach; id++) {
		CHECK_EQ(stack_table__add(&table, id, 127, &launch), 0);
		launch->tid = id;
		if (id > nr_of_reach) {
			launch = stack_table__find(&table, id - nr_of_reach);
			CHECK(launch);
			CHECK_EQ(launch->tid, id - nr_of_reach);
		}
	}
	CHECK(!stack_table__find(&table, 1));
	CHECK(!stack_table__find(&table, nr_of_reach));
	CHECK(!stack_table__find(&table, 4 * nr_of_reach + 1));
	stack_table__release(&table);
}

TEST(stack_ids_that_cannot_be_are_refused)
{
	struct stack_table table = {};
	struct launch_frames *launch;

	CHECK_EQ(stack_table__add(&table, 0, 1, &launch), -EINVAL);
	CHECK_EQ(stack_table__add(&table, 5, 1, &launch), 0);
	CHECK_EQ(stack_table__add(&table, 5, 1, &launch), -EINVAL);
	CHECK_EQ(stack_table__add(&table, 4, 1, &launch), -EINVAL);
	CHECK_EQ(stack_table__add(&table, 9, 1, &launch), 0);
	CHECK(!stack_table__find(&table, 7));
	CHECK_EQ(stack_table__add(&table, 10 + STACK_TABLE_MAX_MISSING, 1, &launch),
		 -EINVAL);
	CHECK_EQ(stack_table__add(&table, UINT32_MAX, 1, &launch), -EINVAL);
	stack_table__release(&table);
}
