/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process's launch log (gpu_log.h): with --stacks process, launches and their
 * stacks, and the mappings and threads that give them names, go in here instead of to
 * the kernel.
 *
 * A stack is written once, and known by its id from then on. Records gather in one of
 * two blocks while the other is being written, so that a launch seldom waits for the
 * disk. What can't be written is kept as long as there is room, then counted.
 *
 * A block of the process's log is written behind what is here by then: a kernel, or a
 * call, that is in the one file has its launch in the other, also after a kill. So this
 * log's mutexes are taken within that one's, never the other way round.
 *
 * All functions may be called from any thread.
 */
#ifndef PERF_GPU_INJECT_LAUNCH_LOG_H
#define PERF_GPU_INJECT_LAUNCH_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"
#include "stack.h"

struct launch_log;

/* A launch's stack, made in place: what launches are told apart by. */
struct launch_stack {
	uint32_t tid; /* filled in by launch_log__launch() */
	uint32_t api;
	uint32_t nr_frames;
	uint32_t pad; /* 0 */
	uint64_t frames[STACK_MAX_FRAMES];
};

/**
 * launch_log__open - create the file, beside the process's log
 * @spool, @session: as the log's
 * @log:  whose id and process it shares
 * @ret:  lives until the process ends; written on success only
 *
 * Return: 0 or a negative errno.
 */
int launch_log__open(const char *spool, uint64_t session, struct log *log,
		     struct launch_log **ret);

/*
 * As log__close() and log__reopen(), which comes before: the id of the log is taken
 * from it.
 */
void launch_log__close(struct launch_log *log);
int launch_log__reopen(struct launch_log *log, const char *spool, uint64_t session);

/**
 * launch_log__launch - append a launch of the calling thread, at this moment
 * @key:   GPU_LOG_LAUNCH's correlation_id
 * @stack: its tid is filled in here
 */
void launch_log__launch(struct launch_log *log, uint64_t key, struct launch_stack *stack);

/* Write what there is. */
void launch_log__flush(struct launch_log *log);

/* As log__end() */
void launch_log__end(struct launch_log *log, uint64_t nr_launches);

#endif
