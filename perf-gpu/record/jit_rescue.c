// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/jit_rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

/* The clock of file times is one tick behind, at 100 Hz. */
#define FILE_CLOCK_LAG_NS 10000000

int jit_logs__add(struct jit_logs *logs, const struct jit_log *log)
{
	if (logs->nr == logs->capacity) {
		size_t capacity = logs->capacity ? 2 * logs->capacity : 64;
		struct jit_log *array =
			reallocarray(logs->logs, capacity, sizeof(*array));

		if (!array)
			return -ENOMEM;
		logs->logs = array;
		logs->capacity = capacity;
	}
	logs->logs[logs->nr++] = *log;
	return 0;
}

void jit_logs__release(struct jit_logs *logs)
{
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
	}
	return true;
}

static int read_file(const struct jit_logs *logs, size_t i,
		     const struct clock_pair *clock, const char *path,
		     struct jit_file *file, jit_file_take_fn *take, void *ctx)
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
		err = jit_file__read(file, fd, take, ctx);
	if (problem)
		pr_debug("%s: not read for process %u: %s", path, logs->logs[i].pid,
			 problem);
	if (fd >= 0)
		close(fd);
	return err;
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

int jit_rescue__read(const struct jit_logs *logs, size_t i,
		     const struct clock_pair *clock, const struct build_ids *mapped,
		     jit_file_take_fn *take, void *ctx)
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
	(void)read_file(logs, i, clock, name, &perf_map, take_piece, &taker);
	if (taker.err)
		return taker.err;
	snprintf(name, sizeof(name), "/jit-%u.dump", log->pid);
	dump_path = build_ids__find(mapped, name);
	if (dump_path)
		read_file(logs, i, clock, dump_path, &dump, take_piece, &taker);
	return taker.err;
}
