/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_GPU_SOURCE_RECORDED_FILES_H
#define PERF_GPU_SOURCE_RECORDED_FILES_H

#include "perfdata/reader.h"
#include "symbol/machine.h"

/**
 * recorded_files__tell - tell a machine which files were mapped: symbols of other builds
 *                        would be wrong
 *
 * Return: 0; -EINVAL if the table of build ids is broken, of which what precedes that is
 * told; -ENOMEM. Prints nothing.
 */
int recorded_files__tell(const struct perfdata_reader *reader, struct machine *machine);

#endif
