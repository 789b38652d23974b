/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is to be merged: perf.data and its sidecar, and what must be known of
 * them before anything can be written. One thread.
 */
#ifndef PERF_GPU_MERGE_INPUT_H
#define PERF_GPU_MERGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "util/pid_set.h"
#include "merge/shift.h"
#include "perfdata/reader.h"
#include "sidecar/blocks.h"
#include "source/recording.h"

/*
 * Files of one record --switch-output are parts of one recording: inputs that follow each
 * other, by time. Nothing but the plan knows so of others.
 */
struct merge_input {
	const char *path; /* of perf.data, or of an archive */
	struct recording files;
	const char *sidecar_path; /* for messages */
	struct perfdata_reader *reader;
	struct sidecar_file *sidecar;
	uint64_t session;
	const char *host; /* "" if perf.data doesn't say; "a,b" of one that was merged */
	const char *arch; /* likewise */
	/* CLOCK_REALTIME when its CLOCK_MONOTONIC was 0 */
	int64_t boot_ns;
	/* What all RECORDER blocks say; counts are sums */
	struct gpu_log_recorder recorder;
	uint64_t *log_ids; /* of the sidecar, sorted, each once */
	size_t nr_logs;
	bool has_origins; /* it is a merged one: its logs say themselves where they are of */
	struct pid_set pids;
	/* of the plan */
	struct merge_input
		*whole; /* the recording's first part; itself, mostly; NULL before */
	struct merge_input *next_part; /* NULL: there is none */
	/*
	 * By the log: launches of parts before, which are counted where the log ends. NULL:
	 * none.
	 */
	uint64_t *earlier_launches;
	struct shift shift;
	char *comm_host; /* behind names of processes; NULL: nothing */
};

/**
 * merge_input__open - open the two files, check them, and read all that is in them once
 * @path: of perf.data, or of an archive; kept by reference
 * @ret:  released by merge_input__close(); written on success only
 *
 * Return: 0 or a negative errno, printed: those of open(2); -EINVAL if it is no
 * recording of perf-gpu record, or the two files are of two recordings; -ENOTSUP for
 * what a later version has written; -ENODATA if nothing tells its clock; -ENOMEM.
 */
int merge_input__open(const char *path, struct merge_input **ret);
void merge_input__close(struct merge_input *input); /* NULL is fine */

static inline bool merge_input__has_parts(const struct merge_input *input)
{
	return input->whole && input->whole->next_part;
}

/*
 * Records of mappings and processes that were lost in the recording whose first part it is:
 * each part tells of all until its end. 0 of later parts
 */
uint64_t merge_input__lost_sideband(const struct merge_input *input);

/* Where a log is in log_ids; -ENOENT */
ptrdiff_t merge_input__find_log(const struct merge_input *input, uint64_t log_id);

/* Is it an event of launches, of perf-gpu record's? */
bool merge_input__is_launch(const struct perf_event_attr *attr);

#endif
