/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the library gets into the recorded command, and what it is told: by the
 * environment (cupti_inject/config.h), which the command's children inherit.
 */
#ifndef PERF_GPU_RECORD_INJECTION_H
#define PERF_GPU_RECORD_INJECTION_H

#include <stdint.h>

#include "record/events.h"
#include "record/probe.h"
#include "record/spool.h"

/* Five variables and the NULL that ends an environment */
#define INJECTION_NR_VARIABLES 5

struct injection {
	char *environment[INJECTION_NR_VARIABLES + 1]; /* "NAME=value" */
};

/**
 * injection__check - could a library be injected at all?
 *
 * Return: 0, or -EBUSY, printed, if the environment has another one already.
 */
int injection__check(void);

/**
 * injection__init - make the variables
 * @library: absolute path
 * @ret:     released by injection__release(); written on success only
 *
 * Return: 0 or -ENOMEM, printed.
 */
int injection__init(const char *library, const struct spool *spool, uint64_t session,
		    enum call_graph call_graph, const struct probe_facts *facts,
		    struct injection *ret);

void injection__release(struct injection *injection);

#endif
