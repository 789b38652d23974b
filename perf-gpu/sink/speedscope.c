// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope's file format (https://www.speedscope.app/file-format-schema.json): a profile
 * for each event, with a sample for each distinct stack, below the process's name.
 *
 *	{"$schema":"...","name":"...","exporter":"perf-gpu",
 *	 "profiles":[{"type":"sampled","name":"gpu-kernel","unit":"nanoseconds",
 *	   "startValue":0,"endValue":31456,"samples":[[0,1,2],...],"weights":[31456,...]}],
 *	 "shared":{"frames":[{"name":"main","file":"/usr/bin/app"},...]}}
 */
#include <errno.h>
#include <stdlib.h>

#include "sink/event_unit.h"
#include "sink/export.h"
#include "sink/json_text.h"
#include "sink/out_file.h"
#include "sink/stack_fold.h"
#include "util/gpu_events.h"
#include "util/log.h"
#include "util/sum.h"

struct speedscope {
	struct sink sink; /* first: what ops get is this */
	enum event_weight weight;
	struct out_file *file;
	uint32_t events;
	struct frame_names *names;
	struct stack_fold *fold;
};

static int no_memory(void)
{
	pr_err("no memory to add up stacks");
	return -ENOMEM;
}

/* From the root on: frames are numbers of names */
static void write_stack(struct speedscope *speedscope, uint32_t id)
{
	const struct stack_node *node = stack_fold__node(speedscope->fold, id);

	if (node->parent != STACK_FOLD_NO_NODE) {
		write_stack(speedscope, node->parent);
		out_file__char(speedscope->file, ',');
	}
	out_file__number(speedscope->file, node->name->id);
}

/* Of the leaves of an event, either their stacks or their weights; returns the sum. */
static uint64_t write_leaves(struct speedscope *speedscope, uint32_t event,
			     bool is_stacks)
{
	struct out_file *file = speedscope->file;
	bool is_first = true;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < stack_fold__nr(speedscope->fold); i++) {
		const struct stack_node *node = stack_fold__node(speedscope->fold, i);

		if (!node->nr || node->event != event)
			continue;
		if (!is_first)
			out_file__text(file, is_stacks ? ",\n" : ",");
		is_first = false;
		sum__add(&sum, node->period);
		if (is_stacks) {
			out_file__char(file, '[');
			write_stack(speedscope, i);
			out_file__char(file, ']');
		} else {
			out_file__number(file, node->period);
		}
	}
	return sum;
}

static void write_profile(struct speedscope *speedscope, uint32_t event)
{
	struct out_file *file = speedscope->file;
	bool is_bytes = event_unit__is_bytes(event, speedscope->weight);
	uint64_t sum;

	out_file__text(file, "{\"type\":\"sampled\",\"name\":");
	json_text__write(file, gpu_events[event].name);
	out_file__text(file,
		       is_bytes ? ",\"unit\":\"bytes\"" : ",\"unit\":\"nanoseconds\"");
	out_file__text(file, ",\n\"samples\":[");
	write_leaves(speedscope, event, true);
	out_file__text(file, "],\n\"weights\":[");
	sum = write_leaves(speedscope, event, false);
	out_file__text(file, "],\n\"startValue\":0,\"endValue\":");
	out_file__number(file, sum);
	out_file__char(file, '}');
}

static void write_frame(struct speedscope *speedscope, uint32_t id)
{
	const struct frame_name *name = frame_names__at(speedscope->names, id);

	out_file__text(speedscope->file, id ? ",\n{\"name\":" : "\n{\"name\":");
	json_text__write(speedscope->file, name->text);
	if (name->file) {
		out_file__text(speedscope->file, ",\"file\":");
		json_text__write(speedscope->file, name->file);
	}
	out_file__char(speedscope->file, '}');
}

static int speedscope__finish(struct sink *sink)
{
	struct speedscope *speedscope = (struct speedscope *)sink;
	struct out_file *file = speedscope->file;
	bool is_first = true;

	out_file__text(file,
		       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json"
		       "\",\n\"name\":\"GPU\",\"exporter\":\"perf-gpu " PERF_GPU_VERSION
		       "\",\"activeProfileIndex\":0,\n\"profiles\":[\n");
	for (uint32_t i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		if (!(speedscope->events & GPU_LOG_EVENT_BIT(i)))
			continue;
		if (!is_first)
			out_file__text(file, ",\n");
		is_first = false;
		write_profile(speedscope, i);
	}
	out_file__text(file, "],\n\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < frame_names__nr(speedscope->names); i++)
		write_frame(speedscope, i);
	out_file__text(file, "\n]}}\n");
	return out_file__finish(file);
}

static int speedscope__start(struct sink *sink, const struct sink_input *input)
{
	struct speedscope *speedscope = (struct speedscope *)sink;

	speedscope->events = input->events;
	if (frame_names__new(input, &speedscope->names) ||
	    stack_fold__new(speedscope->names, &speedscope->fold))
		return no_memory();
	return 0;
}

static int speedscope__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct speedscope *speedscope = (struct speedscope *)sink;
	const struct frame_name *root;

	if (frame_names__comm(speedscope->names, sample, &root) ||
	    stack_fold__add(speedscope->fold, sample, root, NULL))
		return no_memory();
	return 0;
}

static void speedscope__delete(struct sink *sink)
{
	struct speedscope *speedscope = (struct speedscope *)sink;

	if (!speedscope)
		return;
	stack_fold__delete(speedscope->fold);
	frame_names__delete(speedscope->names);
	out_file__close(speedscope->file);
	free(speedscope);
}

int sink_speedscope__new(const struct export_options *options, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = speedscope__start,
		.sample = speedscope__sample,
		.finish = speedscope__finish,
		.delete = speedscope__delete,
	};
	struct speedscope *speedscope = calloc(1, sizeof(*speedscope));
	int err;

	if (!speedscope)
		return no_memory();
	speedscope->sink.ops = &ops;
	speedscope->weight = options->weight;
	err = out_file__open(options->path, &speedscope->file);
	if (err) {
		free(speedscope);
		return err;
	}
	*ret = &speedscope->sink;
	return 0;
}
