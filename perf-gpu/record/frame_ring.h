/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF ring buffers, one per CPU, that launches with the frames of their stack
 * go through (--call-graph unwind). One thread.
 */
#ifndef PERF_GPU_RECORD_FRAME_RING_H
#define PERF_GPU_RECORD_FRAME_RING_H

#include <stddef.h>
#include <stdint.h>

#include "util/failure.h"

struct frame_ring;

/*
 * Takes a struct launch_frames (bpf/launch_event.h) of @bytes bytes, valid and
 * unchanging during the call. Returns 0, or a negative errno to stop draining with.
 */
typedef int frame_handler_fn(void *ctx, const void *data, size_t bytes);

/**
 * frame_ring__bytes - the size of each ring
 * @nr_pages: what the user wants, a power of two; 0 takes a size that fits the machine
 */
uint32_t frame_ring__bytes(size_t nr_pages);

/**
 * frame_ring__open - make the rings and give them to the BPF program
 * @map_fd: its ARRAY_OF_MAPS, with a place for each CPU
 * @bytes:  of each ring, of frame_ring__bytes()
 * @handle: gets each record, with @ctx
 * @ret:    released by frame_ring__close(); written on success only
 * @failure: written on failure only; nothing is printed
 *
 * Return: 0 or a negative errno.
 */
int frame_ring__open(int map_fd, uint32_t bytes, frame_handler_fn *handle, void *ctx,
		     struct frame_ring **ret, struct failure *failure);

/* Becomes readable when the program wakes the reader. */
int frame_ring__fd(const struct frame_ring *ring);

/* Hand over what there is. Return: 0 or the handler's error. */
int frame_ring__drain(struct frame_ring *ring);

void frame_ring__close(struct frame_ring *ring); /* NULL is fine */

#endif
