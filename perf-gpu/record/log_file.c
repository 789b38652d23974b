// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/gpu_log_cursor.h"

struct log_file log_file__new(int fd, uint64_t session)
{
	return (struct log_file){.fd = fd, .session = session};
}

/* Return: bytes read, fewer than asked for at the end of the file; or -errno. */
static ssize_t read_whole(int fd, void *buf, size_t bytes)
{
	size_t nr_read = 0;

	while (nr_read < bytes) {
		ssize_t nr = read(fd, (char *)buf + nr_read, bytes - nr_read);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (!nr)
			break;
		nr_read += (size_t)nr;
	}
	return (ssize_t)nr_read;
}

static int make_room(struct log_file *file, size_t bytes)
{
	struct gpu_log_block *block;

	if (bytes <= file->capacity_bytes)
		return 0;
	block = realloc(file->block, bytes);
	if (!block)
		return -ENOMEM;
	file->block = block;
	file->capacity_bytes = bytes;
	return 0;
}

int log_file__next(struct log_file *file)
{
	struct gpu_log_block header;
	ssize_t nr;
	int err;

	nr = read_whole(file->fd, &header, sizeof(header));
	if (nr <= 0)
		return (int)nr;
	if (nr != sizeof(header) || header.magic != GPU_LOG_MAGIC ||
	    header.version != GPU_LOG_VERSION || header.session != file->session ||
	    !header.log_id || header.payload_bytes > GPU_LOG_MAX_PAYLOAD)
		return -EINVAL;
	err = make_room(file, sizeof(header) + header.payload_bytes);
	if (err)
		return err;
	*file->block = header;
	nr = read_whole(file->fd, file->block + 1, header.payload_bytes);
	if (nr < 0)
		return (int)nr;
	if (nr != header.payload_bytes ||
	    gpu_log_block__crc32(file->block) != header.crc32)
		return -EINVAL;
	return 1;
}

const char *log_file__strerror(int err)
{
	return err == -EINVAL ? "a block is not whole" : strerror(-err);
}

void log_file__close(struct log_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->block);
	*file = (struct log_file){.fd = -1};
}
