/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data.gpu of several: the blocks of all logs, of one session and on one clock, and
 * one block of the recorders'. Written under a temporary name. One thread.
 */
#ifndef PERF_GPU_MERGE_MERGE_SIDECAR_H
#define PERF_GPU_MERGE_MERGE_SIDECAR_H

#include <stddef.h>
#include <stdint.h>

#include "merge/input.h"

struct merge_sidecar;

/**
 * merge_sidecar__open - create the file under a temporary name
 * @path:    where it will be once committed; kept by reference
 * @session: of its blocks
 * @ret:     released by merge_sidecar__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int merge_sidecar__open(const char *path, uint64_t session, struct merge_sidecar **ret);

/**
 * merge_sidecar__add - write the logs of a recording
 *
 * Return: 0 or a negative errno, printed: -ENOTSUP for records of a later perf-gpu,
 * whose times nobody knows here. A block that breaks the format ends in a warning, and
 * what is behind the broken record in it is left out.
 */
int merge_sidecar__add(struct merge_sidecar *sidecar, const struct merge_input *input);

/* Write the recorders' block, behind all logs. 0 or a negative errno, printed. */
int merge_sidecar__end(struct merge_sidecar *sidecar, struct merge_input *const *inputs,
		       size_t nr_inputs);

/* Bytes so far */
uint64_t merge_sidecar__bytes(const struct merge_sidecar *sidecar);

/* Give it its name. 0 or a negative errno, printed; the path is then as it was. */
int merge_sidecar__commit(struct merge_sidecar *sidecar);

/* Release; without merge_sidecar__commit() nothing is left. NULL is fine. */
void merge_sidecar__close(struct merge_sidecar *sidecar);

#endif
