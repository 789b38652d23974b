// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read of GPU logs that are damaged, cut, or against the format */
#include <errno.h>
#include <sys/stat.h>

#include "sidecar_build.h"

TEST(half_a_block_cuts_its_log)
{
	struct log_build build = small_log();
	struct sidecar *sidecar;

	build.bytes -= 8;
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_logs, 1);
	CHECK_EQ(sidecar->nr_activities, 0);
	CHECK(sidecar->logs[0].is_cut);
	CHECK(!sidecar->logs[0].is_ended);
	sidecar__close(sidecar);
}

/* Every cut of the file is read, without more than was there. */
TEST(every_cut_is_read)
{
	struct log_build whole = small_log();
	size_t bytes = whole.bytes;

	log_build__release(&whole);
	for (size_t cut = 0; cut < bytes; cut++) {
		struct log_build build = small_log();
		struct sidecar *sidecar = NULL;
		size_t first_block = 32 + 48 + 16 + 72;
		int err;

		build.bytes = cut;
		err = read_build(&build, &sidecar);
		CHECK_EQ(err, cut < first_block ? -EINVAL : 0);
		if (!err)
			CHECK_EQ(sidecar->logs[0].is_cut, cut != first_block);
		sidecar__close(sidecar);
	}
}

TEST(blocks_behind_damage_are_found)
{
	struct log_build build = small_log();
	struct sidecar *sidecar;
	size_t damaged;

	damaged = build.bytes;
	log_build__kernel(&build, 1, 10, 7000, 8000);
	log_build__end_block(&build);
	build.log_id = LOG_B;
	build.nr_strings = 0;
	log_build__process(&build, 2, "b");
	log_build__shape(&build, 1, "k2");
	log_build__kernel(&build, 1, 3, 1, 2);
	log_build__end_block(&build);
	build.log_id = 300;
	log_build__process(&build, 3, "c");
	log_build__end_block(&build);
	build.data[damaged + 40] ^= 1;
	sidecar = read_whole(&build);

	CHECK_EQ(sidecar->nr_logs, 3);
	CHECK_EQ(sidecar->nr_activities, 2);
	CHECK_EQ(sidecar->activities[1].correlation_id, 3);
	CHECK(sidecar->logs[0].is_cut);
	CHECK(sidecar->logs[1].is_cut);
	CHECK(!sidecar->logs[2].is_cut);
	sidecar__close(sidecar);
}

/* A file of block headers: each claims to be a megabyte. */
TEST(search_behind_damage_takes_linear_time)
{
	enum { BYTES = 4 << 20 };
	struct gpu_log_block evil = {
		.magic = GPU_LOG_MAGIC,
		.payload_bytes = GPU_LOG_MAX_PAYLOAD,
		.version = GPU_LOG_VERSION,
		.session = SESSION,
	};
	struct log_build build = small_log();
	struct sidecar *sidecar;

	for (size_t i = 0; i < BYTES; i += sizeof(evil))
		memcpy(log_build__room(&build, sizeof(evil)), &evil, sizeof(evil));
	alarm(100);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_activities, 1);
	CHECK(sidecar->logs[0].is_cut);
	sidecar__close(sidecar);
}

/* Against the format */

/* The log ends at the record that breaks it; a later block of its is ignored. */
static void expect_broken(struct log_build *build)
{
	struct sidecar *sidecar;

	log_build__kernel(build, 1, 11, 1, 2);
	log_build__end_block(build);
	log_build__kernel(build, 1, 12, 1, 2);
	log_build__end_block(build);
	build->log_id = LOG_B;
	build->nr_strings = 0;
	log_build__process(build, 2, "b");
	log_build__shape(build, 1, "other");
	log_build__kernel(build, 1, 13, 1, 2);
	log_build__end_block(build);
	sidecar = read_whole(build);

	CHECK_EQ(sidecar->nr_logs, 2);
	CHECK(sidecar->logs[0].is_cut);
	CHECK(!sidecar->logs[1].is_cut);
	CHECK_EQ(sidecar->nr_activities, 2);
	CHECK_EQ(sidecar->activities[0].correlation_id, 9);
	CHECK_EQ(sidecar->activities[1].correlation_id, 13);
	sidecar__close(sidecar);
}

TEST(undefined_shape_ends_the_log)
{
	struct log_build build = small_log();

	log_build__kernel(&build, 2, 10, 1, 2);
	expect_broken(&build);

	build = small_log();
	log_build__kernel(&build, 0, 10, 1, 2);
	expect_broken(&build);
}

TEST(undefined_string_ends_the_log)
{
	struct gpu_log_shape shape = {.shape = 2, .name = 2};
	struct gpu_log_device device = {.name = 0xffffffff};
	struct gpu_log_api api = {.name = 2}, nameless = {.name = 0};
	struct log_build build;

	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, shape);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_DEVICE, device);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_API, api);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_API, nameless);
	expect_broken(&build);
}

TEST(undefined_names_of_python_functions_end_the_log)
{
	const struct gpu_log_python_code broken[] = {
		{.code = 1, .name = 99},
		{.code = 1, .file = 99},
		{.code = 0},
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		struct log_build build = small_log();

		LOG_BUILD_ADD(&build, GPU_LOG_PYTHON_CODE, broken[i]);
		expect_broken(&build);
	}
}

TEST(id_out_of_order_ends_the_log)
{
	struct gpu_log_shape shape = {.shape = 1}, none = {.shape = 0};
	struct log_build build;

	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, shape);
	expect_broken(&build);
	build = small_log();
	LOG_BUILD_ADD(&build, GPU_LOG_SHAPE, none);
	expect_broken(&build);
	build = small_log();
	build.nr_strings = 0;
	log_build__string(&build, "id 1 again");
	expect_broken(&build);
	build = small_log();
	build.nr_strings = UINT32_MAX;
	log_build__string(&build, "id 0");
	expect_broken(&build);
}

/* Who keeps a part of a log leaves out what nothing refers to. */
TEST(ids_may_be_missing)
{
	struct log_build build = small_log();
	struct sidecar *sidecar;

	build.nr_strings = 7;
	log_build__shape(&build, 5, "k5");
	log_build__kernel(&build, 5, 10, 7000, 8000);
	build.nr_strings = 70;
	log_build__shape(&build, 6, "k6");
	log_build__shape(&build, 9, "k9");
	log_build__kernel(&build, 9, 11, 8000, 9000);
	log_build__kernel(&build, 6, 12, 9000, 9500);
	log_build__end_block(&build);
	/* One that is missing */
	log_build__kernel(&build, 7, 13, 9500, 9600);
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_activities, 4);
	CHECK_STR(sidecar->shapes[sidecar->activities[0].shape].name, "k1");
	CHECK_STR(sidecar->shapes[sidecar->activities[1].shape].name, "k5");
	CHECK_STR(sidecar->shapes[sidecar->activities[2].shape].name, "k9");
	CHECK_STR(sidecar->shapes[sidecar->activities[3].shape].name, "k6");
	CHECK(sidecar->logs[0].is_cut);
	sidecar__close(sidecar);
}

TEST(unterminated_text_ends_the_log)
{
	struct gpu_log_string string = {.id = 2, .nr_bytes = 4};
	struct gpu_log_message message = {.nr_bytes = UINT32_MAX};
	struct log_build build;

	/* The text ends in the record, but not with a NUL, or not there. */
	build = small_log();
	log_build__add(&build, GPU_LOG_STRING, &string, 12, "abcdef");
	expect_broken(&build);
	build = small_log();
	log_build__add(&build, GPU_LOG_STRING, &string, 12, "abc");
	expect_broken(&build);
	build = small_log();
	log_build__add(&build, GPU_LOG_MESSAGE, &message, 12, "abc");
	expect_broken(&build);
}

TEST(impossible_sizes_end_the_log)
{
	static const uint16_t sizes[] = {0, 1, 4, 7, 12, 24, 31, 65528};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct log_build build = small_log();
		struct gpu_log_record record = {.type = GPU_LOG_KERNEL, .size = sizes[i]};
		unsigned char *place;

		log_build__kernel(&build, 1, 10, 1, 2);
		place = build.data + build.bytes - sizeof(struct gpu_log_kernel);
		memcpy(place, &record, sizeof(record));
		expect_broken(&build);
	}
}

TEST(log_begins_with_its_process)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};
	struct sidecar *sidecar;

	log_build__shape(&build, 1, "k");
	log_build__kernel(&build, 1, 1, 2, 3);
	log_build__end_block(&build);
	sidecar = read_whole(&build);
	CHECK_EQ(sidecar->nr_logs, 1);
	CHECK(sidecar->logs[0].is_cut);
	CHECK_EQ(sidecar->nr_activities, 0);
	CHECK_STR(sidecar->logs[0].comm, "");
	sidecar__close(sidecar);
}

/* Refused */

static void expect_error(struct log_build *build, int err)
{
	struct sidecar *sidecar = NULL;

	CHECK_EQ(read_build(build, &sidecar), err);
	CHECK(sidecar == NULL);
}

TEST(nothing_whole_is_refused)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};

	expect_error(&build, -EINVAL);

	build.bytes = 0;
	memset(log_build__room(&build, 4096), 'x', 4096);
	memset(build.data, 'x', 4096);
	expect_error(&build, -EINVAL);

	/* session 0 is nobody's */
	build = (struct log_build){.log_id = LOG_A};
	log_build__process(&build, 1, "a");
	log_build__end_block(&build);
	expect_error(&build, -EINVAL);
}

TEST(later_version_is_refused)
{
	struct log_build build = {.session = SESSION, .log_id = LOG_A};

	log_build__process(&build, 1, "a");
	log_build__end_block_of(&build, GPU_LOG_VERSION + 1);
	expect_error(&build, -ENOTSUP);
}

TEST(two_recordings_in_one_file_are_refused)
{
	struct log_build build = small_log();

	build.session = SESSION + 1;
	log_build__process(&build, 1, "a");
	log_build__end_block(&build);
	expect_error(&build, -EXDEV);
}

TEST(what_is_no_file_is_refused)
{
	struct sidecar *sidecar = NULL;
	char fifo[] = "/tmp/test_sidecar.XXXXXX";

	log_verbosity = -1;
	CHECK_EQ(sidecar__open("/no/such/file", &sidecar), -ENOENT);
	CHECK_EQ(sidecar__open("/", &sidecar), -EINVAL);
	CHECK_EQ(sidecar__open("/dev/null", &sidecar), -EINVAL);
	CHECK(mkdtemp(fifo) != NULL);
	CHECK_EQ(rmdir(fifo), 0);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	alarm(100);
	CHECK_EQ(sidecar__open(fifo, &sidecar), -EINVAL);
	unlink(fifo);
	CHECK(sidecar == NULL);
}
