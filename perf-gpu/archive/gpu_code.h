/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPU's code in an ELF file, which nvcc puts into sections of its own: most of what CUDA's
 * libraries are (libcublasLt: 500 MB of it), and nothing that names or unwinds a function
 * of the CPU. One thread.
 */
#ifndef PERF_GPU_ARCHIVE_GPU_CODE_H
#define PERF_GPU_ARCHIVE_GPU_CODE_H

#include <libelf.h>
#include <stddef.h>

#include "archive/tar_zst.h"

/**
 * gpu_code__find - where it is
 * @bytes: of the file
 * @ret:   for free(); NULL if there is none. Sorted, without overlaps, within the file.
 *
 * Return: 0 or -ENOMEM. A file with a broken table of sections has none.
 */
int gpu_code__find(Elf *elf, size_t bytes, struct byte_range **ret, size_t *ret_nr);

#endif
