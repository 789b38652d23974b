/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sidecar, perf.data.gpu: the whole blocks of every process's log, and the
 * recorder's own block. Written under a temporary name. One thread.
 */
#ifndef PERF_GPU_RECORD_COLLECTION_H
#define PERF_GPU_RECORD_COLLECTION_H

#include <stdint.h>

#include "gpu_log.h"
#include "record/jit_rescue.h"
#include "record/launch_counts.h"
#include "record/log_scan.h"
#include "record/spool.h"
#include "record/tallies.h"

struct collection;

struct collection_counts {
	uint64_t nr_logs; /* that had a whole block */
	uint64_t nr_empty_logs; /* of processes that ended before their first block */
	uint64_t nr_cut_logs; /* that end, or break, in the middle of a block */
	uint64_t bytes; /* of the sidecar */
	uint64_t nr_bytes_cut; /* of logs, by @max_bytes */
};

/**
 * collection__open - create the sidecar under a temporary name
 * @path:    where it will be once committed; kept by reference
 * @session: blocks of others are refused
 * @ret:     released by collection__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int collection__open(const char *path, uint64_t session, struct collection **ret);

/*
 * How much may be taken of the logs; any number, if this isn't called. The rest of the log
 * that has more, and of those behind it, is left out, and counted.
 */
void collection__set_max_bytes(struct collection *collection, uint64_t max_bytes);

/*
 * Launches of before a time (CLOCK_MONOTONIC) at most became samples, for want of room: leave
 * out what the GPU did for others, and count it. 0: all did. Before collection__add_spool().
 */
void collection__stop_at(struct collection *collection, uint64_t time_ns);

/* Append a block, which is whole. 0 or a negative errno, printed. */
int collection__add_block(struct collection *collection,
			  const struct gpu_log_block *block);

/* What processes count, kept by reference: for those whose logs have no end. Before
 * collection__add_spool(). */
void collection__use_tallies(struct collection *collection,
			     const struct tallies *tallies);

/**
 * collection__add_spool - copy the whole blocks of every log in it
 * @launches: that are in perf.data
 *
 * Files that are no regular ones of the recorder's user are left out, with a
 * warning, as is what follows a broken block.
 *
 * Return: 0 or a negative errno, printed, if the sidecar can't be written.
 */
int collection__add_spool(struct collection *collection, const struct spool *spool,
			  const struct launch_counts *launches);

/**
 * collection__add_jit_names - add what processes could not put into their logs any more
 * @clock, @mapped: as in record/jit_rescue.h
 *
 * Call it behind collection__add_spool(). Return: 0 or a negative errno, printed, if
 * the sidecar can't be written.
 */
int collection__add_jit_names(struct collection *collection,
			      const struct clock_pair *clock,
			      const struct build_ids *mapped);

/* Append the recorder's block; fills in @recorder->rec. 0 or -errno, printed. */
int collection__add_recorder(struct collection *collection,
			     struct gpu_log_recorder *recorder);

const struct log_scan *collection__scan(const struct collection *collection);
struct collection_counts collection__counts(const struct collection *collection);

/* Give it its name. 0 or a negative errno, printed; the path is then as it was. */
int collection__commit(struct collection *collection);

/* The same, but another name, in the same folder. */
int collection__commit_as(struct collection *collection, const char *path);

/* Release; without collection__commit() nothing is left. NULL is fine. */
void collection__close(struct collection *collection);

#endif
