// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/gpu_log_cursor.h"

/* Blocks begin at multiples of 8 bytes, as their records do. */
#define SEARCHED_WORDS 4096

/* A broken block has up to GPU_LOG_MAX_PAYLOAD, and few break. */
#define MAX_SEARCHED_BYTES (64u << 20)

/* What looks like a block and is none costs reading up to GPU_LOG_MAX_PAYLOAD. */
#define MAX_CANDIDATES 1000

/* File systems give back whole pages; nobody waits for the last bytes. */
#define FREE_UNIT (64u << 10)

struct log_file log_file__new(int fd, uint64_t session)
{
	struct log_file file = {.fd = fd, .session = session};
	struct stat st;

	if (!fstat(fd, &st))
		file.limit = st.st_size;
	return file;
}

/* Return: bytes read, fewer than asked for at the end of the file; or -errno. */
static ssize_t read_whole(int fd, void *buf, size_t bytes, off_t offset)
{
	size_t nr_read = 0;

	while (nr_read < bytes) {
		ssize_t nr = pread(fd, (char *)buf + nr_read, bytes - nr_read,
				   offset + (off_t)nr_read);

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

/* A block has fewer bytes than it must. */
static int end_early(const struct log_file *file)
{
	return file->is_growing ? 0 : -EINVAL;
}

int log_file__next(struct log_file *file)
{
	struct gpu_log_block header;
	off_t end;
	ssize_t nr;
	int err;

	if (file->next >= file->limit)
		return 0;
	file->offset = file->next;
	nr = read_whole(file->fd, &header, sizeof(header), file->offset);
	if (nr <= 0)
		return (int)nr;
	if (nr != sizeof(header))
		return end_early(file);
	if (header.magic != GPU_LOG_MAGIC || header.version != GPU_LOG_VERSION ||
	    header.session != file->session || !header.log_id ||
	    header.payload_bytes > GPU_LOG_MAX_PAYLOAD)
		return -EINVAL;
	end = file->offset + (off_t)sizeof(header) + header.payload_bytes;
	if (file->is_growing && end > file->limit)
		return 0;
	err = make_room(file, sizeof(header) + header.payload_bytes);
	if (err)
		return err;
	*file->block = header;
	nr = read_whole(file->fd, file->block + 1, header.payload_bytes,
			file->offset + (off_t)sizeof(header));
	if (nr < 0)
		return (int)nr;
	if (nr != header.payload_bytes)
		return end_early(file);
	if (gpu_log_block__crc32(file->block) != header.crc32)
		return -EINVAL;
	file->next = end;
	return 1;
}

/*
 * Where from @offset on the next magic number stands; -1: nowhere, or too far away: a file
 * can be of any size, with nothing in it.
 */
static off_t find_magic(struct log_file *file, off_t offset)
{
	uint64_t words[SEARCHED_WORDS];
	ssize_t nr;

	while (file->searched_bytes < MAX_SEARCHED_BYTES && offset < file->limit &&
	       (nr = pread(file->fd, words, sizeof(words), offset)) >=
		       (ssize_t)sizeof(*words)) {
		file->searched_bytes += (uint64_t)nr;
		for (size_t i = 0; i < (size_t)nr / sizeof(*words); i++)
			if ((uint32_t)words[i] == GPU_LOG_MAGIC)
				return offset + (off_t)(i * sizeof(*words));
		offset += nr - nr % (ssize_t)sizeof(*words);
	}
	return -1;
}

int log_file__find(struct log_file *file)
{
	off_t offset = file->offset;
	int got;

	for (unsigned int i = 0; i < MAX_CANDIDATES && offset >= 0; i++) {
		offset = find_magic(file, offset + (off_t)sizeof(uint64_t));
		if (offset < 0)
			break;
		file->next = offset;
		got = log_file__next(file);
		if (got != -EINVAL)
			return got;
	}
	return 0;
}

int log_file__free_read(struct log_file *file)
{
	off_t end = file->next & ~(off_t)(FREE_UNIT - 1);

	if (end <= file->freed)
		return 0;
	if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, file->freed,
		      end - file->freed))
		return -errno;
	file->freed = end;
	return 0;
}

const char *log_file__what(int err, bool is_begun)
{
	if (err == -EIO)
		return is_begun ? "can't be read, what follows is lost" : "can't be read";
	return is_begun ? "is broken, what follows is lost"
			: "is no log of this recording";
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
