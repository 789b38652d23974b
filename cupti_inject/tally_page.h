/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a process has seen, in memory that the recorder has, too (log_memory.h). A log
 * ends with the same counts (GPU_LOG_END); a process that is killed, or executes, or whose
 * files can't be written, has no such end, and what it had not written yet would be missed by
 * nobody.
 */
#ifndef PERF_GPU_INJECT_TALLY_PAGE_H
#define PERF_GPU_INJECT_TALLY_PAGE_H

#include <assert.h>
#include <stdint.h>

struct tally_page {
	/* As GPU_LOG_END has it. On a cache line of its own: all threads that launch add. */
	uint64_t nr_launches;
	uint64_t pad1[15];
	/* Of the types that GPU_LOG_LOSS_WRITE counts: written, to be written, or lost */
	uint64_t nr_records;
	uint64_t pad2[495];
};

_Static_assert(sizeof(struct tally_page) == 4096, "shared with the recorder");

#endif
