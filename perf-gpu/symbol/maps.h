/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped where in an address space: sorted, without overlaps, since a new
 * map cuts what it covers, as the kernel's mmap does. Processes share one after a
 * fork, and most of it after one of them has mapped something. One thread.
 */
#ifndef PERF_GPU_SYMBOL_MAPS_H
#define PERF_GPU_SYMBOL_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct dso;

struct map {
	uint64_t start, end; /* addresses, end excluded */
	uint64_t pgoff; /* offset of start in the file, bytes */
	struct dso *dso; /* never NULL; owned by the machine */
};

/* An address space; NULL is an empty one. */
struct maps;

/* One user more: both get the same, which is put back by both. */
struct maps *maps__share(struct maps *maps);
void maps__put(struct maps *maps);

/**
 * maps__insert - map something
 * @maps: who else shares *@maps keeps it as it was; NULL is fine
 * @new:  not empty; replaces what lies in its range, what sticks out of that stays
 *
 * Return: 0 or -ENOMEM, after which *@maps is as it was.
 */
int maps__insert(struct maps **maps, const struct map *new);

/* The map that holds @address, or NULL; valid until the next maps__insert(). */
const struct map *maps__find(const struct maps *maps, uint64_t address);

#endif
