/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libdwfl knows of one process: the files that a stack was walked through so
 * far, at the places where they are mapped. One thread.
 */
#ifndef PERF_GPU_UNWIND_MODULES_H
#define PERF_GPU_UNWIND_MODULES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/machine.h"

struct module {
	uint64_t low, high; /* addresses, as libdwfl wants them: from the file's first */
	uint64_t start; /* of the map with code that was hit */
	struct dso *dso;
	Elf *elf; /* owned by the dso */
	Dwfl_Module *reported;
	bool has_tables; /* to unwind by */
};

struct modules {
	const struct machine *machine;
	uint32_t pid;
	uint16_t elf_machine; /* EM_*; files of others are left out */
	Dwfl *dwfl; /* whose modules are those below */
	uint64_t nr_map_changes; /* of the machine, when they were looked at last */
	struct module *entries;
	size_t nr, nr_allocated;
};

/* Empty, in a Dwfl of its own. 0 or -ENOMEM. */
int modules__init(struct modules *modules, const struct machine *machine, uint32_t pid,
		  uint16_t elf_machine);
void modules__release(struct modules *modules);

/**
 * modules__refresh - forget what isn't mapped any more
 *
 * Call before each walk. What libdwfl has read of the others is kept. 0 or -ENOMEM.
 */
int modules__refresh(struct modules *modules);

/**
 * modules__add - have the file that is mapped at an address
 *
 * Return: 0, also if it was there before; -ENOENT if no file of the recorded build is
 * mapped there, or one without unwind tables; -ENOMEM.
 */
int modules__add(struct modules *modules, uint64_t address);

#endif
