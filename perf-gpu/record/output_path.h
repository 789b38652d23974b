/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name of the output, of a pattern: so that each rank of a job, which all have the
 * same command line, has a file of its own.
 */
#ifndef PERF_GPU_RECORD_OUTPUT_PATH_H
#define PERF_GPU_RECORD_OUTPUT_PATH_H

#include <limits.h>

/**
 * output_path__expand - fill in what a pattern has
 * @pattern: %h is the host's name, %r the rank, which the recorder's own environment
 *           says, %p the recorder's process id, %% a %
 * @ret:     written on success only
 *
 * Return: 0 or a negative errno, printed: -EINVAL for another letter behind a %,
 * -ENOENT for %r where no variable has a rank, -ENAMETOOLONG.
 */
int output_path__expand(const char *pattern, char ret[PATH_MAX]);

#endif
