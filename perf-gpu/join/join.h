/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches × GPU records. The key is (log, correlation id), which the injected
 * library gave to both sides: no clock, no pid and no order is involved.
 *
 * Two steps, since a kernel without a launch is known only once all launches
 * are: announce every launch, then ask for the kernels of each and for the rest.
 *
 * Invariant: if every launch that is announced is asked for, every kernel of the
 * sidecar is handed out exactly once, by join__launch() or by join__rest(), so
 * time is neither lost nor doubled.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_JOIN_H
#define PERF_GPU_JOIN_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "sidecar/sidecar.h"

struct join;

/**
 * join__new - index a sidecar's kernels
 * @sidecar: must outlive the join; its kernels array is put in join order
 * @ret:     released by join__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int join__new(struct sidecar *sidecar, struct join **ret);
void join__delete(struct join *join); /* NULL is fine */

/**
 * join__announce - say that there is a launch
 *
 * Its kernels (if any) are join__launch()'s from here on, and not the rest.
 */
void join__announce(struct join *join, uint64_t log_id, uint64_t correlation_id);

/**
 * join__launch - the kernels of one launch
 * @log_id, @correlation_id: of the launch's sample
 * @ret_kernels: first of them; they follow each other, in order of their start
 *
 * Return: how many kernels: 0 if the launch has no GPU record, or if they
 * were handed out before (a key that comes twice).
 */
size_t join__launch(struct join *join, uint64_t log_id, uint64_t correlation_id,
		    const struct sidecar_kernel **ret_kernels);

/**
 * join__rest - the next kernel whose launch wasn't announced
 * @cursor: 0 at first
 *
 * Return: the kernel, in no particular order, or NULL at the end.
 */
const struct sidecar_kernel *join__rest(struct join *join, size_t *cursor);

/* Index in sidecar.logs of a log, or -ENOENT. */
int join__find_log(const struct join *join, uint64_t log_id);

#endif
