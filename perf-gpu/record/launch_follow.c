// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/launch_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/launch_process.h"
#include "record/log_file.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sum.h"

/* A log that hasn't grown for so many looks may be one of a process that has ended. */
#define IDLE_LOOKS 10

struct followed {
	char *name;
	struct followed *next;
	struct launch_reader
		*reader; /* NULL: nothing is known of it yet, or it is over */
	struct launch_process process;
	bool is_begun; /* it is in perf.data */
	bool is_over; /* nothing more comes */
	unsigned int nr_idle;
};

struct launch_follow {
	const struct spool *spool;
	struct tallies *tallies;
	uint64_t session;
	struct output *output;
	struct followed *logs;
	void *by_name; /* the same: a tree of tsearch(3) */
	struct launch_reader_counts counts; /* of those that are over */
	struct pid_namespaces namespaces;
	struct log_limit warnings;
};

static int compare_names(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int launch_follow__new(const struct spool *spool, struct tallies *tallies,
		       uint64_t session, struct output *output,
		       struct launch_follow **ret)
{
	struct launch_follow *follow = calloc(1, sizeof(*follow));

	if (!follow)
		return -ENOMEM;
	follow->spool = spool;
	follow->tallies = tallies;
	follow->session = session;
	follow->output = output;
	pid_namespaces__init(&follow->namespaces);
	*ret = follow;
	return 0;
}

static int add_log(struct launch_follow *follow, char *name)
{
	struct followed key = {.name = name}, *log;

	if (tfind(&key, &follow->by_name, compare_names))
		return 0;
	log = calloc(1, sizeof(*log));
	if (log)
		log->name = strdup(name);
	if (!log || !log->name || !tsearch(log, &follow->by_name, compare_names)) {
		if (log)
			free(log->name);
		free(log);
		return -ENOMEM;
	}
	log->next = follow->logs;
	follow->logs = log;
	return 0;
}

static int find_logs(struct launch_follow *follow)
{
	struct spool_names names;
	int err;

	err = spool__list(follow->spool, SPOOL_LAUNCH_LOG_SUFFIX, &names);
	if (err)
		return err;
	for (size_t i = 0; i < names.nr_names && !err; i++)
		err = add_log(follow, names.names[i]);
	if (err)
		pr_err("no memory to read %zu launch logs", names.nr_names);
	spool_names__release(&names);
	return err;
}

/* Its beginning may not be there yet. 0 or -ENOMEM, printed. */
static int open_log(struct launch_follow *follow, struct followed *log)
{
	int fd = spool__open_grown_log(follow->spool, log->name, &follow->warnings), err;

	if (fd < 0) {
		log->is_over = true;
		return 0;
	}
	err = launch_reader__open_growing(fd, follow->session, &log->reader);
	if (!err) {
		launch_process__init(&log->process, log->reader, &follow->namespaces);
		return 0;
	}
	if (err == -ENODATA)
		return 0;
	if (err == -ENOMEM)
		pr_err("no memory to read the launch log %s", log->name);
	else if (log_limit__take(&follow->warnings))
		pr_warning("the launch log %s %s: %s", log->name,
			   log_file__what(err, false), log_file__strerror(err));
	log->is_over = true;
	return err == -ENOMEM ? err : 0;
}

static int write_event(struct launch_follow *follow, struct followed *log,
		       const struct logged_event *event)
{
	uint64_t start_ns = log->process.process.start_ns;
	int err = 0;

	log->nr_idle = 0;
	if (!log->is_begun) {
		log->is_begun = true;
		if (start_ns > event->time_ns)
			start_ns = event->time_ns;
		err = launch_process__begin(&log->process, follow->output, start_ns);
	}
	return err ? err : launch_process__write(&log->process, follow->output, event);
}

static void add_counts(struct launch_reader_counts *to,
		       const struct launch_reader *reader)
{
	struct launch_reader_counts counts = launch_reader__counts(reader);

	sum__add(&to->nr_lost, counts.nr_lost);
	sum__add(&to->nr_lost_stacks, counts.nr_lost_stacks);
}

static int end_log(struct launch_follow *follow, struct followed *log)
{
	add_counts(&follow->counts, log->reader);
	launch_reader__close(log->reader);
	log->reader = NULL;
	log->is_over = true;
	launch_process__release(&log->process);
	return log->is_begun ? launch_process__end(&log->process, follow->output,
						   clock__now_ns())
			     : 0;
}

/* Return: 0, or a negative errno, printed, of which nothing is the log's fault. */
static int read_log(struct launch_follow *follow, struct followed *log)
{
	struct logged_event event;
	int got, err = 0;

	while (!err && (got = launch_reader__next(log->reader, &event)) > 0)
		err = write_event(follow, log, &event);
	if (err)
		return err;
	if (got == -ENOMEM)
		pr_err("no memory to read the launch log %s", log->name);
	else if (got < 0 && log_limit__take(&follow->warnings))
		pr_warning("the launch log %s %s: %s", log->name,
			   log_file__what(got, true), log_file__strerror(got));
	if (got < 0) {
		err = end_log(follow, log);
		return got == -ENOMEM ? got : err;
	}
	/* Where that can't be, the GPU logs tell of it. */
	log_file__free_read(launch_reader__file(log->reader));
	return 0;
}

static bool has_ended(const struct followed *log)
{
	return spool__has_ended(launch_reader__file(log->reader)->fd,
				launch_reader__has_end(log->reader),
				launch_reader__process(log->reader)->pid);
}

static int poll_log(struct launch_follow *follow, struct followed *log, bool is_last)
{
	bool may_end;
	int err = 0;

	if (!log->reader)
		err = open_log(follow, log);
	if (err || !log->reader)
		return err;
	/* Before the last look: what comes between the two would be lost. */
	may_end = ++log->nr_idle > IDLE_LOOKS && has_ended(log);
	if (may_end && follow->tallies)
		tallies__complete(follow->tallies, launch_reader__log_id(log->reader));
	launch_reader__go_on(log->reader, !is_last);
	err = read_log(follow, log);
	if (err || !log->reader || !may_end || !log->nr_idle)
		return err;
	unlinkat(follow->spool->dir_fd, log->name, 0);
	return end_log(follow, log);
}

static void forget_over(struct launch_follow *follow)
{
	struct followed **at = &follow->logs, *log;

	while ((log = *at)) {
		if (!log->is_over) {
			at = &log->next;
			continue;
		}
		/* One that is in the folder still isn't to be found again. */
		if (!faccessat(follow->spool->dir_fd, log->name, F_OK,
			       AT_SYMLINK_NOFOLLOW)) {
			at = &log->next;
			continue;
		}
		*at = log->next;
		tdelete(log, &follow->by_name, compare_names);
		free(log->name);
		free(log);
	}
}

int launch_follow__poll(struct launch_follow *follow, bool is_last)
{
	int err = find_logs(follow);

	for (struct followed *log = follow->logs; log && !err; log = log->next)
		if (!log->is_over)
			err = poll_log(follow, log, is_last);
	forget_over(follow);
	if (is_last) {
		pid_namespaces__tell(&follow->namespaces);
		log_limit__tell(&follow->warnings, "launch logs");
	}
	return err;
}

struct launch_reader_counts launch_follow__counts(const struct launch_follow *follow)
{
	struct launch_reader_counts counts = follow->counts;

	for (const struct followed *log = follow->logs; log; log = log->next)
		if (log->reader)
			add_counts(&counts, log->reader);
	return counts;
}

void launch_follow__delete(struct launch_follow *follow)
{
	struct followed *next;

	if (!follow)
		return;
	for (struct followed *log = follow->logs; log; log = next) {
		next = log->next;
		tdelete(log, &follow->by_name, compare_names);
		launch_reader__close(log->reader);
		launch_process__release(&log->process);
		free(log->name);
		free(log);
	}
	free(follow);
}
