/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of JIT code that a recording has kept, by process. Read when the first is
 * asked for. One thread.
 */
#ifndef PERF_GPU_SOURCE_JIT_NAMES_H
#define PERF_GPU_SOURCE_JIT_NAMES_H

#include <stdint.h>

#include "sidecar/sidecar.h"

struct jit_names;

/* @sidecar: must outlive the names. 0 or -ENOMEM. */
int jit_names__new(const struct sidecar *sidecar, struct jit_names **ret);
void jit_names__delete(struct jit_names *names); /* NULL is fine */

/**
 * jit_names__find - the name of the code at an address of a process
 * @log:     its index in the sidecar. A forked process has its parent's code, too.
 * @time_ns: when
 *
 * What can't be read has no names, which is warned of.
 *
 * Return: the name, demangled (valid as long as @names); NULL if there is none.
 */
const char *jit_names__find(struct jit_names *names, uint32_t log, uint64_t address,
			    uint64_t time_ns);

#endif
