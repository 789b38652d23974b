// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/gpu_log_cursor.h"
#include "util/gpu_log_sizes.h"
#include "util/log.h"
#include "util/sum.h"

void log_scan__begin_log(struct log_scan *scan)
{
	scan->log = (struct log_scan_log){0};
}

static struct log_message *find_message(struct log_scan *scan, uint32_t severity,
					const char *text)
{
	for (size_t i = 0; i < scan->nr_messages; i++) {
		struct log_message *message = &scan->messages[i];

		if (message->severity == severity && !strcmp(message->text, text))
			return message;
	}
	return NULL;
}

/* A log begins unended; its end, or that nothing is recorded, settles that. */
static void set_unended(struct log_scan *scan, bool is_unended)
{
	if (is_unended == scan->log.is_unended)
		return;
	scan->log.is_unended = is_unended;
	scan->nr_unended += is_unended ? 1 : -1ull;
}

/* NULL if it has no end */
static const char *text_of(const struct gpu_log_message *record)
{
	return gpu_log_record__text(&record->rec, record->text, record->nr_bytes);
}

static int scan_message(struct log_scan *scan, const struct gpu_log_message *record)
{
	const char *text = text_of(record);
	struct log_message *message;

	if (record->severity >= GPU_LOG_ERROR) {
		scan->nr_errors++;
		set_unended(scan, false);
	}
	message = find_message(scan, record->severity, text);
	if (message) {
		message->nr_processes++;
		return 0;
	}
	if (scan->nr_messages == LOG_SCAN_MAX_MESSAGES) {
		scan->nr_messages_left_out++;
		return 0;
	}
	message = &scan->messages[scan->nr_messages];
	message->text = strdup(text);
	if (!message->text)
		return -ENOMEM;
	message->severity = record->severity;
	message->pid = scan->log.pid;
	memcpy(message->comm, scan->log.comm, sizeof(message->comm));
	message->nr_processes = 1;
	scan->nr_messages++;
	return 0;
}

/* A log can end more than once; the last end counts all launches. */
static void scan_end(struct log_scan *scan, const struct gpu_log_end *end)
{
	set_unended(scan, false);
	scan->log.has_end = true;
	if (end->nr_launches > scan->log.nr_launches)
		scan->log.nr_launches = end->nr_launches;
	if (end->rec.size >= sizeof(*end) && end->nr_records > scan->log.nr_records)
		scan->log.nr_records = end->nr_records;
}

static void scan_loss(struct log_scan *scan, const struct gpu_log_loss *loss)
{
	const uint64_t before = account__nr_dropped(&scan->account);

	account__add_loss(&scan->account, loss);
	sum__add(&scan->log.nr_records_told,
		 account__nr_dropped(&scan->account) - before);
}

/* Of a record that is counted when it is lost */
static bool activity_has_time(const struct gpu_log_record *record)
{
	const union {
		struct gpu_log_kernel kernel;
		struct gpu_log_activity activity;
		struct gpu_log_memory memory;
		struct gpu_log_api_call call;
		struct gpu_log_nvtx nvtx;
	} *any = (const void *)record;

	switch (record->type) {
	case GPU_LOG_KERNEL:
		return gpu_log_has_duration(any->kernel.start_ns, any->kernel.end_ns);
	case GPU_LOG_ACTIVITY:
		return gpu_log_has_time(any->activity.start_ns, any->activity.end_ns);
	case GPU_LOG_MEMORY:
		return any->memory.time_ns;
	case GPU_LOG_API_CALL:
		return gpu_log_has_time(any->call.start_ns, any->call.end_ns);
	default:
		return any->nvtx.time_ns;
	}
}

static void scan_activity(struct log_scan *scan, const struct gpu_log_record *record)
{
	scan->nr_kernels += record->type == GPU_LOG_KERNEL;
	scan->log.nr_records_read++;
	if (activity_has_time(record))
		scan->account.nr_delivered++;
	else
		scan->account.nr_unknown_time++;
}

/* One that is_readable(). 0 or -ENOMEM */
static int scan_record(struct log_scan *scan, const struct gpu_log_record *record)
{
	const void *any = record;

	switch (record->type) {
	case GPU_LOG_PROCESS: {
		const struct gpu_log_process *process = any;

		if (!scan->log.pid)
			set_unended(scan, true);
		scan->log.pid = process->pid;
		scan->log.start_ns = process->start_ns;
		memcpy(scan->log.comm, process->comm, sizeof(scan->log.comm));
		scan->log.comm[sizeof(scan->log.comm) - 1] = '\0';
		return 0;
	}
	case GPU_LOG_KERNEL:
	case GPU_LOG_ACTIVITY:
	case GPU_LOG_MEMORY:
	case GPU_LOG_API_CALL:
	case GPU_LOG_NVTX:
		scan_activity(scan, record);
		return 0;
	case GPU_LOG_API: {
		const struct gpu_log_api *api = any;

		call_kinds__set(&scan->call_kinds, api->api, api->kinds);
		return 0;
	}
	case GPU_LOG_DEVICE:
		gpu_table__add(&scan->gpus, any);
		return 0;
	case GPU_LOG_LOSS:
		scan_loss(scan, any);
		return 0;
	case GPU_LOG_JIT: {
		const struct gpu_log_jit *jit = any;

		if (jit->kind == GPU_LOG_JIT_PERF_MAP) {
			scan->log.perf_map_bytes = jit->offset;
			sum__add(&scan->log.perf_map_bytes, jit->nr_bytes);
		}
		return 0;
	}
	case GPU_LOG_END:
		scan_end(scan, any);
		return 0;
	case GPU_LOG_MESSAGE:
		return scan_message(scan, any);
	default:
		return 0;
	}
}

static bool is_readable(const struct gpu_log_record *record)
{
	const struct gpu_log_message *message = (const void *)record;

	if (!gpu_log_record__is_whole(record))
		return false;
	return record->type != GPU_LOG_MESSAGE || text_of(message);
}

/* All of it, before anything of it is counted: what is broken goes into no sidecar. */
static int check_block(const void *payload, size_t bytes)
{
	struct gpu_log_cursor cursor = gpu_log_cursor__new(payload, bytes);
	const struct gpu_log_record *record;
	int got;

	while ((got = gpu_log_cursor__next(&cursor, &record)) > 0)
		if (!is_readable(record))
			return -EINVAL;
	return got;
}

int log_scan__block(struct log_scan *scan, const void *payload, size_t bytes)
{
	struct gpu_log_cursor cursor = gpu_log_cursor__new(payload, bytes);
	const struct gpu_log_record *record;
	int err = check_block(payload, bytes);

	while (!err && gpu_log_cursor__next(&cursor, &record) > 0)
		err = scan_record(scan, record);
	return err;
}

void log_scan__block_behind(struct log_scan *scan, const void *payload, size_t bytes)
{
	struct gpu_log_cursor cursor = gpu_log_cursor__new(payload, bytes);
	const struct gpu_log_record *record;
	struct account behind = {};

	while (gpu_log_cursor__next(&cursor, &record) > 0) {
		if (!gpu_log_record__is_whole(record))
			continue;
		if (record->type == GPU_LOG_END)
			scan_end(scan, (const void *)record);
		else if (record->type == GPU_LOG_LOSS)
			account__add_loss(&behind, (const void *)record);
	}
	sum__add(&scan->log.nr_records_told, account__nr_dropped(&behind));
	/* Who reads the recording has not these blocks, but the same figures. */
	sum__add(&scan->account.nr_dropped[ACCOUNT_IN_BROKEN_LOGS],
		 account__nr_dropped(&behind));
}

void log_scan__leave_out(struct log_scan *scan, uint64_t nr_records)
{
	scan->log.is_stopped = true;
	sum__add(&scan->log.nr_records_read, nr_records);
	sum__add(&scan->account.nr_dropped[ACCOUNT_BEHIND_LIMIT], nr_records);
}

void log_scan__tally(struct log_scan *scan, uint64_t nr_launches, uint64_t nr_records)
{
	struct log_scan_log *log = &scan->log;

	if (log->has_end)
		return;
	log->nr_launches = nr_launches;
	/* Those of which the log has told are counted. */
	log->nr_records =
		nr_records > log->nr_records_told ? nr_records - log->nr_records_told : 0;
}

void log_scan__end_log(struct log_scan *scan, uint64_t nr_samples)
{
	const enum account_drop why =
		scan->log.is_stopped ? ACCOUNT_BEHIND_LIMIT : ACCOUNT_IN_BROKEN_LOGS;

	if (scan->log.nr_records > scan->log.nr_records_read)
		sum__add(&scan->account.nr_dropped[why],
			 scan->log.nr_records - scan->log.nr_records_read);
	if (scan->log.nr_launches <= nr_samples)
		return;
	sum__add(&scan->nr_missing, scan->log.nr_launches - nr_samples);
	if (scan->log.is_unended)
		sum__add(&scan->nr_missing_unended, scan->log.nr_launches - nr_samples);
}

/* The library's are shorter. */
#define MAX_PRINTED 1024

static void print_message(const struct log_message *message)
{
	const char *comm = *message->comm ? message->comm : "a process";

	if (message->severity >= GPU_LOG_ERROR)
		pr_err("%s (pid %u) is not recorded: %.*s", comm, message->pid,
		       MAX_PRINTED, message->text);
	else if (message->severity == GPU_LOG_WARNING)
		pr_warning("%s (pid %u): %.*s", comm, message->pid, MAX_PRINTED,
			   message->text);
	else
		pr_debug("%s (pid %u): %.*s", comm, message->pid, MAX_PRINTED,
			 message->text);
}

void log_scan__print(const struct log_scan *scan)
{
	for (size_t i = 0; i < scan->nr_messages; i++) {
		print_message(&scan->messages[i]);
		if (scan->messages[i].nr_processes > 1 &&
		    scan->messages[i].severity >= GPU_LOG_WARNING)
			pr_warning("the same %llu times more",
				   (unsigned long long)scan->messages[i].nr_processes -
					   1);
	}
	if (scan->nr_messages_left_out)
		pr_warning("%llu more messages are in the GPU records",
			   (unsigned long long)scan->nr_messages_left_out);
}

void log_scan__release(struct log_scan *scan)
{
	for (size_t i = 0; i < scan->nr_messages; i++)
		free(scan->messages[i].text);
	scan->nr_messages = 0;
}
