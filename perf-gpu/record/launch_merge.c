// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two steps: the beginning of each log says whose it is and when that process began;
 * then, by time, logs are opened, give their events, and are closed.
 *
 * A process leaves perf.data when its log has ended, but not before the last of its
 * children has come, who inherits its mappings.
 */
#include "record/launch_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/launch_process.h"
#include "record/log_file.h"
#include "util/file_limit.h"
#include "util/log.h"
#include "util/sum.h"

/* Readers sort what is between two of these: some 4 MB. */
#define EVENTS_PER_ROUND 16384

struct merged_log {
	const char *name;
	struct launch_process process;
	struct launch_reader *reader; /* NULL: not opened yet, or at its end */
	struct logged_event event; /* the next one */
	uint64_t time_ns; /* of the next event, or of the exit */
	uint64_t exit_ns; /* at the earliest */
};

struct launch_merge {
	const struct spool *spool;
	uint64_t session;
	struct output *output;
	struct merged_log *logs; /* by the start of their processes */
	size_t nr_logs, nr_begun;
	struct merged_log **heap; /* of those that have begun and not ended, by time */
	size_t nr_heap;
	uint64_t nr_events;
	struct launch_reader_counts counts;
	struct pid_namespaces namespaces;
	struct log_limit limit; /* of warnings */
};

/* Return: 0, or a negative errno: the log is to be left out, which has been told. */
static int open_log(struct launch_merge *merge, const char *name,
		    struct launch_reader **ret)
{
	int fd = spool__open_log(merge->spool, name, &merge->limit);
	int err;

	if (fd < 0)
		return fd;
	err = launch_reader__open(fd, merge->session, ret);
	/* Without memory it is no less a log. */
	if (err && err != -ENODATA && err != -ENOMEM && log_limit__take(&merge->limit))
		pr_warning("the launch log %s %s: %s", name, log_file__what(err, false),
			   log_file__strerror(err));
	return err;
}

static int find_logs(struct launch_merge *merge, const struct spool_names *names)
{
	merge->logs = calloc(names->nr_names + 1, sizeof(*merge->logs));
	merge->heap = calloc(names->nr_names + 1, sizeof(struct merged_log *));
	if (!merge->logs || !merge->heap)
		return -ENOMEM;
	for (size_t i = 0; i < names->nr_names; i++) {
		struct merged_log *log = &merge->logs[merge->nr_logs];
		struct launch_reader *reader;
		int err;

		err = open_log(merge, names->names[i], &reader);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		log->name = names->names[i];
		launch_process__init(&log->process, reader, &merge->namespaces);
		launch_reader__close(reader);
		merge->nr_logs++;
	}
	return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By name too, so that the order is always the same. */
static int compare_starts(const void *a, const void *b)
{
	const struct merged_log *const one = a, *const other = b;
	int order = compare_numbers(one->process.process.start_ns,
				    other->process.process.start_ns);

	return order ? order : strcmp(one->name, other->name);
}

static int compare_pids(const void *a, const void *b)
{
	const struct merged_log *const one = *(struct merged_log *const *)a;
	const struct merged_log *const other = *(struct merged_log *const *)b;
	int order = compare_numbers(one->process.process.pid, other->process.process.pid);

	return order ? order
		     : compare_numbers(one->process.process.start_ns,
				       other->process.process.start_ns);
}

/* The last process with a pid that began by then, or NULL; @by_pid is sorted. */
static struct merged_log *find_process(struct merged_log *const *by_pid, size_t nr,
				       uint32_t pid, uint64_t start_ns)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gpu_log_process *process = &by_pid[middle]->process.process;

		if (process->pid < pid ||
		    (process->pid == pid && process->start_ns <= start_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && by_pid[low - 1]->process.process.pid == pid ? by_pid[low - 1]
								  : NULL;
}

static int set_exits(struct launch_merge *merge)
{
	struct merged_log **by_pid = calloc(merge->nr_logs + 1, sizeof(*by_pid));

	if (!by_pid)
		return -ENOMEM;
	for (size_t i = 0; i < merge->nr_logs; i++)
		by_pid[i] = &merge->logs[i];
	qsort(by_pid, merge->nr_logs, sizeof(*by_pid), compare_pids);
	for (size_t i = 0; i < merge->nr_logs; i++) {
		const struct gpu_log_process *process = &merge->logs[i].process.process;
		struct merged_log *parent;

		if (!process->is_forked)
			continue;
		parent = find_process(by_pid, merge->nr_logs, process->ppid,
				      process->start_ns);
		if (parent && parent->exit_ns < process->start_ns)
			parent->exit_ns = process->start_ns;
	}
	free(by_pid);
	return 0;
}

static void sift_down(struct launch_merge *merge)
{
	struct merged_log **heap = merge->heap, *log = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < merge->nr_heap) {
		if (child + 1 < merge->nr_heap &&
		    heap[child + 1]->time_ns < heap[child]->time_ns)
			child++;
		if (heap[child]->time_ns >= log->time_ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = log;
}

static void add_to_heap(struct launch_merge *merge, struct merged_log *log)
{
	struct merged_log **heap = merge->heap;
	size_t at = merge->nr_heap++;

	for (; at && log->time_ns < heap[(at - 1) / 2]->time_ns; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = log;
}

static void end_log(struct launch_merge *merge, struct merged_log *log)
{
	struct launch_reader_counts counts = launch_reader__counts(log->reader);

	sum__add(&merge->counts.nr_lost, counts.nr_lost);
	sum__add(&merge->counts.nr_lost_stacks, counts.nr_lost_stacks);
	launch_reader__close(log->reader);
	log->reader = NULL;
}

/* Get the next event, or the time of the exit. 0, or -ENOMEM, printed. */
static int advance(struct launch_merge *merge, struct merged_log *log)
{
	int got = launch_reader__next(log->reader, &log->event);

	if (got > 0) {
		log->time_ns = log->event.time_ns;
		return 0;
	}
	end_log(merge, log);
	if (log->time_ns < log->exit_ns)
		log->time_ns = log->exit_ns;
	if (got == -ENOMEM) {
		pr_err("no memory to read the launch log %s", log->name);
		return got;
	}
	if (got && log_limit__take(&merge->limit))
		pr_warning("the launch log %s %s: %s", log->name,
			   log_file__what(got, true), log_file__strerror(got));
	return 0;
}

/* The process appears. */
static int begin_log(struct launch_merge *merge, struct merged_log *log)
{
	uint64_t start_ns = log->process.process.start_ns;
	int err;

	err = open_log(merge, log->name, &log->reader);
	if (err == -ENOMEM)
		pr_err("no memory to read the launch log %s", log->name);
	if (err)
		return err == -ENOMEM ? err : 0;
	log->time_ns = start_ns;
	err = advance(merge, log);
	if (err)
		return err;
	if (log->reader && start_ns > log->time_ns)
		start_ns = log->time_ns;
	err = launch_process__begin(&log->process, merge->output, start_ns);
	if (!err)
		add_to_heap(merge, log);
	return err;
}

/* What the earliest log has, be it its process's end. */
static int write_next(struct launch_merge *merge)
{
	struct merged_log *log = merge->heap[0];
	int err;

	if (log->reader) {
		err = launch_process__write(&log->process, merge->output, &log->event);
		if (!err)
			err = advance(merge, log);
	} else {
		err = launch_process__end(&log->process, merge->output, log->time_ns);
		merge->heap[0] = merge->heap[--merge->nr_heap];
	}
	if (merge->nr_heap)
		sift_down(merge);
	if (!err && ++merge->nr_events % EVENTS_PER_ROUND == 0)
		err = output__finish_round(merge->output);
	return err;
}

static int write_logs(struct launch_merge *merge)
{
	int err = 0;

	while (!err && (merge->nr_begun < merge->nr_logs || merge->nr_heap)) {
		struct merged_log *next = &merge->logs[merge->nr_begun];

		if (merge->nr_begun < merge->nr_logs &&
		    (!merge->nr_heap ||
		     next->process.process.start_ns <= merge->heap[0]->time_ns)) {
			merge->nr_begun++;
			err = begin_log(merge, next);
		} else {
			err = write_next(merge);
		}
	}
	return err;
}

int launch_merge__run(const struct spool *spool, uint64_t session, struct output *output,
		      struct launch_reader_counts *ret)
{
	struct launch_merge merge = {
		.spool = spool, .session = session, .output = output};
	struct spool_names names;
	int err;

	pid_namespaces__init(&merge.namespaces);
	/* Processes that were there at the same time have their logs open at the same time. */
	file_limit__raise();
	err = spool__list(spool, SPOOL_LAUNCH_LOG_SUFFIX, &names);
	if (err)
		return err;
	err = find_logs(&merge, &names);
	if (!err && merge.nr_logs) {
		qsort(merge.logs, merge.nr_logs, sizeof(*merge.logs), compare_starts);
		err = set_exits(&merge);
	}
	if (err)
		pr_err("no memory to merge %zu launch logs", names.nr_names);
	else
		err = write_logs(&merge);
	if (!err)
		*ret = merge.counts;
	for (size_t i = 0; i < merge.nr_logs; i++) {
		launch_reader__close(merge.logs[i].reader);
		launch_process__release(&merge.logs[i].process);
	}
	log_limit__tell(&merge.limit, "launch logs");
	pid_namespaces__tell(&merge.namespaces);
	free(merge.logs);
	free(merge.heap);
	spool_names__release(&names);
	return err;
}
