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

struct collection;

struct collection_counts {
	uint64_t nr_logs; /* that had a whole block */
	uint64_t nr_empty_logs; /* of processes that ended before their first block */
	uint64_t nr_cut_logs; /* that end, or break, in the middle of a block */
	uint64_t bytes; /* of the sidecar */
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

/* Release; without collection__commit() nothing is left. NULL is fine. */
void collection__close(struct collection *collection);

#endif
