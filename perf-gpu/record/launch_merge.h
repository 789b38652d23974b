/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data of launch logs: those of all processes, merged by time, with the records
 * of processes and mappings that the kernel would have made.
 *
 * A log is open from its process's start to its last record, so memory is that of
 * the processes that were there at the same time: for each, what a launch_reader
 * takes, and a file descriptor. One thread.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_MERGE_H
#define PERF_GPU_RECORD_LAUNCH_MERGE_H

#include "record/launch_reader.h"
#include "record/output.h"
#include "record/spool.h"

/**
 * launch_merge__run - write what the launch logs of a spool have
 * @session: logs of others are refused
 * @ret:     what is known to be missing; written on success only
 *
 * The process may have as many files open as it can afterwards: no command is to be
 * executed any more. Of a log that is broken, what is whole is written; that is told.
 *
 * Return: 0 or a negative errno, printed, if perf.data can't be written.
 */
int launch_merge__run(const struct spool *spool, uint64_t session, struct output *output,
		      struct launch_reader_counts *ret);

#endif
