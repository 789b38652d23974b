/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What isn't laid out as a file that can be mapped and read: pipe mode (perf record -o -),
 * and compressed records (perf record -z). It is written anew, as perf would have without
 * those, into a file that has no name (util/nameless_file.h). One thread.
 */
#ifndef PERF_GPU_PERFDATA_UNPACK_H
#define PERF_GPU_PERFDATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* Is it something that perfdata_unpack() is for? It may be anything. */
bool perfdata_unpack__is_needed(const void *file, size_t bytes);

/**
 * perfdata_unpack - make the plain file
 * @path: for messages
 * @file, @bytes: for which perfdata_unpack__is_needed() is true
 * @ret_fd: to be closed; of pipe mode without what no one here reads: records that perf
 *          itself makes, and AUX data
 * @ret_is_cut: it ends within a record; all that is before is there. Both are written on
 *          success only.
 *
 * Return: 0, or printed: -EINVAL for what is broken, or bursts when decompressed; -ENOTSUP
 * without libzstd; -ENOMEM; those of making and writing the file.
 */
int perfdata_unpack(const char *path, const void *file, size_t bytes, int *ret_fd,
		    bool *ret_is_cut);

#endif
