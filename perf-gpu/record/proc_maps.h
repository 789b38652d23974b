/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a running process has mapped: /proc/PID/maps. One thread. */
#ifndef PERF_GPU_RECORD_PROC_MAPS_H
#define PERF_GPU_RECORD_PROC_MAPS_H

#include <stdint.h>
#include <sys/types.h>

#include "gpu_log.h"

/*
 * Gets a mapping, all but its rec and time_ns: valid during the call. Returns 0, or an
 * error that ends the reading.
 */
typedef int proc_map_handler_fn(void *ctx, const struct gpu_log_map *map);

/**
 * proc_maps__read - hand over every mapping, by address
 *
 * Return: 0, the handler's error, or a negative errno of opening and reading: -ESRCH or
 * -ENOENT without the process, -EACCES for another user's. Not printed.
 */
int proc_maps__read(pid_t pid, proc_map_handler_fn *handle, void *ctx);

#endif
