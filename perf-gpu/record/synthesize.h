/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that ran before the recording did: its mappings, threads and their names,
 * as the kernel would have told of them. One thread.
 */
#ifndef PERF_GPU_RECORD_SYNTHESIZE_H
#define PERF_GPU_RECORD_SYNTHESIZE_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/output.h"

/**
 * synthesize__process - write records of all there is now
 * @has_data: also of mappings that aren't executable
 *
 * Call when the kernel tells of changes already: what changes while this reads is in
 * both. The records have the time before the reading, so the kernel's are later.
 *
 * Return: 0 or a negative errno. A process that ends meanwhile is no error.
 */
int synthesize__process(struct output *output, pid_t pid, bool has_data);

#endif
