/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a perf.data, and what they become among those of others. Stateless. */
#ifndef PERF_GPU_MERGE_RECORDS_H
#define PERF_GPU_MERGE_RECORDS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/shift.h"
#include "perfdata/reader.h"

/* A record's size has 16 bits; a name may grow by a host's. */
#define MERGE_RECORD_MAX_BYTES 65528

/**
 * merge_record__task - whose record it is
 * @ret_pid, @ret_tid: written on success only
 *
 * Return: 0, or a negative errno: -ENOENT if it is of no task; -EINVAL if it is broken.
 */
int merge_record__task(const struct perfdata_reader *reader,
		       const struct perf_event_header *record, uint32_t *ret_pid,
		       uint32_t *ret_tid);

/**
 * merge_record__time - when it happened, by its own clock
 *
 * Return: 1; 0 if it has no place in a merged file, which needs none of its kind;
 * -EINVAL if it is broken, -ENOTSUP if it is of a kind that can't be rewritten.
 */
int merge_record__time(const struct perfdata_reader *reader,
		       const struct perf_event_header *record, uint64_t *ret_ns);

/* What a record is rewritten with. */
struct record_change {
	struct shift shift;
	const uint64_t *event_ids; /* by the reader's events: their ids in the output */
	const char *comm_host; /* put behind names of processes; NULL: nothing */
};

/**
 * merge_record__rewrite - what a record becomes
 * @record: merge_record__time() has found it whole
 * @ret:    8-byte aligned, room for MERGE_RECORD_MAX_BYTES
 *
 * Return: 0, or -EINVAL if it gets larger than a record can be.
 */
int merge_record__rewrite(const struct perfdata_reader *reader,
			  const struct record_change *change,
			  const struct perf_event_header *record, void *ret);

#endif
