/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which tracepoints of a perf.data are probes on functions that launch, as
 *
 *   perf probe -x libcuda.so.1 cuLaunchKernel
 *   perf record -k CLOCK_MONOTONIC -g -e 'probe_libcuda:*' ...
 *
 * makes them. One thread.
 */
#ifndef PERF_GPU_SOURCE_PROBE_EVENTS_H
#define PERF_GPU_SOURCE_PROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "perfdata/reader.h"
#include "symbol/symbol_files.h"

/**
 * probe_events__find - mark the events that are such probes
 * @reader: of the recording
 * @place:  where the recorded machine's files are
 * @ret:    one for each of the reader's events; set to true where it is one
 *
 * Known by the name that perf gives it, probe_libcuda:cuLaunchKernel, or, where the user
 * has given another, by the function that is at the address of its first hits.
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int probe_events__find(struct perfdata_reader *reader, const struct symbol_place *place,
		       bool *ret);

#endif
