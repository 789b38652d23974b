/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the library gets into the recorded command, and what it is told: by the
 * environment (cupti_inject/config.h), which the command's children inherit.
 */
#ifndef PERF_GPU_RECORD_INJECTION_H
#define PERF_GPU_RECORD_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "record/events.h"

/* What the CUDA driver loads within the first cuInit() of a process */
#define INJECTION_VARIABLE "CUDA_INJECTION64_PATH"

#define INJECTION_MAX_VARIABLES 18

/* What NVTX loads at its first call in a process; whose place that was */
#define INJECTION_NVTX_VARIABLE	     "NVTX_INJECTION64_PATH"
#define INJECTION_NVTX_NEXT_VARIABLE "PERF_GPU_NVTX_NEXT"

/* What the library is told. */
struct injection_config {
	const char *library; /* absolute path; NULL: none is injected */
	const char *spool; /* absolute path of the folder */
	const char *log_server; /* name of its socket; "": there is none */
	const char *control; /* path of a control page; NULL: none */
	uint64_t session;
	bool records_nvtx;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that are wanted */
	enum call_graph call_graph;
	enum python_frames python;
	unsigned int max_frames; /* of a stack; 0: MAX_STACK_FRAMES */
	bool is_api_probed; /* launches are told by probes on the API, not by the library */
	bool has_capture_range; /* it is the program that says when to record */
	bool shares; /* leave CUPTI to other profilers */
	bool has_launch_log; /* launches go into a log; else to the marker */
	bool has_quick_nop5; /* the kernel is quick on the 5-byte nop of the marker */
};

struct injection {
	char *environment[INJECTION_MAX_VARIABLES + 1]; /* "NAME=value"; ends in NULL */
};

/* Is a library ours, by the name of its file? */
bool injection__is_ours(const char *library);

/* Does the environment have another library than ours in the place that CUDA has for one? */
bool injection__is_taken(void);

/**
 * injection__check - could a library be injected at all?
 * @library:   that is to be
 * @is_needed: nothing is recorded without
 *
 * Return: 0, or -EBUSY if the environment has another one already, printed: as a
 * warning if it isn't needed.
 */
int injection__check(const char *library, bool is_needed);

/**
 * injection__init - make the variables
 * @ret: released by injection__release(); written on success only
 *
 * Return: 0 or -ENOMEM, printed.
 */
int injection__init(const struct injection_config *config, struct injection *ret);

/**
 * injection__next_nvtx - the tool that NVTX would load without us
 * @library: ours, which takes its place, and hands on to it
 *
 * Return: a path of the environment, or NULL.
 */
const char *injection__next_nvtx(const char *library);

void injection__release(struct injection *injection);

#endif
