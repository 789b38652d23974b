/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of blocks (gpu_log.h) in the recorder's spool folder.
 *
 * A block is written whole or not at all, where the last one ended, and in the order in which
 * they are begun. Nothing is locked here: of a file, and of a block, one thread at a time.
 */
#ifndef PERF_GPU_INJECT_BLOCK_FILE_H
#define PERF_GPU_INJECT_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "log_memory.h"

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

/* Where it is noted how far the file is written; before the first block. */
void block_file__note_in(struct block_file *file, struct log_memory_file *state);

/* A block that is empty: it will be written behind those that were begun before. */
void block_file__begin(struct block_file *file, struct block *block);

/**
 * block_file__write - append a block that was begun, and begin it anew, empty
 *
 * One without records is not written. Return: 0 or a negative errno, after which the
 * block is as it was.
 */
int block_file__write(struct block_file *file, struct block *block);

/* Is an error of block_file__write()'s one that the recorder would have, too? */
bool block_file__is_full(int err);

/*
 * Has the recorder removed the file? It does so when its command ends; a process
 * that outlives the command then writes for nobody.
 */
bool block_file__is_abandoned(struct block_file *file);

void block_file__close(struct block_file *file); /* NULL is fine */

#endif
