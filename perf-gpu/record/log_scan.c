// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/log_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/gpu_log_cursor.h"
#include "util/log.h"
#include "util/sum.h"

void log_scan__begin_log(struct log_scan *scan)
{
	scan->pid = 0;
	scan->start_ns = 0;
	scan->perf_map_bytes = 0;
	scan->nr_launches_of_log = 0;
	scan->is_unended_log = false;
	memset(scan->comm, 0, sizeof(scan->comm));
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
	if (is_unended == scan->is_unended_log)
		return;
	scan->is_unended_log = is_unended;
	scan->nr_unended += is_unended ? 1 : -1ull;
}

static int scan_message(struct log_scan *scan, const struct gpu_log_message *record)
{
	const char *text =
		gpu_log_record__text(&record->rec, record->text, record->nr_bytes);
	struct log_message *message;

	if (!text)
		return -EINVAL;
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
	message->pid = scan->pid;
	memcpy(message->comm, scan->comm, sizeof(message->comm));
	message->nr_processes = 1;
	scan->nr_messages++;
	return 0;
}

/* A log can end more than once; the last end counts all launches. */
static void scan_end(struct log_scan *scan, const struct gpu_log_end *end)
{
	set_unended(scan, false);
	if (end->nr_launches > scan->nr_launches_of_log)
		scan->nr_launches_of_log = end->nr_launches;
}

static int scan_record(struct log_scan *scan, const struct gpu_log_record *record)
{
	const void *any = record;

	switch (record->type) {
	case GPU_LOG_PROCESS: {
		const struct gpu_log_process *process = any;

		if (record->size < sizeof(*process))
			return -EINVAL;
		if (!scan->pid)
			set_unended(scan, true);
		scan->pid = process->pid;
		scan->start_ns = process->start_ns;
		memcpy(scan->comm, process->comm, sizeof(scan->comm));
		scan->comm[sizeof(scan->comm) - 1] = '\0';
		return 0;
	}
	case GPU_LOG_KERNEL: {
		const struct gpu_log_kernel *kernel = any;

		if (record->size < sizeof(*kernel))
			return -EINVAL;
		scan->nr_kernels++;
		if (!kernel->start_ns || kernel->end_ns <= kernel->start_ns)
			scan->nr_unknown_time++;
		return 0;
	}
	case GPU_LOG_LOSS: {
		const struct gpu_log_loss *loss = any;

		if (record->size < sizeof(*loss))
			return -EINVAL;
		/* An unfinished kernel has a record, without times. */
		if (loss->kind != GPU_LOG_LOSS_UNFINISHED)
			sum__add(&scan->nr_dropped, loss->nr_records);
		return 0;
	}
	case GPU_LOG_JIT: {
		const struct gpu_log_jit *jit = any;

		if (record->size < sizeof(*jit))
			return -EINVAL;
		if (jit->kind == GPU_LOG_JIT_PERF_MAP) {
			scan->perf_map_bytes = jit->offset;
			sum__add(&scan->perf_map_bytes, jit->nr_bytes);
		}
		return 0;
	}
	case GPU_LOG_END:
		if (record->size < sizeof(struct gpu_log_end))
			return -EINVAL;
		scan_end(scan, any);
		return 0;
	case GPU_LOG_MESSAGE:
		if (record->size < sizeof(struct gpu_log_message))
			return -EINVAL;
		return scan_message(scan, any);
	default:
		return 0;
	}
}

int log_scan__block(struct log_scan *scan, const void *payload, size_t bytes)
{
	struct gpu_log_cursor cursor = gpu_log_cursor__new(payload, bytes);
	const struct gpu_log_record *record;
	int err;

	while ((err = gpu_log_cursor__next(&cursor, &record)) > 0) {
		err = scan_record(scan, record);
		if (err)
			break;
	}
	return err;
}

void log_scan__end_log(struct log_scan *scan, uint64_t nr_samples)
{
	if (scan->nr_launches_of_log > nr_samples)
		sum__add(&scan->nr_missing, scan->nr_launches_of_log - nr_samples);
}

static void print_message(const struct log_message *message)
{
	const char *comm = *message->comm ? message->comm : "a process";

	if (message->severity >= GPU_LOG_ERROR)
		pr_err("%s (pid %u) is not recorded: %s", comm, message->pid,
		       message->text);
	else if (message->severity == GPU_LOG_WARNING)
		pr_warning("%s (pid %u): %s", comm, message->pid, message->text);
	else
		pr_debug("%s (pid %u): %s", comm, message->pid, message->text);
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
