// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the whole blocks of a file, also behind damage.
 *
 * Invariant: the time this takes is linear in the size of the file, whatever is
 * in it. Since every 8 bytes could claim to be the header of a long block, the
 * search ends when it has computed checksums of TRIES times the file in vain.
 *
 * One thread.
 */
#include "sidecar/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/gpu_log_cursor.h"
#include "util/log.h"

#define TRIES 8

int sidecar_file__open(const char *path, struct sidecar_file **ret)
{
	int fd, err;

	/* O_NONBLOCK: don't wait for the writer of a FIFO, which isn't read anyway. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		err = -errno;
		pr_err("cannot open the GPU records %s: %s%s", path, strerror(-err),
		       err == -ENOENT ? " (they belong beside the recording; another "
					"place is named by -g)"
				      : "");
		return err;
	}
	err = sidecar_file__open_fd(fd, path, ret);
	close(fd);
	return err;
}

int sidecar_file__open_fd(int fd, const char *path, struct sidecar_file **ret)
{
	struct sidecar_file *file = NULL;
	struct stat stat;
	void *data;
	int err;

	if (fstat(fd, &stat)) {
		err = -errno;
		pr_err("cannot read the GPU records %s: %s", path, strerror(-err));
		goto out;
	}
	err = -EINVAL;
	if (!S_ISREG(stat.st_mode)) {
		pr_err("%s is no regular file, so not the GPU records of a recording",
		       path);
		goto out;
	}
	if (!stat.st_size) {
		pr_err("%s is empty: no GPU records were written to it", path);
		goto out;
	}

	err = -ENOMEM;
	file = malloc(sizeof(*file));
	if (!file) {
		pr_err("no memory to read %s", path);
		goto out;
	}
	data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		err = -errno;
		pr_err("cannot map %s: %s", path, strerror(-err));
		goto out;
	}
	*file = (struct sidecar_file){.data = data, .bytes = (size_t)stat.st_size};
	*ret = file;
	file = NULL;
	err = 0;
out:
	free(file);
	return err;
}

void sidecar_file__close(struct sidecar_file *file)
{
	if (!file)
		return;
	munmap((void *)file->data, file->bytes);
	free(file);
}

void sidecar_file__give_back(struct sidecar_file *file)
{
	file->touched_bytes = 0;
	madvise((void *)file->data, file->bytes, MADV_DONTNEED);
}

/* Adds to *@nr_bytes_tried what was looked at in vain. */
static const struct gpu_log_block *block_at(const struct sidecar_file *file,
					    size_t offset, uint64_t *nr_bytes_tried)
{
	const struct gpu_log_block *block = (const void *)(file->data + offset);

	if (block->magic != GPU_LOG_MAGIC || !block->version || !block->session ||
	    block->payload_bytes > GPU_LOG_MAX_PAYLOAD || block->payload_bytes % 8 ||
	    block->payload_bytes > file->bytes - offset - sizeof(*block))
		return NULL;
	if (block->crc32 != gpu_log_block__crc32(block)) {
		*nr_bytes_tried += sizeof(*block) + block->payload_bytes;
		return NULL;
	}
	return block;
}

static void block_cursor__skip(struct block_cursor *cursor, size_t bytes)
{
	if (!cursor->nr_bytes_skipped)
		cursor->skipped_offset = cursor->offset;
	cursor->has_skipped = true;
	cursor->nr_bytes_skipped += bytes;
	cursor->offset += bytes;
}

const struct gpu_log_block *sidecar_file__next_block(struct sidecar_file *file,
						     struct block_cursor *cursor)
{
	const struct gpu_log_block *block;

	cursor->has_skipped = false;
	while (file->bytes - cursor->offset >= sizeof(*block) &&
	       cursor->nr_bytes_tried / TRIES <= file->bytes) {
		block = block_at(file, cursor->offset, &cursor->nr_bytes_tried);
		if (block) {
			sidecar_file__touch(file, block->payload_bytes);
			cursor->offset += sizeof(*block) + block->payload_bytes;
			return block;
		}
		block_cursor__skip(cursor, 8);
	}
	if (cursor->offset < file->bytes)
		block_cursor__skip(cursor, file->bytes - cursor->offset);
	return NULL;
}
