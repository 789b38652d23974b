// SPDX-License-Identifier: GPL-2.0-or-later
#include "block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "log_client.h"
#include "no_cancel.h"
#include "no_xfsz.h"
#include "own_file.h"

struct block_file {
	struct own_file file;
	off_t bytes; /* of whole blocks in it */
	uint64_t log_id;
	bool is_launch_log;
	bool is_abandoned;
};

void block__init(struct block *block, uint64_t session, uint64_t log_id)
{
	block->header = (struct gpu_log_block){
		.magic = GPU_LOG_MAGIC,
		.version = GPU_LOG_VERSION,
		.log_id = log_id,
		.session = session,
	};
}

void *block__reserve(struct block *block, enum gpu_log_type type, size_t size)
{
	struct gpu_log_record *record;

	size = (size + 7) & ~(size_t)7;
	if (block->header.payload_bytes + size > sizeof(block->payload))
		return NULL;
	record = (struct gpu_log_record *)(block->payload + block->header.payload_bytes);
	memset(record, 0, size);
	record->type = (uint16_t)type;
	record->size = (uint16_t)size;
	block->header.payload_bytes += (uint32_t)size;
	return record;
}

const struct gpu_log_record *block__next(const struct block *block,
					 const struct gpu_log_record *record)
{
	const unsigned char *at = block->payload;

	if (record)
		at = (const unsigned char *)record + record->size;
	if (at == block->payload + block->header.payload_bytes)
		return NULL;
	return (const struct gpu_log_record *)at;
}

static ssize_t write_quietly(int fd, const void *data, size_t bytes, off_t offset)
{
	struct no_xfsz no_xfsz = no_xfsz__begin();
	ssize_t ret;

	do {
		ret = pwrite(fd, data, bytes, offset);
	} while (ret < 0 && errno == EINTR);
	no_xfsz__end(&no_xfsz, ret < 0 ? errno : 0);
	return ret;
}

/* Would another user, or who has another root folder, get there? */
static bool is_out_of_reach(int err)
{
	return err == -EACCES || err == -EPERM || err == -ENOENT || err == -ENOTDIR ||
	       err == -EROFS || err == -ELOOP;
}

/* The recorder makes the file for us. 0 or -errno. */
static int ask_for_file(struct block_file *file)
{
	int fd = log_client__open(file->log_id, file->is_launch_log);

	return fd < 0 ? fd : own_file__adopt(&file->file, fd);
}

/*
 * It was closed by the program, which may be another user since then, or have another root
 * folder: the recorder gets there. 0 or -errno; -ENOENT if there is no recorder any more, or
 * no such file.
 */
static int ask_for_file_again(struct block_file *file)
{
	const dev_t dev = file->file.dev;
	const ino_t ino = file->file.ino;
	int err = ask_for_file(file);

	if (err)
		return err == -ECONNREFUSED ? -ENOENT : err;
	if (file->file.dev == dev && file->file.ino == ino)
		return 0;
	/* A new one, in the place of what somebody has removed */
	own_file__close(&file->file);
	return -ENOENT;
}

/* 0 or -errno; -ENOENT if the file is in no folder any more */
static int block_file__check(struct block_file *file)
{
	const bool has_path = *file->file.path;
	struct stat st;
	int err = own_file__check(&file->file, &st);

	if (err && (!has_path || is_out_of_reach(err))) {
		err = ask_for_file_again(file);
		if (!err)
			err = own_file__check(&file->file, &st);
	}
	if (err)
		return err;
	return st.st_nlink ? 0 : -ENOENT;
}

/*
 * By this the recorder knows that there is somebody, however he ends. A descriptor that was
 * closed, and opened again, has lost it.
 */
static void hold(const struct block_file *file)
{
	flock(file->file.fd, LOCK_SH | LOCK_NB);
}

static int write_block(struct block_file *file, struct block *block)
{
	const size_t bytes = sizeof(block->header) + block->header.payload_bytes;
	const unsigned char *start = (const unsigned char *)block;
	const size_t skip = offsetof(struct gpu_log_block, payload_bytes);
	ssize_t ret;
	int err;

	if (!block->header.payload_bytes)
		return 0;
	block->header.crc32 = (uint32_t)crc32(0, start + skip, (uInt)(bytes - skip));

	err = block_file__check(file);
	file->is_abandoned = err == -ENOENT;
	if (err)
		return err;
	hold(file);
	ret = write_quietly(file->file.fd, block, bytes, file->bytes);
	if (ret == (ssize_t)bytes) {
		file->bytes += ret;
		block->header.payload_bytes = 0;
		return 0;
	}
	err = ret < 0 ? -errno : -ENOSPC;
	/* The next try overwrites half a block; if none comes, it must not be there. */
	if (ret > 0 && ftruncate(file->file.fd, file->bytes))
		err = -errno;
	return err;
}

int block_file__write(struct block_file *file, struct block *block)
{
	int cancel_state = no_cancel__begin();
	int err = write_block(file, block);

	no_cancel__end(cancel_state);
	return err;
}

int block_file__open(const char *spool, uint64_t log_id, const char *suffix,
		     struct block_file **ret)
{
	struct block_file *file;
	int err;

	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->log_id = log_id;
	file->is_launch_log = !strcmp(suffix, BLOCK_FILE_LAUNCH_LOG);
	snprintf(file->file.path, sizeof(file->file.path), "%s/%d-%016llx%s", spool,
		 (int)getpid(), (unsigned long long)log_id, suffix);
	err = own_file__open(&file->file, O_WRONLY | O_CREAT | O_EXCL);
	if (is_out_of_reach(err) && !ask_for_file(file))
		err = 0;
	if (err) {
		free(file);
		return err;
	}
	hold(file);
	*ret = file;
	return 0;
}

bool block_file__is_abandoned(struct block_file *file)
{
	int cancel_state = no_cancel__begin();

	/* Who is paused writes nothing, and has to look. */
	if (!file->is_abandoned)
		file->is_abandoned = block_file__check(file) == -ENOENT;
	no_cancel__end(cancel_state);
	return file->is_abandoned;
}

void block_file__close(struct block_file *file)
{
	if (!file)
		return;
	own_file__close(&file->file);
	free(file);
}
