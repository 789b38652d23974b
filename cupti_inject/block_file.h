/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of blocks (gpu_log.h) in the recorder's spool folder, and the block in
 * memory that records gather in.
 *
 * A block is written whole or not at all, where the last one ended. Nothing is locked
 * here: of a file, and of a block, one thread at a time.
 */
#ifndef PERF_GPU_INJECT_BLOCK_FILE_H
#define PERF_GPU_INJECT_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/* A payload that the reader must take whole, and a tenth of a second of kernels */
#define BLOCK_PAYLOAD_BYTES (256u << 10)

struct block {
	struct gpu_log_block header; /* payload_bytes: how much is used */
	unsigned char payload[BLOCK_PAYLOAD_BYTES];
};

/* Make it an empty block of a log. */
void block__init(struct block *block, uint64_t session, uint64_t log_id);

/**
 * block__reserve - room for a record
 * @size: of the record, header included; rounded up to a multiple of 8
 *
 * Return: the record with its header filled in and the rest 0; NULL if the block
 * hasn't the room.
 */
void *block__reserve(struct block *block, enum gpu_log_type type, size_t size);

/* The record after another one, or the first after NULL; NULL: there is none. */
const struct gpu_log_record *block__next(const struct block *block,
					 const struct gpu_log_record *record);

struct block_file;

/* Suffixes of files' names, by their kind */
#define BLOCK_FILE_LOG	      ".gpulog"
#define BLOCK_FILE_LAUNCH_LOG ".gpulaunch"

/**
 * block_file__open - create a file, or have the recorder do it
 * @spool:  directory
 * @log_id: in its name, with the pid
 * @suffix: BLOCK_FILE_*
 * @ret:    released by block_file__close(); written on success only
 *
 * Return: 0 or a negative errno.
 */
int block_file__open(const char *spool, uint64_t log_id, const char *suffix,
		     struct block_file **ret);

/**
 * block_file__write - append a block, and empty it
 *
 * One without records is not written. Return: 0 or a negative errno, after which the
 * block is as it was.
 */
int block_file__write(struct block_file *file, struct block *block);

/*
 * Has the recorder removed the file? It does so when its command ends; a process
 * that outlives the command then writes for nobody.
 */
bool block_file__is_abandoned(struct block_file *file);

void block_file__close(struct block_file *file); /* NULL is fine */

#endif
