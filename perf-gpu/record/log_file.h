/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of one log of the spool (cupti_inject/gpu_log.h), read one after the
 * other up to the first that isn't whole, as far as there were any when it was opened: a
 * process that is still there could write on without end. Read, not mapped: it could cut the
 * file, too. One that grows is read on when the reader says so, and its space can be given
 * back behind him. One thread.
 */
#ifndef PERF_GPU_RECORD_LOG_FILE_H
#define PERF_GPU_RECORD_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpu_log.h"

struct log_file {
	int fd;
	uint64_t session; /* blocks of others are refused */
	uint64_t searched_bytes; /* for a block behind a broken one */
	struct gpu_log_block *block; /* the one that was read last, and its payload */
	size_t capacity_bytes; /* of what @block points to */
	off_t offset; /* where the last block was looked for */
	off_t next; /* where the next one is */
	off_t freed; /* bytes that were given back, from the beginning on */
	off_t limit; /* no block begins behind it: the size when it was opened */
	bool is_growing; /* by the caller: what isn't whole, up to @limit, may get so */
};

/* @fd is owned by the log_file from now on, and closed by log_file__close(). */
struct log_file log_file__new(int fd, uint64_t session);

/**
 * log_file__next - read a block
 *
 * Return: 1 for a whole block, in file->block, with its payload behind it; 0 at the
 * end of the log, or of what has grown so far; -EINVAL for a block that is broken, cut or another session's;
 * -ENOMEM or another errno of read(2). Not printed.
 */
int log_file__next(struct log_file *file);

/**
 * log_file__find - go on behind a block that log_file__next() has found broken
 *
 * Return: as log_file__next(); 0 if there is no whole block up to the end, or what there is
 * is too odd to be searched further.
 */
int log_file__find(struct log_file *file);

/* The payload of file->block */
static inline const void *log_file__payload(const struct log_file *file)
{
	return file->block + 1;
}

/*
 * Give back the space of what was read, if the file is open for writing and its file
 * system can. Return: 0 or a negative errno, not printed.
 */
int log_file__free_read(struct log_file *file);

/* What to tell of an error of log_file__next(): what is the matter with the log, ... */
const char *log_file__what(int err, bool is_begun);
/* ... and why */
const char *log_file__strerror(int err);

void log_file__close(struct log_file *file);

#endif
