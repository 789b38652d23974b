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
	uint64_t nr_begun; /* blocks */
	struct log_memory_file *state; /* for the recorder */
	struct log_memory_file own_state; /* where it isn't shared */
	uint64_t log_id;
	bool is_launch_log;
	bool is_abandoned;
};

void block_file__note_in(struct block_file *file, struct log_memory_file *state)
{
	file->state = state;
}

void block_file__begin(struct block_file *file, struct block *block)
{
	__atomic_store_n(&block->sequence, ++file->nr_begun, __ATOMIC_RELEASE);
}

/* From one moment to the next, and before the block is empty. */
static void note_written(struct block_file *file, const struct block *block)
{
	struct log_memory_file *state = file->state;
	const uint64_t nr = state->nr_writes + 1;

	state->written[nr & 1].sequence = block->sequence;
	state->written[nr & 1].bytes = (uint64_t)file->bytes;
	__atomic_store_n(&state->nr_writes, nr, __ATOMIC_RELEASE);
}

/* All of it. 0, or -errno: perhaps behind a part, since that alone tells no reason. */
static int write_quietly(int fd, const void *data, size_t bytes, off_t offset)
{
	struct no_xfsz no_xfsz = no_xfsz__begin();
	size_t nr_written = 0;
	int err = 0;

	while (nr_written < bytes && !err) {
		ssize_t nr = pwrite(fd, (const char *)data + nr_written,
				    bytes - nr_written, offset + (off_t)nr_written);

		if (nr > 0)
			nr_written += (size_t)nr;
		else if (!nr)
			err = -ENOSPC;
		else if (errno != EINTR)
			err = -errno;
	}
	no_xfsz__end(&no_xfsz, -err);
	return err;
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
	const unsigned char *start = (const unsigned char *)&block->header;
	const size_t skip = offsetof(struct gpu_log_block, payload_bytes);
	int err;

	if (!block->header.payload_bytes)
		return 0;
	block__settle(block);
	block->header.crc32 = (uint32_t)crc32(0, start + skip, (uInt)(bytes - skip));

	err = block_file__check(file);
	file->is_abandoned = err == -ENOENT;
	if (err)
		return err;
	hold(file);
	err = write_quietly(file->file.fd, start, bytes, file->bytes);
	if (!err) {
		file->bytes += (off_t)bytes;
		note_written(file, block);
		block__empty(block);
		block_file__begin(file, block);
		return 0;
	}
	/* The next try overwrites half a block; if none comes, it must not be there. */
	if (ftruncate(file->file.fd, file->bytes))
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

bool block_file__is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EIO;
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
	file->state = &file->own_state;
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
