/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which GPUs there are, and what each process calls them: numbers are a process's own
 * (CUDA_VISIBLE_DEVICES), so GPUs are told apart by their UUIDs, which parts of a GPU
 * (MIG) have too. One that no UUID is known of is taken for another in each process.
 *
 * Pure: no I/O, no globals. One thread.
 */
#ifndef PERF_GPU_JOIN_DEVICES_H
#define PERF_GPU_JOIN_DEVICES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sidecar/sidecar.h"

struct devices;

/**
 * devices__new - find the GPUs of a recording
 * @sidecar: must outlive it
 * @ret:     released by devices__delete(); written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int devices__new(const struct sidecar *sidecar, struct devices **ret);
void devices__delete(struct devices *devices); /* NULL is fine */

/* How many GPUs there are; they have indexes from 0 on, by the first log that has them. */
size_t devices__nr(const struct devices *devices);

/* Index of the GPU that a log has as @device; -ENOENT if nothing there has that number. */
ssize_t devices__find(const struct devices *devices, uint32_t log, uint32_t device);

/* What the first log that has a GPU calls it. */
uint32_t devices__number(const struct devices *devices, size_t gpu);

/*
 * The number that a GPU is shown by, unique in the recording: what the first log calls
 * it, or, if an earlier GPU has that, the lowest that none has.
 */
uint32_t devices__shown_number(const struct devices *devices, size_t gpu);

/* What is told of a GPU; NULL if nothing is. */
const struct sidecar_device *devices__description(const struct devices *devices,
						  size_t gpu);

#endif
