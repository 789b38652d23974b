// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/events.h"

#include <string.h>
#include <time.h>

#include "util/arch.h"

/* In both, so that a record's trailing sample_id is where readers look for it */
#define COMMON_SAMPLE_TYPE                                                              \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

/* The kernel is excluded: perf then has no use for its map, and needs no right to it. */
static void init_common(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->sample_period = 1;
	attr->sample_type = COMMON_SAMPLE_TYPE;
	attr->sample_id_all = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC; /* the GPU's times are in it, too */
}

void launch_event__init(const struct stack_config *stack, uint64_t session,
			struct perf_event_attr *ring, struct perf_event_attr *file)
{
	init_common(ring);
	ring->config = PERF_COUNT_SW_BPF_OUTPUT;
	ring->sample_type |= PERF_SAMPLE_RAW;
	ring->exclude_callchain_kernel = 1;
	if (stack->call_graph != CALL_GRAPH_UNWIND)
		ring->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (stack->call_graph == CALL_GRAPH_FP)
		ring->sample_max_stack = (uint16_t)stack->max_frames;
	if (stack->call_graph == CALL_GRAPH_DWARF) {
		ring->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		ring->sample_regs_user = arch__host()->perf_user_regs;
		ring->sample_stack_user = stack->dwarf_bytes;
		ring->exclude_callchain_user = 1;
	}

	*file = *ring;
	file->sample_type |= PERF_SAMPLE_CALLCHAIN;
	file->config1 = session;
}

void sideband_event__init(const struct stack_config *stack, struct perf_event_attr *attr)
{
	init_common(attr);
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->inherit = 1;
	attr->task = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	/* Of the file that is mapped: at the end, another may have its name. */
	attr->build_id = 1;
	/* perf finds .eh_frame, which is in no executable segment, by its mapping. */
	attr->mmap_data = stack->call_graph == CALL_GRAPH_DWARF;
}
