/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of this process, and what changes in them. One thread at a
 * time, but for maps__have_changed().
 */
#ifndef PERF_GPU_INJECT_MAPS_H
#define PERF_GPU_INJECT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"

/* A line of /proc/self/maps */
struct map {
	struct gpu_log_map record; /* all but rec, time_ns and nr_bytes */
	const char *path; /* valid during the call of the handler */
};

/*
 * Gets a mapping that is new, or isn't what it was. Returns 0, or a negative errno that
 * ends the update: all changes are then told again by the next.
 */
typedef int map_handler_fn(void *ctx, const struct map *map);

struct maps;

/**
 * maps__new - no mapping is known yet
 * @ret: lives until the process ends; written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int maps__new(struct maps **ret);

/* No mapping is known any more. */
void maps__forget(struct maps *maps);

/*
 * Has the dynamic linker loaded or unloaded anything since the last maps__update()?
 * From any thread; see linker_counts.h for what it costs.
 */
bool maps__have_changed(const struct maps *maps);

/* Is there an executable mapping at an address, as far as is known? */
bool maps__has(const struct maps *maps, uint64_t address);

/**
 * maps__update - read /proc/self/maps, and tell of what has changed
 * @handle: called for each mapping, with @ctx
 *
 * Return: 0, the handler's error, or another negative errno.
 */
int maps__update(struct maps *maps, map_handler_fn *handle, void *ctx);

#endif
