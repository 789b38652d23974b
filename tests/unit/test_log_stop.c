// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the recording of a log stops: nothing stays of launches that are no samples */
#include <errno.h>

#include "gpu_log_build.h"
#include "record/log_stop.h"
#include "unit.h"
#include "util/gpu_log_cursor.h"

#define LOG 5

/* Launches 1 to 20, but for 12 and 14, which came when there was no room any more */
static struct launch_counts new_launches(void)
{
	struct launch_counts launches = {};

	for (uint64_t key = 1; key <= 20; key++)
		if (key != 12 && key != 14)
			launch_counts__add(&launches, LOG, key);
	launch_counts__leave_out(&launches, LOG, 14);
	launch_counts__leave_out(&launches, LOG, 12);
	launch_counts__leave_out(&launches, LOG, 21);
	return launches;
}

/* How many of a block's records are kernels, all of which are of @nr calls' ids */
static unsigned int count_kernels(const struct gpu_log_block *block, const uint64_t *keys,
				  unsigned int nr)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	unsigned int at = 0;

	while (gpu_log_cursor__next(&cursor, &record) > 0) {
		if (record->type != GPU_LOG_KERNEL)
			continue;
		CHECK(at < nr);
		CHECK_EQ(((const struct gpu_log_kernel *)(const void *)record)
				 ->correlation_id,
			 keys[at]);
		at++;
	}
	CHECK_EQ(block->crc32, gpu_log_block__crc32(block));
	return at;
}

TEST(what_was_left_out_and_what_follows_goes)
{
	static const uint64_t keys[] = {11, 13, 20};
	struct launch_counts launches = new_launches();
	const struct log_stop stop = {.launches = &launches, .time_ns = 1};
	struct log_build build = {.session = 7, .log_id = LOG};
	struct gpu_log_block *block;

	log_build__shape(&build, 1, "k");
	for (uint64_t key = 11; key <= 14; key++)
		log_build__kernel(&build, 1, key, 1000, 2000);
	for (uint64_t key = 20; key <= 30; key++)
		log_build__kernel(&build, 1, key, 1000, 2000);
	log_build__end_block(&build);
	block = (struct gpu_log_block *)build.data;
	CHECK_EQ(log_stop__apply(&stop, block), 12);
	CHECK_EQ(count_kernels(block, keys, 3), 3);
	CHECK_EQ(log_stop__apply(&stop, block), 0);
	log_build__release(&build);
	launch_counts__release(&launches);
}

/* Of a log without launches, and of no call */
TEST(what_belongs_to_no_launch_goes_by_time)
{
	static const uint64_t keys[] = {1, 0};
	struct launch_counts launches = {};
	const struct log_stop stop = {.launches = &launches, .time_ns = 5000};
	struct log_build build = {.session = 7, .log_id = LOG};
	struct gpu_log_block *block;

	log_build__kernel(&build, 1, 1, 4999, 6000);
	log_build__kernel(&build, 1, 2, 5000, 6000);
	log_build__kernel(&build, 1, 0, 4000, 4001);
	log_build__kernel(&build, 1, 0, 7000, 7001);
	log_build__end_block(&build);
	block = (struct gpu_log_block *)build.data;
	CHECK_EQ(log_stop__apply(&stop, block), 2);
	CHECK_EQ(count_kernels(block, keys, 2), 2);
	log_build__release(&build);
}

TEST(a_block_that_is_not_whole_is_left_alone)
{
	struct launch_counts launches = {};
	const struct log_stop stop = {.launches = &launches};
	struct log_build build = {.session = 7, .log_id = LOG};
	struct gpu_log_block *block;
	uint32_t bytes;

	log_build__kernel(&build, 1, 1, 1000, 2000);
	log_build__kernel(&build, 1, 2, 1000, 2000);
	log_build__end_block(&build);
	block = (struct gpu_log_block *)build.data;
	block->payload_bytes -= 8;
	bytes = block->payload_bytes;
	CHECK_EQ(log_stop__apply(&stop, block), 0);
	CHECK_EQ(block->payload_bytes, bytes);
	log_build__release(&build);
}

/* What has no place among those left out takes all that is behind it with it. */
TEST(too_many_that_were_left_out_are_a_bound)
{
	struct launch_counts launches = {};

	launch_counts__add(&launches, LOG, UINT64_MAX);
	for (uint64_t key = 1; key <= LAUNCH_SET_MAX; key++)
		launch_counts__leave_out(&launches, LOG, 2 * key);
	CHECK(!launch_counts__is_left_out(&launches, LOG, 2 * LAUNCH_SET_MAX + 1));
	launch_counts__leave_out(&launches, LOG, 3 * LAUNCH_SET_MAX);
	launch_counts__leave_out(&launches, LOG, 4 * LAUNCH_SET_MAX);
	CHECK(launch_counts__is_left_out(&launches, LOG, 2 * LAUNCH_SET_MAX));
	CHECK(!launch_counts__is_left_out(&launches, LOG, 2 * LAUNCH_SET_MAX + 1));
	CHECK(launch_counts__is_left_out(&launches, LOG, 3 * LAUNCH_SET_MAX + 1));
	CHECK(launch_counts__is_left_out(&launches, LOG, UINT64_MAX));
	CHECK(!launch_counts__knows(&launches, LOG + 1));
	launch_counts__release(&launches);
}
