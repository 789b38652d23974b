/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreters of the process: a python that is the program itself, libpython that
 * the program is linked with or has loaded. Each that is found stays in memory: a
 * reference to its file is kept.
 */
#ifndef PERF_GPU_INJECT_PYTHON_RUNTIME_H
#define PERF_GPU_INJECT_PYTHON_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"
#include "python_code.h"
#include "python_layout.h"

/* Copies of CPython in one process; more are not walked */
#define PYTHON_MAX_RUNTIMES 2
struct python_runtime {
	struct python_layout layout;
	struct python_types types;
	void *(*thread_state)(void); /* PyGILState_GetThisThreadState() */
	/* _PyEval_EvalFrameDefault(), less what a compiler has cut off it */
	uintptr_t loop_start, loop_end;
};

/**
 * python_runtimes__look - find interpreters that have come since the last look
 * @log:      is told of those whose version isn't known
 * @runtimes: of which @nr are known
 *
 * Cheap if nothing was loaded since. One thread at a time.
 *
 * Return: how many are known now.
 */
size_t python_runtimes__look(struct log *log,
			     struct python_runtime runtimes[PYTHON_MAX_RUNTIMES],
			     size_t nr);

#endif
