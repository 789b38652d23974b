// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/unwritten.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/gpu_log_cursor.h"
#include "util/log.h"

/* A file, and its blocks, of which there are few */
struct rest {
	const char *suffix;
	const struct log_memory_file *file;
	const struct block *blocks;
	size_t nr_blocks;
};

/* The block that belongs behind those up to @sequence; NULL: there is none. */
static const struct block *find_block(const struct rest *rest, uint64_t sequence,
				      uint64_t *ret_sequence)
{
	const struct block *found = NULL;

	for (size_t i = 0; i < rest->nr_blocks; i++) {
		const struct block *block = &rest->blocks[i];
		uint64_t its = __atomic_load_n(&block->sequence, __ATOMIC_ACQUIRE);

		if (its <= sequence || (found && its >= *ret_sequence) ||
		    !__atomic_load_n(&block->whole_bytes, __ATOMIC_ACQUIRE))
			continue;
		found = block;
		*ret_sequence = its;
	}
	return found;
}

static struct gpu_log_block *copy_block(const struct block *block, uint64_t session,
					uint64_t log_id)
{
	uint32_t bytes = __atomic_load_n(&block->whole_bytes, __ATOMIC_ACQUIRE);
	struct gpu_log_block *copy;

	if (bytes > sizeof(block->payload))
		return NULL;
	copy = malloc(sizeof(*copy) + bytes);
	if (!copy)
		return NULL;
	*copy = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.payload_bytes = bytes,
		.version = GPU_LOG_VERSION,
		.log_id = log_id,
		.session = session,
	};
	memcpy(copy + 1, block->payload, bytes);
	copy->crc32 = gpu_log_block__crc32(copy);
	return copy;
}

/* 0 or -errno, with the file as long as it was */
static int write_block(int fd, const struct gpu_log_block *block, off_t offset)
{
	const size_t bytes = sizeof(*block) + block->payload_bytes;
	size_t nr_written = 0;

	while (nr_written < bytes) {
		ssize_t nr = pwrite(fd, (const char *)block + nr_written,
				    bytes - nr_written, offset + (off_t)nr_written);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return nr ? -errno : -ENOSPC;
		nr_written += (size_t)nr;
	}
	return 0;
}

/* Half a block that the process has written is written over, and what is behind it goes. */
static int write_blocks(const struct rest *rest, int fd, uint64_t session,
			uint64_t log_id)
{
	const uint64_t nr = __atomic_load_n(&rest->file->nr_writes, __ATOMIC_ACQUIRE);
	uint64_t sequence = rest->file->written[nr & 1].sequence;
	const uint64_t bytes = rest->file->written[nr & 1].bytes;
	off_t offset = (off_t)bytes;
	const struct block *block;
	struct stat st;
	int err = 0;

	/* Nothing is to get so large that it is none but the process's own. */
	if (fstat(fd, &st) || offset < 0 || offset > st.st_size)
		return -EINVAL;
	for (size_t i = 0; i < rest->nr_blocks && !err &&
			   (block = find_block(rest, sequence, &sequence));
	     i++) {
		struct gpu_log_block *copy = copy_block(block, session, log_id);

		err = copy ? write_block(fd, copy, offset) : -EINVAL;
		if (!err)
			offset += (off_t)(sizeof(*copy) + copy->payload_bytes);
		free(copy);
	}
	if (fstat(fd, &st) || (st.st_size > offset && ftruncate(fd, offset)))
		err = -errno;
	return err;
}

static bool has_rest(const struct rest *rest)
{
	const uint64_t nr = __atomic_load_n(&rest->file->nr_writes, __ATOMIC_ACQUIRE);
	uint64_t sequence;

	return find_block(rest, rest->file->written[nr & 1].sequence, &sequence);
}

static void write_rest(const struct rest *rest, const struct spool *spool,
		       uint64_t session, const struct tally_owner *owner)
{
	struct log_limit silent = {.nr = UINT64_MAX};
	char name[64];
	int fd, err;

	if (!has_rest(rest))
		return;
	snprintf(name, sizeof(name), "%u-%016llx%s", owner->own_pid,
		 (unsigned long long)owner->log_id, rest->suffix);
	fd = spool__open_grown_log(spool, name, &silent);
	if (fd < 0)
		return;
	err = write_blocks(rest, fd, session, owner->log_id);
	if (err)
		pr_debug("can't complete %s: %s", name, strerror(-err));
	close(fd);
}

/* The launches first: who reads a kernel finds its launch. */
void unwritten__write(const struct log_memory *memory, const struct spool *spool,
		      uint64_t session, const struct tally_owner *owner)
{
	const struct rest launches = {
		.suffix = SPOOL_LAUNCH_LOG_SUFFIX,
		.file = &memory->files[LOG_MEMORY_LAUNCH_LOG],
		.blocks = memory->launch_blocks,
		.nr_blocks = LOG_MEMORY_LAUNCH_BLOCKS,
	};
	const struct rest log = {
		.suffix = SPOOL_LOG_SUFFIX,
		.file = &memory->files[LOG_MEMORY_LOG],
		.blocks = &memory->block,
		.nr_blocks = 1,
	};

	write_rest(&launches, spool, session, owner);
	write_rest(&log, spool, session, owner);
}
