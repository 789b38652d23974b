// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of a launch log, as the recorder reads them: the input is the payload
 * of its blocks, which are ended by 0xff bytes in the place of a record.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "record/launch_reader.h"
#include "util/gpu_log_cursor.h"

#define SESSION 1

/* So that what is looked at is read */
static volatile uint64_t sum;

struct whole_block {
	struct gpu_log_block header;
	unsigned char payload[65536];
};

/* Return: whether there was room. */
static int write_block(int fd, struct whole_block *block, const uint8_t *data,
		       size_t size)
{
	const size_t bytes = sizeof(block->header) + size;

	block->header = (struct gpu_log_block){.magic = GPU_LOG_MAGIC,
					       .version = GPU_LOG_VERSION,
					       .payload_bytes = (uint32_t)size,
					       .log_id = 1,
					       .session = SESSION};
	memcpy(block->payload, data, size);
	block->header.crc32 = gpu_log_block__crc32(&block->header);
	return write(fd, block, bytes) == (ssize_t)bytes;
}

/* What the merge does with an event: all that it points to is looked at. */
static uint64_t look_at(const struct logged_event *event)
{
	uint64_t sum_of_event = event->time_ns;

	switch (event->kind) {
	case LOGGED_LAUNCH:
		for (uint32_t i = 0; i < event->launch->nr_frames; i++)
			sum_of_event += event->launch->frames[i];
		break;
	case LOGGED_MAP:
		sum_of_event += strlen(event->map->path);
		break;
	case LOGGED_THREAD:
		sum_of_event += strlen(event->thread->comm);
		break;
	}
	return sum_of_event;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t end[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	static struct whole_block block;
	struct launch_reader *reader;
	struct logged_event event;
	size_t begin = 0, at;
	int fd;

	if (size > sizeof(block.payload))
		return 0;
	fd = memfd_create("launch_log", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	for (at = 0; at + sizeof(end) <= size; at += sizeof(end)) {
		if (memcmp(data + at, end, sizeof(end)))
			continue;
		if (!write_block(fd, &block, data + begin, at - begin))
			break;
		begin = at + sizeof(end);
	}
	write_block(fd, &block, data + begin, size - begin);
	lseek(fd, 0, SEEK_SET);
	if (!launch_reader__open(fd, SESSION, &reader)) {
		while (launch_reader__next(reader, &event) > 0)
			sum += look_at(&event);
		launch_reader__close(reader);
	}
	return 0;
}
