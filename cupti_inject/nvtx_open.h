/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ranges that are open in this process, whether they are recorded or not: a
 * recording that begins within them is told of them, and when it stops they are ended
 * in the log, so that a log has whole ranges wherever it has something to be labelled.
 *
 *   push, pop    ranges of a thread, one within the other; each thread has a list
 *   start, end   ranges of the process, by an id
 *
 * From any thread. Each has locks of its own, which it holds while it writes to the
 * log; nothing of others is called then. In a signal handler that interrupts one of
 * these in its thread, they do nothing.
 */
#ifndef PERF_GPU_INJECT_NVTX_OPEN_H
#define PERF_GPU_INJECT_NVTX_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"

/* More of them at once, in a thread or the process, are left out of the log. */
#define NVTX_MAX_THREAD_RANGES	1024
#define NVTX_MAX_PROCESS_RANGES 65536

/*
 * @domain: kept to the end of the process, as nvtx_names__text() gives it; NULL: the
 *          default
 * @name:   UTF-8, copied; NULL: it has none
 */

/* Return: as nvtxRangePush() does: how many of the domain's it is within. */
int nvtx_open__push(const char *domain, const char *name);

/* End the domain's innermost. Return: as nvtxRangePop() does; -1 if none is open. */
int nvtx_open__pop(const char *domain);

/* A new id for nvtx_open__start(), which no other tool would think of; never 0 */
uint64_t nvtx_open__new_id(void);
bool nvtx_open__is_own_id(uint64_t id);

/* @id: what the program gets; if two are open with the same, the last is ended first */
void nvtx_open__start(const char *domain, const char *name, uint64_t id);
void nvtx_open__end(const char *domain, uint64_t id);

void nvtx_open__mark(const char *domain, const char *name);

/* Tell a log, from now on, and of what is open. One thread at a time. */
void nvtx_open__record(struct log *log);

/* No more: what is open ends in the log. The same. */
void nvtx_open__stop(void);

/* In a forked child, in which only the calling thread is left: nothing is recorded. */
void nvtx_open__after_fork(void);

#endif
