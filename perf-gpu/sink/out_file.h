/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a sink writes to: stdout, or a file that has its name only once it is whole
 * (until then it is NAME.XXXXXX beside it, which out_file__close() removes).
 *
 * The first write that fails is printed, and then kept: nothing is written any more, and
 * out_file__error() tells it. So a sink looks once a sample. One thread.
 */
#ifndef PERF_GPU_SINK_OUT_FILE_H
#define PERF_GPU_SINK_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out_file;

/**
 * out_file__open - begin to write
 * @path: copied; NULL or "-": stdout
 * @ret:  released by out_file__close(); written on success only
 *
 * Return: 0 or a negative errno, printed: that of making the file, -EINVAL or -EISDIR if
 * @path is there and no regular file, -ENOMEM.
 */
int out_file__open(const char *path, struct out_file **ret);

/* Only its user may read it, as a recording. 0 or a negative errno, printed. */
int out_file__make_private(struct out_file *file);

/* Remove what is not finished. NULL is fine. */
void out_file__close(struct out_file *file);

void out_file__write(struct out_file *file, const void *bytes, size_t nr_bytes);
void out_file__text(struct out_file *file, const char *text);
void out_file__char(struct out_file *file, char c);
void out_file__number(struct out_file *file, uint64_t number);
/* @nr digits behind a point: 12345, 3: "12.345" */
void out_file__decimal(struct out_file *file, uint64_t number, unsigned int nr);

/**
 * out_file__room - where the next bytes can be put at once
 * @nr_bytes: how many at most; OUT_FILE_MAX_ROOM or less
 *
 * Never fails: after an error there is room that nothing is written of. What was put there
 * is taken by out_file__take(), which comes before any other call.
 */
#define OUT_FILE_MAX_ROOM 65536
char *out_file__room(struct out_file *file, size_t nr_bytes);
void out_file__take(struct out_file *file, const char *end);

/* How many bytes were given so far */
uint64_t out_file__nr_bytes(const struct out_file *file);

/* 0, or what out_file__write() failed with: printed, but for -EPIPE of stdout. */
int out_file__error(const struct out_file *file);

/* Write all that is left, and give the file its name. Return: as out_file__error(). */
int out_file__finish(struct out_file *file);

#endif
