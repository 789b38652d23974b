// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/sampler.h"

#include <errno.h>
#include <stdlib.h>

#include "join/devices.h"
#include "source/event_names.h"
#include "source/labels.h"
#include "source/lanes.h"
#include "util/log.h"
#include "util/sum.h"

struct sampler {
	struct sampler_input input;
	struct event_names names;
	struct devices *devices; /* these two: NULL if there is nothing to label */
	struct labels *labels;
	struct lanes *lanes; /* NULL: streams are no threads */
};

static int no_memory(const struct sampler *sampler)
{
	pr_err("no memory to read %s", sampler->input.options->perfdata_path);
	return -ENOMEM;
}

/* Labels that nothing in the recording has, and why */
static void explain_labels(const struct sampler *sampler)
{
	const struct label_list *list = &sampler->input.options->labels;
	bool has_nvtx = false, has_rank = false;

	for (size_t i = 0; i < sampler->input.sidecar->nr_logs; i++) {
		const struct sidecar_log *log = &sampler->input.sidecar->logs[i];

		has_nvtx |= log->kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_NVTX);
		has_rank |= log->has_rank;
	}
	if (!has_nvtx && label_list__has(list, LABEL_NVTX))
		pr_warning("--label nvtx: %s has no NVTX ranges: record them with "
			   "'perf-gpu record --nvtx'",
			   sampler->input.sidecar_path);
	if (!has_rank && label_list__has(list, LABEL_RANK))
		pr_warning("--label rank: no process in %s has a rank: none of the "
			   "variables that perf-gpu-record(1) lists was set",
			   sampler->input.sidecar_path);
}

/* With what samples are labelled, if anything is asked for */
static int make_labels(struct sampler *sampler)
{
	const struct source_options *options = sampler->input.options;

	if (!options->labels.nr && !options->has_label_values &&
	    !options->has_stream_threads)
		return 0;
	if (devices__new(sampler->input.sidecar, &sampler->devices) ||
	    labels__new(sampler->input.sidecar, sampler->devices, &options->labels,
			&sampler->labels))
		return no_memory(sampler);
	explain_labels(sampler);
	return 0;
}

static int make_lanes(struct sampler *sampler)
{
	const struct lanes_target target = {
		.sink = sampler->input.sink,
		.machine = sampler->input.machine,
		.attr = sampler->input.launch_attr,
	};

	if (!sampler->input.options->has_stream_threads)
		return 0;
	return lanes__new(&target, &sampler->lanes) ? no_memory(sampler) : 0;
}

int sampler__new(const struct sampler_input *input, struct sampler **ret)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	int err;

	if (!sampler) {
		pr_err("no memory to read %s", input->options->perfdata_path);
		return -ENOMEM;
	}
	sampler->input = *input;
	err = make_labels(sampler);
	if (!err)
		err = make_lanes(sampler);
	if (err) {
		sampler__delete(sampler);
		return err;
	}
	*ret = sampler;
	return 0;
}

void sampler__delete(struct sampler *sampler)
{
	if (!sampler)
		return;
	event_names__release(&sampler->names);
	lanes__delete(sampler->lanes);
	labels__delete(sampler->labels);
	devices__delete(sampler->devices);
	free(sampler);
}

/* Put the labels into the sample and its stack. */
static int add_labels(struct sampler *sampler, const struct occurrence *occurrence,
		      bool has_launch, struct gpu_sample *sample,
		      const struct stack **stack)
{
	const struct labels_query query = {
		.occurrence = occurrence,
		.pid = has_launch ? sample->pid : 0,
		.tid = has_launch ? sample->tid : 0,
		.time_ns = sample->time_ns,
	};

	sample->labels = NULL;
	if (!sampler->labels)
		return 0;
	if (labels__find(sampler->labels, &query, &sample->labels) ||
	    labels__add_frames(sampler->labels, *stack, stack))
		return no_memory(sampler);
	return 0;
}

/* To the sink, or to where it waits for its time */
static int pass_on(struct sampler *sampler, const struct gpu_sample *sample,
		   uint64_t start_ns)
{
	if (!sampler->lanes || !lanes__take(sample))
		return sampler->input.sink->ops->sample(sampler->input.sink, sample);
	if (lanes__hold(sampler->lanes, sample, start_ns))
		return no_memory(sampler);
	return 0;
}

int sampler__feed(struct sampler *sampler, const struct occurrence *occurrence,
		  bool has_launch, struct gpu_sample *sample)
{
	struct source_event_stats *stats = &sampler->input.stats->of[occurrence->event];
	bool has_activity = occurrence->event != GPU_LOG_EVENT_LAUNCH;
	struct stack *stack =
		launch_stacks__of(sampler->input.stacks,
				  has_activity ? occurrence->activity : NULL,
				  sample->user_state);
	const struct stack *labelled = stack;
	int err;

	if (stack->has_code || sample->user_state) {
		stats->nr_attributed++;
		sum__add(&stats->attributed, occurrence->period);
	}
	/* Readers take a period of 0 for the event's default. */
	if (!occurrence->period)
		return 0;
	stack->frames[0].name =
		event_names__get(&sampler->names, sampler->input.sidecar, occurrence,
				 sampler->input.options->names);
	if (!stack->frames[0].name)
		return no_memory(sampler);
	err = add_labels(sampler, occurrence, has_launch, sample, &labelled);
	if (err)
		return err;
	sample->frames = labelled->frames;
	sample->nr_frames = labelled->nr_frames;
	sample->stack_id = labelled->id;
	sample->event = occurrence->event;
	sample->period = occurrence->period;
	sample->activity = has_activity ? occurrence->activity : NULL;
	sample->call = has_activity ? NULL : occurrence->call;
	sample->has_launch = has_launch;
	sample->shape = occurrence__shape(occurrence, sampler->input.sidecar);
	stats->nr_written++;
	sum__add(&stats->written, sample->period);
	return pass_on(sampler, sample, occurrence->start_ns);
}

int sampler__feed_until(struct sampler *sampler, uint64_t time_ns)
{
	return sampler->lanes ? lanes__feed(sampler->lanes, time_ns) : 0;
}

uint64_t sampler__nr_unknown_threads(const struct sampler *sampler)
{
	return sampler->labels ? labels__nr_unknown_threads(sampler->labels) : 0;
}
