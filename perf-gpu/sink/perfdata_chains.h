/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callchains of perf.data's samples. What was made for a stack's number, and for a name,
 * is kept: most samples have the stack of one before. One thread.
 */
#ifndef PERF_GPU_SINK_PERFDATA_CHAINS_H
#define PERF_GPU_SINK_PERFDATA_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/sample.h"
#include "sink/kernel_elf.h"
#include "sink/sink.h"

/*
 * Places in a table, of which the last one to come has it. 500 stacks and more are all
 * there; 4096 of 40 frames take 1.5 MB.
 */
#define PERFDATA_CHAINS_NR_KNOWN 4096
#define PERFDATA_CHAINS_NR_NAMES 4096

/* The callchain of a stack; its leaf is that of the sample at hand */
struct known_chain {
	uint64_t stack_id; /* 0: none */
	size_t nr, nr_allocated;
	uint64_t *ips;
};

/* The address of a name; the pointer is the key, as names stay where they are. */
struct known_name {
	const char *name;
	uint64_t address;
};

/* All 0 knows none. */
struct perfdata_chains {
	struct known_chain known[PERFDATA_CHAINS_NR_KNOWN];
	struct known_chain other; /* of the sample at hand, if its stack has no id */
	struct known_name names[PERFDATA_CHAINS_NR_NAMES];
};

/**
 * perfdata_chains__set - fill in a sample's ip and callchain
 * @elf:    which gets an address for each name; always the same
 * @sample: has its user_state already, with which the frames without a name are left to who
 *          walks it; its ips are valid until the next call
 *
 * Return: 0 or a negative errno, printed: -ENOMEM, or those of kernel_elf__address().
 */
int perfdata_chains__set(struct perfdata_chains *chains, struct kernel_elf *elf,
			 const struct gpu_sample *from, struct perfdata_sample *sample);

void perfdata_chains__release(struct perfdata_chains *chains);

#endif
