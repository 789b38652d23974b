// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/perfdata_chains.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/hash_index.h"
#include "util/log.h"

#define NO_STACK_ID UINT64_MAX /* that no stack will ever have */

static int find_name(struct perfdata_chains *chains, struct kernel_elf *elf,
		     const char *name, uint64_t *ret)
{
	struct known_name *known = &chains->names[hash__mix(0, (uintptr_t)name) &
						  (PERFDATA_CHAINS_NR_NAMES - 1)];
	int err;

	if (known->name != name) {
		err = kernel_elf__address(elf, name, &known->address);
		if (err)
			return err;
		known->name = name;
	}
	*ret = known->address;
	return 0;
}

/* Room for one entry more than there are frames. 0 or -ENOMEM, printed */
static int reserve(struct known_chain *known, size_t nr_frames)
{
	uint64_t *grown;

	if (nr_frames < known->nr_allocated)
		return 0;
	grown = reallocarray(known->ips, nr_frames + 1, sizeof(*grown));
	if (!grown) {
		pr_err("no memory for a stack of %zu frames", nr_frames);
		return -ENOMEM;
	}
	known->ips = grown;
	known->nr_allocated = nr_frames + 1;
	return 0;
}

/* The callchain, but for its leaf, which is the entry number 1: NR entries with it */
static int make_chain(struct perfdata_chains *chains, struct kernel_elf *elf,
		      const struct gpu_sample *from, bool has_state, uint64_t *ips,
		      size_t *ret_nr)
{
	size_t nr = 2;
	int err;

	ips[0] = PERF_CONTEXT_USER;
	for (size_t i = 1; i < from->nr_frames; i++) {
		const struct gpu_frame *frame = &from->frames[i];

		if (frame->name) {
			err = find_name(chains, elf, frame->name, &ips[nr++]);
			if (err)
				return err;
		} else if (!has_state) {
			ips[nr++] = frame->ip;
		} /* else readers walk the copied stack, and would show it twice */
	}
	*ret_nr = nr;
	return 0;
}

/* The same, of a stack that has a number: it is made once. */
static int know_chain(struct perfdata_chains *chains, struct kernel_elf *elf,
		      const struct gpu_sample *from, bool has_state,
		      struct known_chain *known)
{
	int err;

	if (known->stack_id == from->stack_id)
		return 0;
	known->stack_id = 0;
	err = reserve(known, from->nr_frames);
	if (!err)
		err = make_chain(chains, elf, from, has_state, known->ips, &known->nr);
	if (!err)
		known->stack_id = from->stack_id;
	return err;
}

int perfdata_chains__set(struct perfdata_chains *chains, struct kernel_elf *elf,
			 const struct gpu_sample *from, struct perfdata_sample *sample)
{
	struct known_chain *chain =
		&chains->known[from->stack_id & (PERFDATA_CHAINS_NR_KNOWN - 1)];
	int err;

	if (!from->stack_id) {
		chain = &chains->other;
		chain->stack_id = NO_STACK_ID;
	}
	err = find_name(chains, elf, from->frames[0].name, &sample->ip);
	if (!err)
		err = know_chain(chains, elf, from, sample->user_state, chain);
	if (err)
		return err;
	chain->ips[1] = sample->ip;
	sample->ips = chain->ips;
	sample->nr_ips = chain->nr;
	return 0;
}

void perfdata_chains__release(struct perfdata_chains *chains)
{
	for (size_t i = 0; i < PERFDATA_CHAINS_NR_KNOWN; i++)
		free(chains->known[i].ips);
	free(chains->other.ips);
}
