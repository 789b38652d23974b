/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This process as a machine that was recorded: what is mapped in it.
 */
#ifndef PERF_GPU_TESTS_OWN_MACHINE_H
#define PERF_GPU_TESTS_OWN_MACHINE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/format.h"
#include "symbol/machine.h"

#define OWN_MACHINE_PATH_BYTES 512

/* Map a file in process @pid of @machine. */
static inline void own_machine__map(struct machine *machine, uint32_t pid, uint64_t start,
				    uint64_t end, uint64_t pgoff, const char *path)
{
	struct {
		struct perfdata_mmap2 map;
		char path[OWN_MACHINE_PATH_BYTES];
	} record = {
		.map = {.header = {.type = PERF_RECORD_MMAP2,
				   .misc = PERF_RECORD_MISC_USER,
				   .size = sizeof(record)},
			.pid = pid,
			.tid = pid,
			.addr = start,
			.bytes = end - start,
			.pgoff = pgoff,
			.prot = PROT_READ | PROT_EXEC,
			.flags = MAP_PRIVATE},
	};

	snprintf(record.path, sizeof(record.path), "%s", path);
	if (machine__process(machine, &record.map.header))
		abort();
}

/* Our executable mappings, as those of our own pid. */
static inline void own_machine__fill(struct machine *machine)
{
	char line[1024], path[OWN_MACHINE_PATH_BYTES], prot[5];
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start, end, offset;

	if (!maps)
		abort();
	while (fgets(line, sizeof(line), maps)) {
		strcpy(path, "//anon");
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511[^\n]",
			   &start, &end, prot, &offset, path) >= 4 &&
		    prot[2] == 'x')
			own_machine__map(machine, (uint32_t)getpid(), start, end, offset,
					 path);
	}
	fclose(maps);
}

#endif
