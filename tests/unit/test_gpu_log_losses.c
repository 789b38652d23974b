// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What can't be written into a process's log is counted, whatever it is, once and not
 * twice (cupti_inject/log.c). A limit on the size of files is the full disk.
 */
#include "unit.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>

#include "../../cupti_inject/log.h"

/* Many times what a block has room for, of which there is one in memory */
#define NR_ROUNDS 8000
#define NR_KINDS  4

static char spool[] = "/tmp/test-log-losses.XXXXXX";
static struct log *process_log;

static void open_log(void)
{
	CHECK(mkdtemp(spool));
	CHECK_EQ(log__open(spool, 1, false, &process_log), 0);
}

/* Of all files, from now on. Who passes it gets a signal, which the log keeps away. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void append_round(uint64_t i)
{
	struct gpu_log_shape shape = {.device = 1};
	struct gpu_log_operation copy = {.kind = GPU_LOG_KIND_MEMCPY,
					 .stream = (uint32_t)(i % 100)};
	struct gpu_log_operation freed = {.kind = GPU_LOG_KIND_MEMORY,
					  .what = GPU_LOG_FREED};
	struct gpu_log_activity activity = {.correlation_id = i, .bytes = 7};
	struct gpu_log_memory memory = {.correlation_id = i};
	struct gpu_log_api_call call = {.correlation_id = i};

	log__kernel(process_log, "kernel", &shape, i, 10, 20);
	log__activity(process_log, &copy, &activity);
	log__memory(process_log, i % 2 ? "variable" : NULL, &freed, &memory);
	log__api_call(process_log, &call);
}

/* What stands in the log, which is removed */
struct content {
	uint64_t nr[32]; /* by type */
	uint64_t nr_lost, nr_kernels_at_end;
	bool has_undefined; /* ids that no record before has defined */
};

static void read_record(struct content *content, const struct gpu_log_record *record)
{
	static uint32_t nr_shapes, nr_operations; /* the latest id */
	const uint32_t id = ((const uint32_t *)(const void *)record)[1];

	CHECK(record->type < 32);
	content->nr[record->type]++;
	if (record->type == GPU_LOG_LOSS)
		content->nr_lost += ((const struct gpu_log_loss *)record)->nr_records;
	else if (record->type == GPU_LOG_END)
		content->nr_kernels_at_end =
			((const struct gpu_log_end *)record)->nr_kernels;
	else if (record->type == GPU_LOG_SHAPE)
		nr_shapes = id;
	else if (record->type == GPU_LOG_OPERATION)
		nr_operations = id;
	else if (record->type == GPU_LOG_KERNEL)
		content->has_undefined |= !id || id > nr_shapes;
	else if (record->type == GPU_LOG_ACTIVITY || record->type == GPU_LOG_MEMORY)
		content->has_undefined |= !id || id > nr_operations;
}

static void read_log(struct content *content)
{
	static unsigned char data[1 << 22];
	char pattern[64];
	size_t nr_bytes, at = 0;
	glob_t found;
	FILE *file;

	memset(content, 0, sizeof(*content));
	snprintf(pattern, sizeof(pattern), "%s/*.gpulog", spool);
	CHECK_EQ(glob(pattern, 0, NULL, &found), 0);
	file = fopen(found.gl_pathv[0], "r");
	CHECK(file);
	nr_bytes = fread(data, 1, sizeof(data), file);
	CHECK(feof(file));
	fclose(file);
	while (at < nr_bytes) {
		const struct gpu_log_block *block = (const void *)(data + at);
		const size_t end = at + sizeof(*block) + block->payload_bytes;

		CHECK(end <= nr_bytes);
		for (at += sizeof(*block); at < end;) {
			const struct gpu_log_record *record = (const void *)(data + at);

			read_record(content, record);
			at += record->size;
		}
	}
	unlink(found.gl_pathv[0]);
	rmdir(spool);
	globfree(&found);
}

static uint64_t nr_written(const struct content *content)
{
	return content->nr[GPU_LOG_KERNEL] + content->nr[GPU_LOG_ACTIVITY] +
	       content->nr[GPU_LOG_MEMORY] + content->nr[GPU_LOG_API_CALL];
}

static void check(const struct content *content)
{
	CHECK_EQ(nr_written(content) + content->nr_lost, NR_KINDS * NR_ROUNDS);
	CHECK_EQ(content->nr[GPU_LOG_END], 1);
	CHECK_EQ(content->nr_kernels_at_end, content->nr[GPU_LOG_KERNEL]);
	CHECK(!content->has_undefined);
}

TEST(with_room_nothing_is_lost)
{
	struct content content;

	open_log();
	for (uint64_t i = 0; i < NR_ROUNDS; i++)
		append_round(i);
	log__end(process_log, 0);
	read_log(&content);
	check(&content);
	CHECK_EQ(content.nr_lost, 0);
	CHECK_EQ(content.nr[GPU_LOG_OPERATION], 100 + 2);
}

TEST(what_comes_while_there_is_no_room_is_counted)
{
	struct content content;

	open_log();
	limit_files(4096);
	for (uint64_t i = 0; i < NR_ROUNDS; i++)
		append_round(i);
	limit_files(RLIM_INFINITY);
	log__end(process_log, 0);
	read_log(&content);
	check(&content);
	CHECK(content.nr_lost > NR_ROUNDS);
	CHECK(nr_written(&content) > 1000);
}

/* The last page of a file mostly has the few bytes that tell of it. */
TEST(what_has_no_room_at_the_end_is_counted)
{
	struct content content;

	open_log();
	limit_files(1024);
	for (uint64_t i = 0; i < NR_ROUNDS; i++)
		append_round(i);
	log__end(process_log, 0);
	limit_files(RLIM_INFINITY);
	read_log(&content);
	check(&content);
	CHECK_EQ(nr_written(&content), 0);
}

/* What was said of shapes and operations before is said again, where it was lost. */
TEST(room_that_comes_back_is_used)
{
	struct content content;

	open_log();
	for (uint64_t i = 0; i < NR_ROUNDS; i++) {
		if (i % 1000 == 0)
			limit_files(i / 1000 % 2 ? 4096 : RLIM_INFINITY);
		append_round(i);
		if (i % 100 == 0)
			log__flush(process_log);
	}
	limit_files(RLIM_INFINITY);
	log__end(process_log, 0);
	read_log(&content);
	check(&content);
}

/* A message is written at once: room that has come back by then is found. */
TEST(a_message_is_written_once_there_is_room)
{
	struct content content;

	open_log();
	limit_files(4096);
	for (uint64_t i = 0; i < NR_ROUNDS; i++)
		append_round(i);
	limit_files(RLIM_INFINITY);
	/* Longer than what is left of the block */
	log__message(process_log, GPU_LOG_WARNING, "%0500d", 1);
	log__end(process_log, 0);
	read_log(&content);
	check(&content);
	CHECK_EQ(content.nr[GPU_LOG_MESSAGE], 1);
}

/* Who tells of an API function once has to know that it wasn't told. */
TEST(an_api_function_without_room_can_be_told_again)
{
	struct content content;

	open_log();
	limit_files(4096);
	for (uint64_t i = 0; i < NR_ROUNDS; i++)
		append_round(i);
	CHECK_EQ(log__api(process_log, 1, "cuLaunchKernel", 1), -ENOSPC);
	limit_files(RLIM_INFINITY);
	log__flush(process_log);
	CHECK_EQ(log__api(process_log, 1, "cuLaunchKernel", 1), 0);
	log__end(process_log, 0);
	read_log(&content);
	check(&content);
	CHECK_EQ(content.nr[GPU_LOG_API], 1);
}

TEST(events_are_written_as_they_are)
{
	struct content content;

	open_log();
	log__events(process_log, GPU_LOG_DEFAULT_EVENTS, 7);
	log__events(process_log, GPU_LOG_DEFAULT_EVENTS, 3);
	log__end(process_log, 0);
	read_log(&content);
	CHECK_EQ(content.nr[GPU_LOG_EVENTS], 2);
}
