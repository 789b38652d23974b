/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorder tells the injected library, through the environment of
 * the target, which passes it on to its children:
 *
 *   PERF_GPU_SPOOL       directory that receives the process's log
 *   PERF_GPU_LOG_SERVER  abstract socket that has logs for who can't make them there;
 *                        none: no other way
 *   PERF_GPU_SESSION     16 hexadecimal digits, not all 0
 *   PERF_GPU_CALL_GRAPH  unwind, fp or dwarf
 *   PERF_GPU_PYTHON      walk or off: Python's own frames, with unwind
 *   PERF_GPU_MAX_STACK   frames of a stack, 1 to 127; with unwind
 *   PERF_GPU_MARKER      nop5 or nop1: which marker the kernel is quick on
 *   PERF_GPU_PROBE       marker or api: what tells the recorder of launches
 *   PERF_GPU_STACKS      uprobe or process: how stacks leave the process
 *   PERF_GPU_EVENTS      what to record: GPU_LOG_EVENT_BIT()s in hexadecimal; with a
 *                        comma and "nvtx" behind, NVTX ranges too. Default: 7
 *   PERF_GPU_NVTX_NEXT   the user's NVTX_INJECTION64_PATH, whose place we have
 *   PERF_GPU_SHARE       1: leave CUPTI to a profiler that has it, or comes for it
 *   PERF_GPU_CAPTURE_RANGE  cudaProfilerApi: record from cudaProfilerStart() to
 *                        cudaProfilerStop() only
 *   PERF_GPU_CONTROL     file of a struct control_page; none: record from the start
 *
 * and the user:
 *
 *   PERF_GPU_CUPTI       libcupti to use instead of the one that is found
 *   PERF_GPU_WAIT        1: wait for a recorder, which says the others' in a struct
 *                        control_page
 */
#ifndef PERF_GPU_INJECT_CONFIG_H
#define PERF_GPU_INJECT_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log_request.h"

struct config {
	char spool[PATH_MAX];
	char cupti[PATH_MAX]; /* "" if it is to be found */
	char log_server[LOG_SERVER_MAX_NAME]; /* "" if there is none */
	char control[PATH_MAX]; /* "" if there is none */
	uint64_t session;
	bool unwind; /* walk the stack here; else the kernel does */
	bool has_launch_log; /* stacks go into it; else to the marker */
	size_t max_frames; /* of a stack that is walked here */
	bool walk_python; /* put its functions between */
	bool has_quick_nop5;
	bool is_api_probed; /* launches are told by others, and are joined by time */
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that are wanted */
	uint32_t kinds; /* GPU_LOG_KIND_BIT()s that they are made of, and NVTX */
	bool has_capture_range; /* the program says when to record */
	bool shares; /* CUPTI with other profilers, who come first */
};

/**
 * config__read - read the environment
 * @ret: valid on success only
 *
 * Return: 0, -ENOENT if no recorder has set it (or the program is set-uid,
 * whose environment is not to be trusted), -EINVAL for values that are none.
 */
int config__read(struct config *ret);

/**
 * config__parse - the same from "NAME=value" strings
 * @text:  each string ends with a NUL
 * @bytes: of all of them
 */
int config__parse(const char *text, size_t bytes, struct config *ret);

/* Is NVTX recorded, or may it be once a recorder comes? */
bool config__may_want_nvtx(void);

/* Is this process, which no recorder has started, to wait for one? */
bool config__waits(void);

#endif
