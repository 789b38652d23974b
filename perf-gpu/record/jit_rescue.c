// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/jit_rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/log.h"

/* The clock of file times is one tick behind, at 100 Hz. */
#define FILE_CLOCK_LAG_NS 10000000

int jit_logs__add(struct jit_logs *logs, const struct jit_log *log)
{
	int err = array__grow(&logs->logs, logs->nr, &logs->capacity, sizeof(*log));

	if (err)
		return err;
	logs->logs[logs->nr++] = *log;
	return 0;
}

void jit_logs__release(struct jit_logs *logs)
{
	log_limit__tell(&logs->limit, "files of JIT compilers");
	free(logs->logs);
	*logs = (struct jit_logs){0};
}

static uint64_t realtime_of(const struct clock_pair *clock, uint64_t monotonic_ns)
{
	return clock->realtime_ns + (monotonic_ns - clock->monotonic_ns);
}

/*
 * Of processes that had the pid one after the other, the last one that had begun when
 * the file was written to has it.
 */
static bool is_file_of(const struct jit_logs *logs, size_t i, uint64_t written_ns,
		       const struct clock_pair *clock)
{
	const struct jit_log *log = &logs->logs[i];

	if (written_ns < clock->realtime_ns)
		return false;
	for (size_t j = 0; j < logs->nr; j++) {
		const struct jit_log *other = &logs->logs[j];

		if (other->pid == log->pid && other->start_ns > log->start_ns &&
		    realtime_of(clock, other->start_ns) <= written_ns)
			return false;
		/* Logs that were made up: one of them has it. */
		if (j < i && other->pid == log->pid && other->start_ns == log->start_ns)
			return false;
	}
	return true;
}

/* Those of the file end here, those of @take go up. */
struct taker {
	jit_file_take_fn *take;
	void *ctx;
	int err;
};

static int take_piece(void *ctx, const struct gpu_log_jit *piece, const void *deflated)
{
	struct taker *taker = ctx;

	taker->err = taker->take(taker->ctx, piece, deflated);
	return taker->err;
}

static void tell_loss(struct jit_logs *logs, const char *path, uint32_t pid, int err)
{
	const char *why = strerror(-err);

	if (!log_limit__take(&logs->limit))
		return;
	if (err == -EFBIG)
		why = "it is too large to be kept";
	else if (err == -EINVAL)
		why = "it is no jitdump of this machine's";
	pr_warning("%s: functions that process %u has compiled at run time have no "
		   "names: %s",
		   path, pid, why);
}

static void read_file(struct jit_logs *logs, size_t i, const struct clock_pair *clock,
		      const char *path, struct jit_file *file, struct taker *taker)
{
	/* /tmp is everybody's: no links, and nothing that open(2) would wait on. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	const char *problem = NULL;
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st))
		problem = strerror(errno);
	else if (!S_ISREG(st.st_mode) || st.st_uid != logs->logs[i].uid)
		problem = "no file of the process's user";
	else if (!is_file_of(logs, i,
			     (uint64_t)st.st_mtim.tv_sec * 1000000000 +
				     (uint64_t)st.st_mtim.tv_nsec + FILE_CLOCK_LAG_NS,
			     clock))
		problem = "another process's";
	else
		err = jit_file__read(file, fd, take_piece, taker);
	if (err && !taker->err)
		tell_loss(logs, path, logs->logs[i].pid, err);
	if (problem)
		pr_debug("%s: not read for process %u: %s", path, logs->logs[i].pid,
			 problem);
	if (fd >= 0)
		close(fd);
}

int jit_rescue__read(struct jit_logs *logs, size_t i, const struct clock_pair *clock,
		     const struct build_ids *mapped, jit_file_take_fn *take, void *ctx)
{
	const struct jit_log *log = &logs->logs[i];
	struct jit_file perf_map = {
		.kind = GPU_LOG_JIT_PERF_MAP,
		.offset = log->perf_map_bytes,
	};
	struct jit_file dump = {.kind = GPU_LOG_JIT_CODE};
	struct taker taker = {.take = take, .ctx = ctx};
	const char *dump_path;
	char name[64];

	if (log->is_ended)
		return 0;
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", log->pid);
	read_file(logs, i, clock, name, &perf_map, &taker);
	if (taker.err)
		return taker.err;
	snprintf(name, sizeof(name), "/jit-%u.dump", log->pid);
	dump_path = build_ids__find(mapped, name);
	if (dump_path)
		read_file(logs, i, clock, dump_path, &dump, &taker);
	return taker.err;
}
