/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording, from the probe to perf.data and its sidecar. One thread.
 *
 *   carrier, output, spool made before the command, so that what can't work is
 *                          known while nothing has happened yet
 *   command                forked, watched by the carrier, let go
 *   loop                   launches → perf.data, until the command ends
 *   logs → sidecar         then both files get their names
 *
 * The command is sacred: an error in the loop ends the recording, not the command.
 */
#ifndef PERF_GPU_RECORD_RECORD_H
#define PERF_GPU_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/control_fd.h"
#include "record/events.h"
#include "record/switch_options.h"

struct record_options {
	const char *output; /* path of perf.data; the sidecar is beside it */
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that are wanted of the GPU */
	bool has_events; /* they were asked for, with -e */
	bool records_nvtx; /* the ranges that the program marks with NVTX */
	enum launch_probe probe;
	bool shares; /* CUPTI is left to other profilers; with LAUNCH_PROBE_API */
	struct stack_config stack;
	enum stacks stacks;
	size_t nr_pages; /* of each CPU's ring, a power of two; 0: fitting */
	uint64_t max_bytes; /* of the recording, at which it stops; 0: any number */
	struct switch_options switching;
	bool has_capture_range; /* from cudaProfilerStart() to cudaProfilerStop() only */
	int delay_ms; /* until recording begins; -1: until a command says so */
	uint64_t
		duration_ms; /* of the recording, from when it begins; 0: it isn't limited */
	struct control_fd *control_fd; /* where commands come from; NULL: nowhere */
	const char *run_as; /* user that the command is run as; NULL: the recorder's */
	const pid_t *pids; /* processes that run already, to be recorded */
	size_t nr_pids; /* 0: the command is */
	const char *const *command; /* NULL-terminated; empty: none, which takes pids */
	const char *const *cmdline; /* the recorder's own, for perf.data */
};

/**
 * record__run - run a command and record it, or processes while it runs
 * @ret_status: exit status for the recorder: the command's own (128 + n if signal
 *              n ended it); WORKLOAD_STATUS_* if it could not be executed; 1 if it
 *              succeeded but the recording, or a process of it, did not
 *
 * All errors are printed. Of a recording that could not be finished, what there is of it is
 * left for recover__run(), and told; of one that could not begin, nothing.
 */
void record__run(const struct record_options *options, int *ret_status);

#endif
