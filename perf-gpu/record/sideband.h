/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorded process and its descendants map, fork and execute, from the
 * kernel: MMAP2, COMM, FORK and EXIT records. One thread.
 */
#ifndef PERF_GPU_RECORD_SIDEBAND_H
#define PERF_GPU_RECORD_SIDEBAND_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/failure.h"

struct sideband;

/* As ring_handler_fn: the record is valid during the call. */
typedef int sideband_handler_fn(void *ctx, const struct perf_event_header *event);

/**
 * sideband__open - watch a process that has not executed its command yet
 * @pid:    the process; its descendants are watched too. -1: all processes
 * @attr:   of sideband_event__init(); without build ids if the kernel has none
 * @handle: gets each record, with @ctx
 * @ret:    released by sideband__close(); written on success only
 * @failure: written on failure only; nothing is printed
 *
 * Return: 0 or a negative errno.
 */
int sideband__open(pid_t pid, const struct perf_event_attr *attr,
		   sideband_handler_fn *handle, void *ctx, struct sideband **ret,
		   struct failure *failure);

/* Hand over what there is. Return: 0 or the handler's error. */
int sideband__drain(struct sideband *sideband);

/* Records that found no room, or were too long to read. */
uint64_t sideband__nr_lost(const struct sideband *sideband);

void sideband__close(struct sideband *sideband); /* NULL is fine */

#endif
