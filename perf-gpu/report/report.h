/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What samples come to, as tables: a row for each kernel, direction of copies, kind of
 * wait, API function and so on, with the callers that sent it to the GPU and the shapes
 * that it had there; in groups, if that is asked for.
 *
 *   group    row              callers                shapes
 *   GPU 0 ── gpu-kernel k ─┬─ step   60 %         ┌─ grid 1,1,1 block 32,1,1
 *         │                └─ warm_up 40 %        └─ grid 8,1,1 block 32,1,1
 *         └─ gpu-memcpy HtoD ── load 100 %
 *
 * By NVTX range, rows are the ranges in place of kernels, with what was launched within
 * each, and the kernels in place of callers:
 *
 *   gpu-kernel epoch ─┬─ gemm 60 %       all that was launched while it was open; own:
 *                     └─ relu 40 %       where no other was open within it
 *
 * All of it is exact. Memory grows with what is different: rows, their callers and
 * shapes, and the distinct values of a row (report/spread.h); not with samples.
 *
 * One thread.
 */
#ifndef PERF_GPU_REPORT_REPORT_H
#define PERF_GPU_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/gpu_time.h"
#include "report/spread.h"
#include "sink/frame_names.h"
#include "sink/sink.h"

/* By what samples are put into groups: bits */
enum report_by {
	REPORT_BY_DEVICE = 1 << 0,
	REPORT_BY_STREAM = 1 << 1,
	REPORT_BY_PROCESS = 1 << 2,
	REPORT_BY_RANK = 1 << 3,
	REPORT_BY_NVTX = 1 << 4, /* which makes no groups, but other rows */
};

#define REPORT_BY_GROUPS \
	(REPORT_BY_DEVICE | REPORT_BY_STREAM | REPORT_BY_PROCESS | REPORT_BY_RANK)
/* Those that need gpu_sample.labels */
#define REPORT_BY_LABELS \
	(REPORT_BY_DEVICE | REPORT_BY_STREAM | REPORT_BY_RANK | REPORT_BY_NVTX)

/* Of what it is; what isn't asked for, or isn't known, is -1. */
struct report_group {
	int64_t device, stream, pid, rank;
	char comm[16]; /* with pid; "" if not known */
};

struct report_row {
	uint32_t group, event; /* index; enum gpu_log_event */
	/* "[GPU_Kernel]sgemm", or a range's name; see report_row__name() */
	const struct frame_name *leaf;
	/* Of periods; of a range, of what each time that it was open comes to */
	struct spread spread;
	uint64_t nr; /* samples */
	uint64_t own; /* of spread.sum, what is in no other row; of a kernel all */
	bool is_range; /* by NVTX: a row of what was within no range is none */
	uint64_t ns, bytes; /* of activities that have them; else 0 */
	/* Indexes, valid once the report is finished */
	size_t first_caller, nr_callers, first_shape, nr_shapes;
};

struct report_caller {
	uint32_t row;
	const struct frame_name
		*name; /* by NVTX range: a leaf; see report_leaf__name() */
	uint64_t nr, period;
};

/* How a kernel was launched */
struct report_shape {
	uint32_t row;
	uint32_t grid[3], block[3];
	uint32_t registers_per_thread, static_shared_bytes, dynamic_shared_bytes;
	uint64_t nr, period;
};

struct report_table; /* private: how the arrays are searched */

struct report {
	unsigned int by; /* enum report_by bits */
	bool has_shapes; /* are they collected? */
	struct report_group *groups; /* at least one, if there is a row */
	struct report_row *rows;
	/* Valid once the report is finished. Of a row by period, largest first */
	struct report_caller *callers;
	struct report_shape *shapes; /* likewise */
	size_t nr_groups, nr_rows, nr_callers, nr_shapes;
	/* Valid once the report is finished. By stream: of each, too, behind all GPUs */
	struct gpu_time *gpus;
	size_t nr_gpus;
	bool has_gpus; /* was all that a GPU does recorded? Else there are none above */
	struct report_table *table;
};

/**
 * report__new - without a row
 * @by: enum report_by bits
 * @ret: released by report__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, as all below that return an int.
 */
int report__new(unsigned int by, bool has_shapes, struct report **ret);
void report__delete(struct report *report); /* NULL is fine */

/* What samples refer to; before the first one. It is read until report__stop(). */
int report__start(struct report *report, const struct sink_input *input);

int report__add(struct report *report, const struct gpu_sample *sample);

/* Behind the last sample: sort, and find how GPUs spent their time. */
int report__finish(struct report *report);

/* From here on what report__start() was given isn't read any more. */
void report__stop(struct report *report);

/* "sgemm" of "[GPU_Kernel]sgemm"; of what has no more name than that, all of it */
const char *report_row__name(const struct report_row *row);
/* The same of a name that is in place of a caller of a row of @event */
const char *report_leaf__name(uint32_t event, const struct frame_name *leaf);

/* Are the values of an event's rows bytes? Else they are nanoseconds. */
bool report__is_in_bytes(uint32_t event);

/* Does an event have both a duration and bytes, so that there is a rate? */
bool report__has_rate(uint32_t event);

#endif
