/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of perf-gpu export --sqlite: nsys' names of tables and columns. */
#ifndef PERF_GPU_SINK_NSYS_TABLES_H
#define PERF_GPU_SINK_NSYS_TABLES_H

#include <stdint.h>

enum nsys_table {
	NSYS_STRINGS,
	NSYS_KERNEL,
	NSYS_MEMCPY,
	NSYS_MEMSET,
	NSYS_SYNC,
	NSYS_RUNTIME,
	NSYS_CALLCHAINS,
	NSYS_ALLOC,
	NSYS_NVTX,
	NSYS_GPU,
	NSYS_CUDA_DEVICE,
	NSYS_START_TIME,
	NSYS_DETAILS,
	NSYS_PROCESSES,
	NSYS_THREAD_NAMES,
	NSYS_MEMCPY_KINDS,
	NSYS_MEMORY_KINDS,
	NSYS_SYNC_KINDS,
	NR_NSYS_TABLES,
};

struct nsys_table_format {
	const char *name;
	const char *columns; /* with their types; in the order that rows are written in */
	unsigned int nr_columns;
	unsigned int nr_unknown; /* columns behind those, which are always NULL */
};

extern const struct nsys_table_format nsys_tables[NR_NSYS_TABLES];

/* Rows of the tables that tell what numbers mean */
struct nsys_enum {
	enum nsys_table table;
	long long id;
	const char *name, *label;
};

extern const struct nsys_enum nsys_enums[];
extern const unsigned int nsys_nr_enums;

/* globalTid, or with thread 0 globalPid */
static inline int64_t nsys__global_id(uint32_t pid, uint32_t tid)
{
	return (int64_t)pid << 24 | (tid & 0xffffff);
}

/* NVTX_EVENTS.eventType */
#define NSYS_NVTX_MARK	    34
#define NSYS_NVTX_PUSH_POP  59
#define NSYS_NVTX_START_END 60
#define NSYS_NVTX_DOMAIN    75 /* a domain gets its name */

#endif
