/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose launch log is read, in perf.data: its launches, with the records of the
 * process, its threads and mappings that the kernel would have made. One thread.
 */
#ifndef PERF_GPU_RECORD_LAUNCH_PROCESS_H
#define PERF_GPU_RECORD_LAUNCH_PROCESS_H

#include <stdint.h>

#include "record/launch_reader.h"
#include "record/output.h"
#include "record/pid_namespaces.h"

struct launch_process {
	struct gpu_log_process process; /* with pids of namespaces__number() */
	uint32_t pid_offset; /* by which they are higher than in the log */
	void *tids; /* of threads that have their FORK: a tree of tsearch(3) */
};

/* Whose log is read. @namespaces: of the recording */
void launch_process__init(struct launch_process *process,
			  const struct launch_reader *reader,
			  struct pid_namespaces *namespaces);

/* The process appears. The next three return 0 or a negative errno, printed. */
int launch_process__begin(const struct launch_process *process, struct output *output,
			  uint64_t time_ns);

/* Something of its log */
int launch_process__write(struct launch_process *process, struct output *output,
			  const struct logged_event *event);

/* The process is gone. */
int launch_process__end(const struct launch_process *process, struct output *output,
			uint64_t time_ns);

void launch_process__release(struct launch_process *process);

#endif
