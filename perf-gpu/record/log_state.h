/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has to be known of a GPU log's beginning to understand a part of it that comes
 * later: definitions, names of JIT code, where nodes of graphs come from, and the NVTX
 * ranges that are open. One thread.
 *
 * It grows with what is different in the program, not with how long it runs; and never
 * beyond LOG_STATE_MAX_BYTES, beyond which what JIT compilers and graphs told first is
 * forgotten, and counted.
 */
#ifndef PERF_GPU_RECORD_LOG_STATE_H
#define PERF_GPU_RECORD_LOG_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "record/block_builder.h"

#define LOG_STATE_MAX_BYTES (64u << 20)
/* Ranges that are open at once; more are not known in a later part. */
#define LOG_STATE_MAX_RANGES 4096

/* All 0: of a log that has not begun. */
struct log_state {
	unsigned char *records; /* one behind the other */
	size_t nr_bytes, capacity_bytes;
	struct gpu_log_nvtx *ranges; /* begun, and not ended, in their order */
	size_t nr_ranges;
	size_t nr_messages;
	uint64_t nr_forgotten; /* records */
	/* With what can't be forgotten: a log that no library of ours has written */
	bool is_crowded;
	bool is_full; /* by the caller: it is not to grow, for what others have */
};

/* A record belongs to what was before from now on. Return: 0 or -ENOMEM. */
int log_state__take(struct log_state *state, const struct gpu_log_record *record);

/* The beginning of a part. 0 or a negative errno, printed. */
int log_state__write(const struct log_state *state, uint64_t log_id,
		     struct block_builder *to);

void log_state__release(struct log_state *state);

#endif
