/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gzip file (RFC 1952) that several threads compress: each piece of it by itself, so that
 * they needn't wait for each other, and written in order. It is one member, as any reader
 * takes it, and the same bytes however many threads there were.
 *
 *   header │ piece 1, deflated │ ... │ piece n │ crc32, length
 *
 * For one thread, which writes; those that compress take no signals.
 */
#ifndef PERF_GPU_SINK_GZIP_FILE_H
#define PERF_GPU_SINK_GZIP_FILE_H

#include <stddef.h>

#include "sink/out_file.h"

struct gzip_file;

/**
 * gzip_file__new - before the first byte
 * @out: what is written to, which the caller finishes and closes; must outlive it
 * @ret: released by gzip_file__delete(); written on success only
 *
 * Return: 0, -ENOMEM or that of pthread_create(3), not printed.
 */
int gzip_file__new(struct out_file *out, struct gzip_file **ret);
void gzip_file__delete(struct gzip_file *file); /* NULL is fine */

/* What fails is kept in @out. */
void gzip_file__write(struct gzip_file *file, const void *bytes, size_t nr_bytes);

/* The end of the file. Return: 0, or -ENOMEM, not printed, if a piece had no memory. */
int gzip_file__finish(struct gzip_file *file);

#endif
