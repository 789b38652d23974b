/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names a JIT compiler gives to its code: /tmp/perf-PID.map
 * (linux tools/perf/Documentation/jit-interface.txt). One thread.
 */
#ifndef PERF_GPU_SYMBOL_PERF_MAP_H
#define PERF_GPU_SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/dso.h"

struct perf_map;

/* Which file can be the one that the recorded process wrote. */
struct perf_map_origin {
	uid_t uid; /* whose it must be */
	uint64_t end_ns; /* CLOCK_REALTIME; not written to later */
};

/**
 * perf_map__open - read a perf map
 * @path: the file; a symbolic link isn't followed
 * @origin: what the file must be
 * @ret:  released by perf_map__close(); written on success only
 *
 * Return: 0 or a negative errno, said with pr_debug() only: those of open(2),
 * -EINVAL if it is no regular file, -ESTALE if it is another process's, -ENOMEM.
 */
int perf_map__open(const char *path, const struct perf_map_origin *origin,
		   struct perf_map **ret);
/**
 * perf_map__open_stored - read one that was packed
 * @fd:   stays the caller's; -ENOENT: there is none, which is returned
 * @path: for messages
 */
int perf_map__open_stored(int fd, const char *path, struct perf_map **ret);

void perf_map__close(struct perf_map *map); /* NULL is fine */

/**
 * perf_map__text - what was read, as it stands in the file
 *
 * Return: a copy for free(), NULL without memory.
 */
char *perf_map__text(const struct perf_map *map, size_t *ret_bytes);

/* The symbol that covers an address of the process, or NULL. */
const struct symbol *perf_map__find(struct perf_map *map, uint64_t address);

/**
 * perf_map__parse_line - the symbol of a line, without its newline
 * @ret: its name points into @line; written on success only
 *
 * Return: 0, or -EINVAL for a line that has none.
 */
int perf_map__parse_line(const char *line, struct symbol *ret);

#endif
