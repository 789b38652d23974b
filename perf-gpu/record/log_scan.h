/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorder itself reads of the logs it collects: losses to tell of, and
 * messages for the user. Nothing in a log is trusted. One thread.
 */
#ifndef PERF_GPU_RECORD_LOG_SCAN_H
#define PERF_GPU_RECORD_LOG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "record/call_counts.h"
#include "record/gpu_table.h"
#include "util/account.h"

/* Different texts are kept up to this many; more are counted. */
#define LOG_SCAN_MAX_MESSAGES 32

/* One text, with the first process that said it. */
struct log_message {
	uint32_t severity; /* enum gpu_log_severity */
	uint32_t pid;
	char comm[16];
	uint64_t nr_processes; /* that said it; or times, if one repeats it */
	char *text;
};

/* What is known of a log that is read; all 0 at its beginning. */
struct log_scan_log {
	uint32_t pid;
	char comm[16];
	uint64_t start_ns;
	uint64_t nr_launches;
	uint64_t nr_records; /* by its own count; 0: not known */
	uint64_t nr_records_read;
	uint64_t nr_records_told; /* to be lost, by the log */
	bool has_end; /* by which it has counted all that there was */
	uint64_t perf_map_bytes; /* how much of the process's perf map it has */
	bool is_unended; /* counted in nr_unended */
	bool is_stopped; /* by --max-size: what isn't there is left out for that */
};

struct log_scan {
	uint64_t nr_kernels;
	/* Of GPU records; what became of calls is not known here. */
	struct account account;
	struct call_kinds call_kinds;
	uint64_t nr_missing; /* launches that logs have counted, without a sample */
	uint64_t nr_missing_unended; /* of processes that didn't end in order */
	uint64_t nr_errors; /* processes, or times, that recording was given up */
	uint64_t nr_unended; /* processes that were recorded and didn't end in order */
	struct gpu_table gpus;
	struct log_message messages[LOG_SCAN_MAX_MESSAGES];
	size_t nr_messages;
	uint64_t nr_messages_left_out;
	/* The one that is read: who reads several at once puts that one's here. */
	struct log_scan_log log;
};

/* The next block is of another log. */
void log_scan__begin_log(struct log_scan *scan);

/*
 * So many records of the log were not read, since they are beyond --max-size; more that its
 * process has counted may be so.
 */
void log_scan__leave_out(struct log_scan *scan, uint64_t nr_records);

/**
 * log_scan__tally - the log, of which all has been read, has no end: what its process has
 * counted. (One that has an end stays with that.)
 */
void log_scan__tally(struct log_scan *scan, uint64_t nr_launches, uint64_t nr_records);

/* The log has no more blocks; @nr_samples of its launches are in perf.data. */
void log_scan__end_log(struct log_scan *scan, uint64_t nr_samples);

/**
 * log_scan__block - read the records of a block
 * @payload: 8-byte aligned
 * @bytes:   of it
 *
 * Return: 0; -EINVAL if records don't fill the block as they must, and nothing of it has
 * been counted; or -ENOMEM. Not printed.
 */
int log_scan__block(struct log_scan *scan, const void *payload, size_t bytes);

/* A whole block behind a broken one: what it says of the whole log is all that counts. */
void log_scan__block_behind(struct log_scan *scan, const void *payload, size_t bytes);

/* Print the messages, each text once. */
void log_scan__print(const struct log_scan *scan);

/* Free what it points to. */
void log_scan__release(struct log_scan *scan);

#endif
