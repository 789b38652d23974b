/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes what a process that is gone had recorded and not written yet, from the memory that it
 * shares with us (cupti_inject/log_memory.h), to the end of its own files. One thread.
 */
#ifndef PERF_GPU_RECORD_UNWRITTEN_H
#define PERF_GPU_RECORD_UNWRITTEN_H

#include <stdint.h>

#include "log_memory.h"
#include "record/spool.h"
#include "record/tallies.h"

/**
 * unwritten__write - complete the files of a process
 * @memory:  may have anything in it, and may change meanwhile
 * @session: of the logs
 *
 * Of what isn't as the process's own library leaves it, nothing is written. What can't be
 * written is left out, with nothing printed.
 */
void unwritten__write(const struct log_memory *memory, const struct spool *spool,
		      uint64_t session, const struct tally_owner *owner);

#endif
