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

#define INJECTION_MAX_VARIABLES 11

/* What the library is told. */
struct injection_config {
	const char *library; /* absolute path; NULL: none is injected */
	const char *spool; /* absolute path of the folder */
	const char *control; /* path of a control page; NULL: none */
	uint64_t session;
	enum call_graph call_graph;
	enum python_frames python;
	unsigned int max_frames; /* of a stack; 0: MAX_STACK_FRAMES */
	bool is_api_probed; /* launches are told by probes on the API, not by the library */
	bool has_launch_log; /* launches go into a log; else to the marker */
	bool has_quick_nop5; /* the kernel is quick on the 5-byte nop of the marker */
};

struct injection {
	char *environment[INJECTION_MAX_VARIABLES + 1]; /* "NAME=value"; ends in NULL */
};

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

void injection__release(struct injection *injection);

#endif
