// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why our events look as they do, each by experiment with perf 6.1 and 6.12,
 * hotspot 1.3 and stackcollapse-perf.pl: TASK_CLOCK is the one software event that
 * every tool prints stacks and periods of; without PERIOD all weigh alike; RAW, ADDR
 * and DATA_SRC change perf script's lines, which stackcollapse then counts as 1; WEIGHT
 * changes nothing until it is asked for.
 */
#include "sink/perfdata_events.h"

#include <errno.h>

#include "util/gpu_events.h"
#include "util/log.h"

#define SAMPLE_TYPE                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define USER_STATE (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static void init_attr(struct perf_event_attr *attr, const struct sink_input *input)
{
	const struct perf_event_attr *launch = &input->launch_event->attr;

	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = launch->use_clockid,
		.clockid = launch->clockid,
	};
	if (!input->is_unwound && (launch->sample_type & USER_STATE) == USER_STATE) {
		attr->sample_type |= USER_STATE;
		attr->sample_regs_user = launch->sample_regs_user;
		attr->sample_stack_user = launch->sample_stack_user;
	}
}

static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static int add_other_event(struct perfdata_writer *writer,
			   const struct perfdata_event_desc *event,
			   struct perfdata_events *events)
{
	struct perf_event_attr attr = event->attr;
	const char *name = *event->name ? event->name : "unknown";

	/* Which all events of the file, ours too, must have in the same place. */
	if (!(attr.sample_type & PERF_SAMPLE_IDENTIFIER)) {
		pr_err("event %s was recorded without sample identifiers, so it can't "
		       "be kept: leave out --keep-cpu",
		       name);
		return -ENOTSUP;
	}
	/* perf wants all alike, but for what its samples consist of */
	if (!(attr.sample_type & PERF_SAMPLE_READ))
		attr.read_format = events->attr.read_format;
	attr.sample_id_all = 1;
	events->has_tracepoints |= attr.type == PERF_TYPE_TRACEPOINT;
	return perfdata_writer__add_event(writer, &attr, event->ids, event->nr_ids, name);
}

/* One that no event of the input has */
static uint64_t free_id(const struct perfdata_reader *reader)
{
	uint64_t id = 0;

	for (size_t i = 0; i < perfdata_reader__nr_events(reader); i++) {
		const struct perfdata_event_desc *event =
			perfdata_reader__event(reader, i);

		for (uint32_t k = 0; k < event->nr_ids; k++)
			if (event->ids[k] > id)
				id = event->ids[k];
	}
	return id + 1;
}

/* All are alike but for their ids and names, by which readers tell them apart. */
static int add_own_events(struct perfdata_writer *writer, uint32_t wanted,
			  struct perfdata_events *events)
{
	uint64_t id = events->first_id;
	int err = 0;

	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS && !err; i++) {
		if (!(wanted & GPU_LOG_EVENT_BIT(i)))
			continue;
		events->ids[i] = id;
		err = perfdata_writer__add_event(writer, &events->attr, &id, 1,
						 gpu_events[i].name);
		id++;
	}
	return err;
}

int perfdata_events__add(struct perfdata_writer *writer, const struct sink_input *input,
			 bool has_weight, bool keep_other, const char *path,
			 struct perfdata_events *ret)
{
	size_t nr_events = perfdata_reader__nr_events(input->reader);
	struct perfdata_events events = {.first_id = free_id(input->reader)};
	int err;

	init_attr(&events.attr, input);
	if (has_weight)
		events.attr.sample_type |= PERF_SAMPLE_WEIGHT;
	err = add_own_events(writer, input->events, &events);
	for (size_t i = 0; i < nr_events && !err && keep_other; i++) {
		const struct perfdata_event_desc *event =
			perfdata_reader__event(input->reader, i);

		if (!input->is_launch[i] && !is_dummy(&event->attr))
			err = add_other_event(writer, event, &events);
	}
	if (err == -ENOMEM)
		pr_err("no memory to write %s", path);
	if (err)
		return err;
	*ret = events;
	return 0;
}
