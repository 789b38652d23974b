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

struct log_scan {
	uint64_t nr_kernels;
	uint64_t nr_unknown_time; /* of them: CUPTI didn't know when they ran */
	uint64_t nr_dropped; /* GPU records lost, by the logs' own account */
	uint64_t nr_missing; /* launches that logs have counted, without a sample */
	uint64_t nr_errors; /* processes, or times, that recording was given up */
	uint64_t nr_unended; /* processes that were recorded and didn't end in order */
	struct log_message messages[LOG_SCAN_MAX_MESSAGES];
	size_t nr_messages;
	uint64_t nr_messages_left_out;
	/* of the log that is read */
	uint32_t pid;
	char comm[16];
	uint64_t start_ns;
	uint64_t nr_launches_of_log;
	uint64_t perf_map_bytes; /* how much of the process's perf map it has */
	bool is_unended_log; /* counted in nr_unended */
};

/* The next block is of another log. */
void log_scan__begin_log(struct log_scan *scan);

/* The log has no more blocks; @nr_samples of its launches are in perf.data. */
void log_scan__end_log(struct log_scan *scan, uint64_t nr_samples);

/**
 * log_scan__block - read the records of a block
 * @payload: 8-byte aligned
 * @bytes:   of it
 *
 * Return: 0, -EINVAL if records don't fill the block as they must, or -ENOMEM; what
 * precedes the broken one has been counted. Not printed.
 */
int log_scan__block(struct log_scan *scan, const void *payload, size_t bytes);

/* Print the messages, each text once. */
void log_scan__print(const struct log_scan *scan);

/* Free what it points to. */
void log_scan__release(struct log_scan *scan);

#endif
