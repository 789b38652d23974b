// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_stop.h"

#include <stdbool.h>
#include <string.h>

#include "record/gpu_record.h"
#include "util/gpu_log_cursor.h"

static bool is_behind(const struct log_stop *stop, uint64_t log_id,
		      const struct gpu_log_record *record)
{
	const uint64_t key = gpu_record__key(record);

	if (key && launch_counts__knows(stop->launches, log_id))
		return launch_counts__is_left_out(stop->launches, log_id, key);
	return gpu_record__start_ns(record) >= stop->time_ns;
}

static bool is_whole(const struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	const struct gpu_log_record *record;
	int got;

	while ((got = gpu_log_cursor__next(&cursor, &record)) > 0)
		;
	return !got;
}

uint64_t log_stop__apply(const struct log_stop *stop, struct gpu_log_block *block)
{
	struct gpu_log_cursor cursor =
		gpu_log_cursor__new(block + 1, block->payload_bytes);
	unsigned char *to = (unsigned char *)(block + 1);
	const struct gpu_log_record *record;
	uint64_t nr = 0;

	if (!is_whole(block))
		return 0;
	while (gpu_log_cursor__next(&cursor, &record) > 0) {
		const size_t size = record->size;

		if (gpu_record__has_key(record) &&
		    is_behind(stop, block->log_id, record)) {
			nr++;
			continue;
		}
		memmove(to, record, size);
		to += size;
	}
	if (!nr)
		return 0;
	block->payload_bytes = (uint32_t)(to - (unsigned char *)(block + 1));
	block->crc32 = gpu_log_block__crc32(block);
	return nr;
}
