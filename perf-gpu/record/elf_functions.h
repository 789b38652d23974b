/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a file has the functions that it exports. */
#ifndef PERF_GPU_RECORD_ELF_FUNCTIONS_H
#define PERF_GPU_RECORD_ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool elf_function_filter_fn(const char *name, const void *ctx);

/**
 * elf_functions__find - offsets of a file's exported functions
 * @path:      of an ELF file
 * @is_wanted: by name, with @ctx
 * @max:       room in @ret_offsets; further ones are left out
 * @ret_offsets: in the file; those of two names for one function once
 * @ret_nr:    how many; may be 0. Both are written on success only.
 *
 * Any thread. Return: 0; those of open(2); -EINVAL if it is no ELF file.
 */
int elf_functions__find(const char *path, elf_function_filter_fn *is_wanted,
			const void *ctx, size_t max, uint64_t *ret_offsets,
			size_t *ret_nr);

#endif
