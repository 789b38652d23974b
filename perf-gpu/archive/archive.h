/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in one file, with what names its functions: what perf-gpu archive writes.
 *
 *   perf-gpu-archive            first: "perf-gpu archive 1\n", the version
 *   perf.data
 *   perf.data.gpu
 *   symfs/...                   files with symbols (symbol/symbol_store.h)
 *   perf-gpu-archive.sums       last: "CRC32 BYTES NAME\n" of each file before it, in order
 *
 * An archive comes from anybody. So it is read as follows:
 *
 *   - Nothing of it has a name on disk: each file is unpacked into one that has none, in
 *     $TMPDIR or /var/tmp, and is gone with the process, however that ends. No name can lead
 *     out of a folder, and no link is made or followed.
 *   - Only regular files of the names above are taken, each once. Anything else ends it.
 *   - All files together have at most ARCHIVE_MAX_RATIO times the bytes of the archive, and
 *     64 MiB; there are at most ARCHIVE_MAX_FILES of them.
 *   - zstd takes at most the 128 MB of memory that libzstd allows by itself.
 *   - The sums must be there, and right: what is cut off or damaged isn't read.
 *
 * One thread.
 */
#ifndef PERF_GPU_ARCHIVE_ARCHIVE_H
#define PERF_GPU_ARCHIVE_ARCHIVE_H

#include <stdbool.h>

#include "symbol/symbol_store.h"

#define ARCHIVE_MARK	 "perf-gpu-archive"
#define ARCHIVE_VERSION	 "perf-gpu archive 1\n"
#define ARCHIVE_PERFDATA "perf.data"
#define ARCHIVE_SIDECAR	 "perf.data.gpu"
#define ARCHIVE_SUMS	 "perf-gpu-archive.sums"

/* Zeros, which GPU code is packed as, compress to a thirty-thousandth; code and data 3- to 50-fold. */
#define ARCHIVE_MAX_RATIO  1000
#define ARCHIVE_FREE_BYTES (64ull << 20)
/* Each is an open file. */
#define ARCHIVE_MAX_FILES 10000

struct archive_file;

/* Is there an archive at @path? It is not said if there is nothing that can be read. */
bool archive_file__is_one(const char *path);
/* Is an open file one? 0 or 1, or a negative errno if it can't be read. */
int archive_file__is_open_one(int fd);

/**
 * archive_file__open - unpack an archive
 * @fd:   stays the caller's
 * @path: for messages
 * @ret:  released by archive_file__close(); written on success only
 *
 * Return: 0 or a negative errno, printed: -EBADMSG for what is cut off or damaged, -EPERM for
 * what has no place in an archive, -EFBIG beyond the limits, -ENOTSUP for a later version and
 * without libarchive, -ENOMEM, those of making a file.
 */
int archive_file__open(int fd, const char *path, struct archive_file **ret);
void archive_file__close(struct archive_file *archive); /* NULL is fine */

/* The open files, which stay the archive's */
int archive_file__perfdata(const struct archive_file *archive);
int archive_file__sidecar(const struct archive_file *archive);
const struct symbol_store *archive_file__symbols(const struct archive_file *archive);

#endif
