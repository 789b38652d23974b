/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that a process's JIT compilers gave to its code, by address and time:
 * memory is used again. Filled once, then asked. One thread.
 */
#ifndef PERF_GPU_SYMBOL_JIT_SYMBOLS_H
#define PERF_GPU_SYMBOL_JIT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/dso.h"

struct jit_symbols;

int jit_symbols__new(struct jit_symbols **ret); /* 0 or -ENOMEM */
void jit_symbols__delete(struct jit_symbols *symbols); /* NULL is fine */

/**
 * jit_symbols__add_perf_map - add a piece of a perf map
 * @offset: where it begins in the file. If that isn't where the last piece ended, it
 *          is of another file, or what is missing is skipped, up to a whole line.
 * @text:   copied
 *
 * Return: 0 or -ENOMEM.
 */
int jit_symbols__add_perf_map(struct jit_symbols *symbols, uint64_t offset,
			      const char *text, size_t bytes);

/**
 * jit_symbols__add_code - add the struct gpu_log_jit_code of a jitdump's piece
 * @data: 8-byte aligned; copied
 *
 * Return: 0, -ENOMEM, or -EINVAL if one isn't whole: those before it are added.
 */
int jit_symbols__add_code(struct jit_symbols *symbols, const void *data, size_t bytes);

/* Make ready for jit_symbols__find(), after the last addition. 0 or -ENOMEM. */
int jit_symbols__finish(struct jit_symbols *symbols);

/**
 * jit_symbols__find - what lay at an address at a time
 * @time_ns: CLOCK_MONOTONIC
 *
 * Of those that were there up to then, the last one. If all came later, the first: a
 * runtime may tell of code that runs already. Of what has no time, the one that was
 * added last.
 *
 * Return: the symbol (valid as long as @symbols), or NULL.
 */
const struct symbol *jit_symbols__find(struct jit_symbols *symbols, uint64_t address,
				       uint64_t time_ns);

#endif
