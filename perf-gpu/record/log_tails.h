/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPU logs of a spool, read while they grow, for a recording of several files: what
 * was read is given back to the file system, so that the spool doesn't grow with the
 * recording, and the log of a process that has ended is removed. One thread.
 */
#ifndef PERF_GPU_RECORD_LOG_TAILS_H
#define PERF_GPU_RECORD_LOG_TAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfdata/buffer.h"
#include "record/log_file.h"
#include "record/log_scan.h"
#include "record/log_state.h"
#include "record/spool.h"
#include "record/tallies.h"

/* A log. */
struct log_tail {
	char *name;
	struct log_file file; /* fd -1: nothing more comes */
	uint64_t log_id; /* 0: not known yet */
	uid_t uid;
	bool is_broken; /* what follows is lost */
	bool has_end; /* its process has ended in order, as far as it goes */
	bool is_over; /* its process is there no more */
	unsigned int nr_idle; /* looks since it grew */
	struct log_scan_log scan;
	/* for who reads them: see record/rotation.h */
	struct log_state state; /* of before what is kept, or of before the file */
	struct perfdata_buffer makers; /* samples of before: of nodes of graphs */
	uint64_t nr_before; /* launches in files before */
	uint64_t nr_in_file; /* launches */
	bool is_settled; /* its scan is at its end */
	uint64_t nr_launches; /* that its last end has counted */
	uint64_t forgotten_key; /* the highest of a launch that isn't kept any more */
	uint64_t forgotten_before; /* the highest of one that this file hasn't, either */
	uint64_t over_ns; /* since when it is over */
	size_t nr_kept; /* blocks */
};

struct log_tails {
	const struct spool *spool;
	uint64_t session;
	struct tallies *tallies; /* NULL: there are none */
	struct log_tail **tails; /* by log_id; those that have none yet are first */
	size_t nr, capacity;
	void *by_name; /* the same: a tree of tsearch(3) */
	uint64_t nr_logs, nr_empty, nr_cut; /* as struct collection_counts has them */
	struct log_limit warnings;
	bool is_stuck; /* space can't be given back here */
};

/**
 * log_tails__look - find new logs, and how far they have grown
 *
 * What log_tails__read() reads then was there by now. Return: 0 or a negative errno,
 * printed.
 */
int log_tails__look(struct log_tails *tails);

/**
 * log_tails__read - read what there was at the last look
 * @is_last: what isn't whole by now won't get so
 * @take:    gets each block, with @ctx. Returns 0; -EINVAL for a block that breaks the
 *           format, behind which nothing of the log is read; or another negative errno to
 *           end with
 *
 * Return: 0 or @take's error; or -ENOMEM, printed.
 */
int log_tails__read(struct log_tails *tails, bool is_last,
		    int (*take)(void *ctx, struct log_tail *tail,
				const struct gpu_log_block *block),
		    void *ctx);

struct log_tail *log_tails__find(const struct log_tails *tails, uint64_t log_id);

/* Forget a log, whose place the one behind it gets. */
void log_tails__forget(struct log_tails *tails, size_t index);

void log_tails__release(struct log_tails *tails);

#endif
