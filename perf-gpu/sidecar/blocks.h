/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a perf.data.gpu or of a single log (cupti_inject/gpu_log.h):
 * which parts of a file are whole. One thread.
 */
#ifndef PERF_GPU_SIDECAR_BLOCKS_H
#define PERF_GPU_SIDECAR_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/* The file, mapped. */
struct sidecar_file {
	const unsigned char *data;
	size_t bytes;
	uint64_t touched_bytes; /* since pages were last given back */
};

/* All zero is the beginning of the file. */
struct block_cursor {
	size_t offset; /* where the next block is expected */
	uint64_t nr_bytes_tried; /* that turned out to be no block */
	bool has_skipped; /* damage lies between this block and the one before */
	size_t skipped_offset; /* where the first damage of the file is */
	uint64_t nr_bytes_skipped; /* all damage of the file so far */
};

/**
 * sidecar_file__open - map a file
 * @ret: released by sidecar_file__close(); written on success only
 *
 * Return: 0 or a negative errno, printed: those of open(2), -EINVAL if it is
 * empty or no regular file, -ENOMEM.
 */
int sidecar_file__open(const char *path, struct sidecar_file **ret);
/* The same of a file that is open: @fd stays the caller's, @name is for messages. */
int sidecar_file__open_fd(int fd, const char *name, struct sidecar_file **ret);
void sidecar_file__close(struct sidecar_file *file); /* NULL is fine */

/* So much is enough to read ahead of, and little beside what else is in memory. */
#define SIDECAR_FILE_WINDOW_BYTES (16u << 20)

/* Give back the pages of the file, which are read anew where they are needed. */
void sidecar_file__give_back(struct sidecar_file *file);

/* So many bytes more were read: the process is to have no more than a window of it. */
static inline void sidecar_file__touch(struct sidecar_file *file, uint64_t bytes)
{
	file->touched_bytes += bytes;
	if (file->touched_bytes >= SIDECAR_FILE_WINDOW_BYTES)
		sidecar_file__give_back(file);
}

/**
 * sidecar_file__next_block - the next whole block
 * @cursor: moved behind it, or to the end of the file
 *
 * A block is whole if its magic, length, version and session can be and its
 * checksum is right. What isn't is skipped, 8 bytes at a time, which is said in
 * the cursor.
 *
 * Return: the block, followed by its payload, 8-byte aligned; valid as long as
 * the file. NULL at the end.
 */
const struct gpu_log_block *sidecar_file__next_block(struct sidecar_file *file,
						     struct block_cursor *cursor);

#endif
