/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the process's log (format and invariants: gpu_log.h).
 *
 * Records gather in one block in memory, which is written when it is full and
 * at every log__flush(). If a block can't be written it is kept and tried again
 * at the next flush; what comes while it is full is counted as lost, and the
 * count is written as soon as there is room.
 *
 * All functions may be called from any thread; each takes the log's mutex and
 * calls nothing of CUDA's while it holds it.
 */
#ifndef PERF_GPU_INJECT_LOG_H
#define PERF_GPU_INJECT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_log.h"

struct log;
struct log_memory;
struct tally;

/**
 * log__open - create the process's log and write who it is
 * @spool:     directory
 * @session:   of the recording
 * @is_forked: the process is a fork of one that has a log
 * @ret:       lives until the process ends; written on success only
 *
 * Return: 0 or a negative errno.
 */
int log__open(const char *spool, uint64_t session, bool is_forked, struct log **ret);

/**
 * log__close - give up the file
 *
 * The log stays: a thread that is late may still append to it, for nobody.
 */
void log__close(struct log *log);

/**
 * log__write_behind - have something written before each block is
 * @flush: called with @ctx and the log's mutex held; calls nothing of the log's
 *
 * So that what records refer to is in its own file, however the process ends.
 */
void log__write_behind(struct log *log, void (*flush)(void *ctx), void *ctx);

/* A new log, of another recording, in the place of one that is closed. 0 or -errno. */
int log__reopen(struct log *log, const char *spool, uint64_t session);

uint64_t log__id(const struct log *log);

/* Where launches are counted, of each recording anew; GPU records are here. */
struct tally *log__tally(struct log *log);

/*
 * What the recorder has, too, for this recording: what is in there when the process has ended,
 * however that was, gets into its files. NULL: nothing, as in a forked child.
 */
struct log_memory *log__shared(struct log *log);

/* Whose log it is, and in which pid namespace; the rec members are not filled in. */
void log__get_process(struct log *log, struct gpu_log_process *ret);
void log__get_namespace(struct log *log, struct gpu_log_namespace *ret);

/* Versions for the process record, once known: written again, with the rest. */
void log__set_versions(struct log *log, uint32_t cupti, uint32_t driver);

/**
 * log__kernel - append one execution of a kernel
 * @name:   as CUPTI gives it; compared by content, so it may be freed later
 * @shape:  its rec, shape and name members are filled in here
 */
void log__kernel(struct log *log, const char *name, struct gpu_log_shape *shape,
		 uint64_t correlation_id, uint64_t start_ns, uint64_t end_ns);

/**
 * log__activity - append one execution of a copy, a memset, a sync, or a fault
 * @operation: its rec, operation and name members are filled in here
 * @activity:  its rec and operation members are
 */
void log__activity(struct log *log, struct gpu_log_operation *operation,
		   struct gpu_log_activity *activity);

/**
 * log__memory - append that memory was allocated or freed
 * @name: of the variable; NULL if it has none. Compared by content.
 */
void log__memory(struct log *log, const char *name, struct gpu_log_operation *operation,
		 struct gpu_log_memory *memory);

/* What is recorded: GPU_LOG_EVENT_BIT()s, GPU_LOG_KIND_BIT()s. The last call holds. */
void log__events(struct log *log, uint32_t events, uint32_t kinds);

/*
 * The name of an API function, and what its calls give records of: GPU_LOG_KIND_BIT()s.
 * Call once for each. Return: 0, or -ENOSPC, after which it is not told, and can be again.
 */
int log__api(struct log *log, uint32_t api, const char *name, uint32_t kinds);

/**
 * log__python_code - the id of a Python function's code
 * @name, @file: UTF-8
 * @first_line: 0 if it has none
 *
 * The same for the same three, which are written at the first call.
 *
 * Return: the id, from 1, or 0 if there is no room.
 */
uint32_t log__python_code(struct log *log, const char *name, const char *file,
			  uint32_t first_line);

/* A call of one; the rec member is filled in here. */
void log__api_call(struct log *log, struct gpu_log_api_call *call);

/* A device's facts; its rec and name members are filled in here. */
void log__device(struct log *log, const char *name, struct gpu_log_device *device);

void log__context(struct log *log, struct gpu_log_context *context);

/**
 * log__nvtx - append what the program says it is doing
 * @domain, @name: UTF-8; NULL: none
 * @nvtx:  its rec, domain and name members are filled in here
 *
 * Cancels no thread: whoever calls it from one of the program's sees to that.
 */
void log__nvtx(struct log *log, const char *domain, const char *name,
	       struct gpu_log_nvtx *nvtx);

/* Which of a job's processes it is; its rec and source members are filled in here. */
void log__rank(struct log *log, const char *source, struct gpu_log_rank *rank);

/* Where a graph's node comes from; the rec member is filled in here. */
void log__graph_node(struct log *log, struct gpu_log_graph_node *node);

/* Count lost records; they are told at the next flush. */
void log__count_lost(struct log *log, enum gpu_log_loss_kind kind, uint64_t nr);

/* Tell the user something, through the recorder. Flushes. */
void log__message(struct log *log, enum gpu_log_severity severity, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * log__jit - append a piece of what a JIT compiler says of its code
 * @piece: its rec member is ignored; @deflated has piece->nr_deflated_bytes
 *
 * Return: 0 or -ENOSPC, after which it can be tried again behind a flush.
 */
int log__jit(struct log *log, const struct gpu_log_jit *piece, const void *deflated);

/* Write what there is. */
void log__flush(struct log *log);

/*
 * Has the recorder removed the file? It does so when its command ends; a process
 * that outlives the command then writes for nobody.
 */
bool log__is_abandoned(struct log *log);

/*
 * Append the end record, and write what there is. What can't be written is left to the
 * recorder, if he has the memory and may have the room; else it becomes a loss. The log stays
 * usable.
 */
void log__end(struct log *log, uint64_t nr_launches);

#endif
