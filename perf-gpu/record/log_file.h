/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of one log of the spool (cupti_inject/gpu_log.h), read one after the
 * other up to the first that isn't whole. Read, not mapped: a process that is still
 * there could cut the file. One thread.
 */
#ifndef PERF_GPU_RECORD_LOG_FILE_H
#define PERF_GPU_RECORD_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

struct log_file {
	int fd;
	uint64_t session; /* blocks of others are refused */
	struct gpu_log_block *block; /* the one that was read last, and its payload */
	size_t capacity_bytes; /* of what @block points to */
};

/* @fd is owned by the log_file from now on, and closed by log_file__close(). */
struct log_file log_file__new(int fd, uint64_t session);

/**
 * log_file__next - read a block
 *
 * Return: 1 for a whole block, in file->block, with its payload behind it; 0 at the
 * end of the log; -EINVAL for a block that is broken, cut or another session's;
 * -ENOMEM or another errno of read(2). Not printed.
 */
int log_file__next(struct log_file *file);

/* The payload of file->block */
static inline const void *log_file__payload(const struct log_file *file)
{
	return file->block + 1;
}

/* What to tell of an error of log_file__next() */
const char *log_file__strerror(int err);

void log_file__close(struct log_file *file);

#endif
