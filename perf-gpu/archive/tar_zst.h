/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A .tar.zst, by libarchive: tar in GNU's form, in one zstd stream. Without libarchive
 * (archive/no_tar_zst.c) opening one fails with -ENOTSUP, printed. One thread.
 */
#ifndef PERF_GPU_ARCHIVE_TAR_ZST_H
#define PERF_GPU_ARCHIVE_TAR_ZST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/out_file.h"

struct tar_zst_writer;
struct tar_zst_reader;

/* [start, end), bytes of a file */
struct byte_range {
	size_t start, end;
};

struct tar_zst_file {
	const char *name;
	const void *data;
	size_t bytes;
	int64_t time_s; /* of its last change */
	/* @data is a file's mapping as it is, from its first page on: pages are given back */
	bool is_mapped;
	/* What is written as zeros: sorted, without overlaps, within the file */
	const struct byte_range *blanks;
	size_t nr_blanks;
};

/**
 * tar_zst_writer__open - begin to write
 * @to:   must outlive the writer; who opened it finishes it
 * @path: of it, for messages; kept by reference
 * @ret:  released by tar_zst_writer__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int tar_zst_writer__open(struct out_file *to, const char *path,
			 struct tar_zst_writer **ret);

/**
 * tar_zst_writer__add - add a regular file
 * @ret_crc32: zlib's, of what was written
 *
 * Return: 0 or a negative errno, printed.
 */
int tar_zst_writer__add(struct tar_zst_writer *writer, const struct tar_zst_file *file,
			uint32_t *ret_crc32);

/* All is added. 0 or a negative errno, printed. */
int tar_zst_writer__finish(struct tar_zst_writer *writer);
void tar_zst_writer__close(struct tar_zst_writer *writer); /* NULL is fine */

/**
 * tar_zst_reader__open - begin to read
 * @fd:   stays the caller's; read from its beginning; progress__at() is told how far
 * @path: of it, for messages; kept by reference
 * @ret:  released by tar_zst_reader__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int tar_zst_reader__open(int fd, const char *path, struct tar_zst_reader **ret);
void tar_zst_reader__close(struct tar_zst_reader *reader); /* NULL is fine */

/**
 * tar_zst_reader__next - the next file
 * @ret_name:  valid until the next call
 * @ret_bytes: how many it says it has
 *
 * Return: 1; 0 at the end; or, printed, -EBADMSG for what is cut off or damaged, -EPERM for
 * what is no regular file, other negative errnos.
 */
int tar_zst_reader__next(struct tar_zst_reader *reader, const char **ret_name,
			 uint64_t *ret_bytes);

/**
 * tar_zst_reader__read - the next bytes of the file
 * @ret:       valid until the next call
 * @ret_bytes: at least 1
 *
 * All pieces together are as long as tar_zst_reader__next() has said, or it fails.
 *
 * Return: as tar_zst_reader__next().
 */
int tar_zst_reader__read(struct tar_zst_reader *reader, const void **ret,
			 size_t *ret_bytes);

#endif
