/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process has recorded and not written yet, and how much it has seen, in memory that
 * the recorder has, too: a memfd that the process makes with its log, and sends
 * (log_request.h). However the process ends, by SIGKILL or _exit(), the recorder then writes
 * the rest of its files itself.
 *
 *   struct tally_page        how much
 *   struct log_memory_file   of each of its files, how far it is written
 *   struct block             that of the log, and two of the launch log
 *
 * A block belongs at the end of its file if its sequence is higher than that of the one that
 * was written last, those with lower sequences first. A write that was done, but not noted,
 * is so done again, at the same place.
 *
 * The process writes, the recorder reads when the process is gone. The memfd is sealed, so
 * that it doesn't shrink under the recorder's hands; what is in it is as trustworthy as a
 * log is.
 */
#ifndef PERF_GPU_INJECT_LOG_MEMORY_H
#define PERF_GPU_INJECT_LOG_MEMORY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "tally_page.h"

#define LOG_MEMORY_NAME	 "perf-gpu-log"
#define LOG_MEMORY_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum { LOG_MEMORY_LOG, LOG_MEMORY_LAUNCH_LOG, LOG_MEMORY_NR_FILES };

#define LOG_MEMORY_LAUNCH_BLOCKS 2

/* How far a file is written */
struct log_memory_file {
	uint64_t nr_writes; /* by its lowest bit, which of the two below holds */
	struct {
		uint64_t sequence; /* of the block that was written last; 0: none was */
		uint64_t bytes; /* of whole blocks in the file */
	} written[2];
};

struct log_memory {
	struct tally_page tally;
	struct log_memory_file files[LOG_MEMORY_NR_FILES];
	uint64_t pad[502];
	struct block block; /* of the log */
	struct block launch_blocks[LOG_MEMORY_LAUNCH_BLOCKS];
};

_Static_assert(sizeof(struct log_memory_file) == 40, "shared with the recorder");
_Static_assert(offsetof(struct log_memory, block) == 8192, "shared with the recorder");

#endif
