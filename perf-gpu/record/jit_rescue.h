/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of JIT code that a process could not put into its log any more: it was killed,
 * or crashed, and what its runtime wrote last is in its files alone. They are read as
 * the recorder sees them, if they can be the process's. One thread.
 */
#ifndef PERF_GPU_RECORD_JIT_RESCUE_H
#define PERF_GPU_RECORD_JIT_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jit_file.h"
#include "record/build_ids.h"
#include "record/features.h"
#include "util/log.h"

/* A log, and how much of the process's perf map is in it. */
struct jit_log {
	uint64_t log_id;
	uint64_t start_ns;
	uint32_t pid; /* as the process itself sees it, by which its files are named */
	uid_t uid; /* whose process it was */
	bool is_ended; /* in order: all that there was is in its log */
	uint64_t perf_map_bytes;
};

/* All logs of a recording; all 0 is none. */
struct jit_logs {
	struct jit_log *logs;
	size_t nr, capacity;
	struct log_limit limit; /* of warnings */
};

int jit_logs__add(struct jit_logs *logs, const struct jit_log *log); /* 0 or -ENOMEM */

/* Tells how many warnings were left out, if there were any. */
void jit_logs__release(struct jit_logs *logs);

/**
 * jit_rescue__read - read the files of a process
 * @logs, @i: whose; nothing is read for one that ended
 * @clock:    of the recording: a file that was not written to since it began is
 *            another process's
 * @mapped:   what the recorded processes have mapped: a jitdump is among it
 * @take:     gets the pieces, with @ctx
 *
 * Return: 0, also if there is nothing to read, or @take's error. What can't be read of a
 * file that is the process's is told, within a limit; and with pr_debug(), why others aren't.
 */
int jit_rescue__read(struct jit_logs *logs, size_t i, const struct clock_pair *clock,
		     const struct build_ids *mapped, jit_file_take_fn *take, void *ctx);

#endif
