/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches × what happened on the GPU. The key is (log, correlation id), which the injected
 * library gave to both sides: no clock, no pid and no order is involved.
 *
 * Two steps, since an occurrence without a launch is known only once all launches
 * are: announce every launch, then ask for the occurrences of each and for the rest. In
 * between, and while launches are announced, what happened is indexed.
 *
 * Invariant: if every launch that is announced is asked for, every occurrence is
 * handed out exactly once, by join__launch() or by join__rest(), so
 * time is neither lost nor doubled.
 *
 * Pure: no I/O, no globals. One thread, but that one may index while another announces.
 */
#ifndef PERF_GPU_JOIN_JOIN_H
#define PERF_GPU_JOIN_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "join/occurrences.h"
#include "sidecar/sidecar.h"

struct join;

/**
 * join__new - nothing is announced
 * @sidecar: of whose logs launches are
 * @ret:     released by join__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int join__new(const struct sidecar *sidecar, struct join **ret);
void join__delete(struct join *join); /* NULL is fine */

/**
 * join__index - index what happened, once
 * @occurrences: of the sidecar's logs; must outlive the join; its items, if it has any, are
 *               put in join order
 *
 * To be done before anything but join__announce() and join__find_log(). Return: 0 or -ENOMEM.
 */
int join__index(struct join *join, struct occurrences *occurrences);

/**
 * join__announce - say that there is a launch
 *
 * Its occurrences (if any) are join__launch()'s from here on, and not the rest.
 *
 * Return: 0 or -ENOMEM.
 */
int join__announce(struct join *join, uint64_t log_id, uint64_t correlation_id);

/**
 * join__launch - what one launch made the GPU do
 * @log_id, @correlation_id: of the launch's sample
 * @ret_first: place of the first of its occurrences, for join__at(): they follow each other,
 *             in order of their start. Written if there are any
 *
 * Return: how many: 0 if the launch has no GPU record, or if they
 * were handed out before (a key that comes twice).
 */
size_t join__launch(struct join *join, uint64_t log_id, uint64_t correlation_id,
		    size_t *ret_first);

/**
 * join__rest - the next occurrence whose launch wasn't announced
 * @cursor: 0 at first; behind the occurrence's place then
 *
 * Return: the occurrence, as of join__at(), in no particular order, or NULL at the end.
 */
const struct occurrence *join__rest(struct join *join, size_t *cursor);

/**
 * join__at - the occurrence at a place
 *
 * It, and its activity, are valid until the next call of this or of join__rest().
 */
const struct occurrence *join__at(struct join *join, size_t place);

/* Index in sidecar.logs of a log, or -ENOENT. */
int join__find_log(const struct join *join, uint64_t log_id);

#endif
