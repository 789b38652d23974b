/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps in the process's log what its JIT compilers say of their code, which is what
 * gives its stacks names: /tmp/perf-PID.map, and jit-PID.dump wherever it is. They may
 * be gone, or another process's, when the recording is looked at.
 *
 * Both are opened as soon as they are there, and followed while the process runs: so
 * the end of the process has little left to do, a process that is killed has lost a
 * second's at most, and one that removes its map has it kept all the same.
 */
#ifndef PERF_GPU_INJECT_JIT_H
#define PERF_GPU_INJECT_JIT_H

#include <stdbool.h>

#include "log.h"

/**
 * jit__begin - keep what there is
 * @log: of this process, for all up to jit__end()
 *
 * From any thread, but not in a forked child.
 */
void jit__begin(struct log *log);

/* Keep what is new since the last call. The same. */
void jit__follow(struct log *log);

/*
 * The last time. From any thread, in the process itself or in a forked child, which
 * has never begun.
 */
void jit__end(struct log *log, bool is_forked);

#endif
