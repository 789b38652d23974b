// SPDX-License-Identifier: GPL-2.0-or-later
/* What the injected library writes of launches and mappings (cupti_inject/launch_log.c) */
#include "unit.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../../cupti_inject/launch_log.h"
#include "../../cupti_inject/log.h"

#define SESSION 0x1234
/* In every glibc system, and used by nothing here */
#define LIBRARY "libBrokenLocale.so.1"

static char spool[] = "/tmp/test-launch-log.XXXXXX";
/* Nobody frees them: they live as long as their process. */
static struct log *process_log;
static struct launch_log *launches;

static void open_logs(void)
{
	CHECK(mkdtemp(spool));
	CHECK_EQ(log__open(spool, SESSION, false, &process_log), 0);
	CHECK_EQ(launch_log__open(spool, SESSION, process_log, &launches), 0);
}

/* A launch whose stack has one frame */
static void launch(uint64_t key, uint64_t frame)
{
	static struct launch_stack stack;

	stack.api = 1;
	stack.nr_frames = 1;
	stack.frames[0] = frame;
	launch_log__launch(launches, key, &stack);
}

/* Do mappings of a file stand in the log? */
static bool has_mapping(const char *name)
{
	static char text[1 << 20];
	char pattern[64];
	glob_t found;
	size_t nr;
	FILE *file;

	launch_log__flush(launches);
	snprintf(pattern, sizeof(pattern), "%s/*.gpulaunch", spool);
	CHECK_EQ(glob(pattern, 0, NULL, &found), 0);
	file = fopen(found.gl_pathv[0], "r");
	CHECK(file);
	nr = fread(text, 1, sizeof(text), file);
	fclose(file);
	globfree(&found);
	return memmem(text, nr, name, strlen(name));
}

static void remove_spool(void)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", spool);
	CHECK_EQ(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
	CHECK_EQ(rmdir(spool), 0);
}

TEST(a_library_is_told_of_at_the_next_launch)
{
	open_logs();
	launch(1, 0x1000);
	CHECK(!has_mapping(LIBRARY));
	CHECK(dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL));
	launch(2, 0x1000);
	CHECK(has_mapping(LIBRARY));
	remove_spool();
}

/* Stacks of nowhere have the mappings read in vain, which is to have an end. */
TEST(a_library_is_told_of_behind_many_stacks_of_nowhere)
{
	open_logs();
	for (uint64_t i = 1; i <= 100; i++)
		launch(i, i << 4);
	CHECK(dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL));
	launch(101, 0x1000);
	CHECK(has_mapping(LIBRARY));
	remove_spool();
}

/* In all of a spool's files with a suffix */
static size_t count_records(const char *suffix, enum gpu_log_type type)
{
	static _Alignas(8) unsigned char data[8 << 20];
	size_t nr_bytes, nr = 0, offset = 0, end;
	char pattern[64];
	glob_t found;
	FILE *file;

	snprintf(pattern, sizeof(pattern), "%s/*%s", spool, suffix);
	CHECK_EQ(glob(pattern, 0, NULL, &found), 0);
	CHECK_EQ(found.gl_pathc, 1);
	file = fopen(found.gl_pathv[0], "r");
	CHECK(file);
	nr_bytes = fread(data, 1, sizeof(data), file);
	CHECK(nr_bytes < sizeof(data));
	fclose(file);
	globfree(&found);
	while (offset < nr_bytes) {
		const struct gpu_log_block *block = (void *)(data + offset);

		offset += sizeof(*block);
		end = offset + block->payload_bytes;
		while (offset < end) {
			const struct gpu_log_record *record = (void *)(data + offset);

			nr += record->type == type;
			offset += record->size;
		}
	}
	return nr;
}

/* A process that is killed leaves no call without the launch that it is of. */
TEST(calls_that_are_written_have_their_launches)
{
	const uint64_t nr = 3 * GPU_LOG_MAX_PAYLOAD / sizeof(struct gpu_log_api_call);
	size_t nr_calls = 0;

	open_logs();
	for (uint64_t i = 1; i <= nr; i++) {
		struct gpu_log_api_call call = {.correlation_id = i};

		launch(i, 0x1000);
		log__api_call(process_log, &call);
		if (i % (nr / 16))
			continue;
		nr_calls = count_records(".gpulog", GPU_LOG_API_CALL);
		CHECK(count_records(".gpulaunch", GPU_LOG_LAUNCH) >= nr_calls);
	}
	CHECK(nr_calls > nr / 2);
	remove_spool();
}
