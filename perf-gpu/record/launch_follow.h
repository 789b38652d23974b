/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data of launch logs that still grow: for a recording of several files, or of the
 * newest only. What was read is given back to the file system, and a log is removed when
 * its process has ended; records are in the order of time within each log alone. One thread.
 *
 * Takes a file descriptor and a launch_reader's memory for each process that is there.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_FOLLOW_H
#define PERF_GPU_RECORD_LAUNCH_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "record/launch_reader.h"
#include "record/output.h"
#include "record/spool.h"
#include "record/tallies.h"

struct launch_follow;

/**
 * launch_follow__new
 * @tallies: of the processes; NULL: there are none
 *
 * The pointers are kept. Return: 0 or -ENOMEM.
 */
int launch_follow__new(const struct spool *spool, struct tallies *tallies,
		       uint64_t session, struct output *output,
		       struct launch_follow **ret);

/**
 * launch_follow__poll - write what the logs have by now
 * @is_last: what isn't whole by now won't get so
 *
 * Return: 0 or a negative errno, printed, if perf.data can't be written.
 */
int launch_follow__poll(struct launch_follow *follow, bool is_last);

/* Of all logs so far */
struct launch_reader_counts launch_follow__counts(const struct launch_follow *follow);

void launch_follow__delete(struct launch_follow *follow); /* NULL is fine */

#endif
