/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf rings, one per CPU, that launches with a stack of the kernel's making go
 * through (--call-graph fp and dwarf). One thread.
 *
 * The kernel's LOST records are not passed on: BPF has counted the same losses
 * (probe__nr_lost_ring()), and those that no LOST record tells of.
 */
#ifndef PERF_GPU_RECORD_RING_H
#define PERF_GPU_RECORD_RING_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "util/failure.h"

struct ring;

/*
 * Takes a record, valid during the call; event->size bytes are readable. Returns
 * 0, or a negative errno to stop draining with.
 */
typedef int ring_handler_fn(void *ctx, const struct perf_event_header *event);

/**
 * ring__open - make the rings and give them to the BPF program
 * @map_fd:   its PERF_EVENT_ARRAY
 * @attr:     of the samples; watermarks are set here
 * @nr_pages: of each ring, a power of two; 0 takes a size that fits the machine
 * @handle:   gets each PERF_RECORD_SAMPLE, with @ctx
 * @ret:      released by ring__close(); written on success only
 * @failure: written on failure only; nothing is printed
 *
 * Return: 0 or a negative errno.
 */
int ring__open(int map_fd, const struct perf_event_attr *attr, size_t nr_pages,
	       ring_handler_fn *handle, void *ctx, struct ring **ret,
	       struct failure *failure);

/* Becomes readable when a ring is a quarter full. */
int ring__fd(const struct ring *ring);

/* Hand over what there is. Return: 0 or the handler's error. */
int ring__drain(struct ring *ring);

void ring__close(struct ring *ring); /* NULL is fine */

#endif
