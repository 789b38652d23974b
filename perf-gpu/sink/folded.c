// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, as stackcollapse-perf.pl of FlameGraph makes them of the text that
 * `perf-gpu script` prints, a line for each distinct stack:
 *
 *   python3;main;train_step;cudaLaunchKernel;[GPU_Kernel]sgemm 31456
 *
 * Names are made safe for any reader of such text (sink/folded_names.h). Lines that begin
 * alike stand together (sink/folded_stacks.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/event_unit.h"
#include "sink/folded_stacks.h"
#include "sink/out_file.h"
#include "sink/sink.h"
#include "util/gpu_events.h"
#include "util/log.h"

struct folded_sink {
	struct sink sink; /* first: what ops get is this */
	struct folded_options options;
	struct out_file *output;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that are added up */
	struct frame_names *names;
	struct folded_stacks *stacks;
};

static int no_memory(void)
{
	pr_err("no memory to add up stacks");
	return -ENOMEM;
}

/* In us and ms with all digits, but no more than needed */
static void print_period(struct folded_sink *folded, uint64_t period)
{
	unsigned int digits = folded->options.unit == TIME_UNIT_US   ? 3
			      : folded->options.unit == TIME_UNIT_MS ? 6
								     : 0;

	while (digits && period % 10 == 0) {
		period /= 10;
		digits--;
	}
	out_file__decimal(folded->output, period, digits);
}

static int print_line(void *data, const char *text, size_t bytes, uint64_t period)
{
	struct folded_sink *folded = data;

	out_file__write(folded->output, text, bytes);
	out_file__char(folded->output, ' ');
	print_period(folded, period);
	out_file__char(folded->output, '\n');
	return out_file__error(folded->output);
}

/* --- the sink --------------------------------------------------------------------------- */

static void tell_of_others(const struct folded_sink *folded, uint32_t events)
{
	char others[256] = "";

	for (uint32_t i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (events & ~folded->events & GPU_LOG_EVENT_BIT(i))
			snprintf(others + strlen(others), sizeof(others) - strlen(others),
				 "%s%s", *others ? ", " : "", gpu_events[i].name);
	if (*others)
		pr_info("folded stacks of %s; there are %s too: choose with -e",
			gpu_events[event_unit__first(folded->events)].name, others);
}

static int folded__start(struct sink *sink, const struct sink_input *input)
{
	struct folded_sink *folded = (struct folded_sink *)sink;
	uint32_t first = event_unit__first(input->events);

	folded->events =
		folded->options.has_all_events ? input->events : GPU_LOG_EVENT_BIT(first);
	if (!event_unit__is_common(folded->events, folded->options.weight))
		return -EINVAL;
	if (folded->options.unit != TIME_UNIT_NONE &&
	    event_unit__is_bytes(first, folded->options.weight)) {
		pr_err("--unit is of times, and %s is in bytes: leave it out",
		       gpu_events[first].name);
		return -EINVAL;
	}
	tell_of_others(folded, input->events);
	if (frame_names__new(input, &folded->names) ||
	    folded_stacks__new(folded->names, &folded->stacks))
		return no_memory();
	return 0;
}

static int folded__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct folded_sink *folded = (struct folded_sink *)sink;
	const struct frame_name *root;

	if (!(folded->events & GPU_LOG_EVENT_BIT(sample->event)))
		return 0;
	if (frame_names__comm(folded->names, sample, &root) ||
	    folded_stacks__add(folded->stacks, sample, root))
		return no_memory();
	return 0;
}

static int folded__finish(struct sink *sink)
{
	struct folded_sink *folded = (struct folded_sink *)sink;
	int err = folded_stacks__print(folded->stacks, print_line, folded);

	if (err)
		return err == -ENOMEM ? no_memory() : err;
	return out_file__finish(folded->output);
}

static void folded__delete(struct sink *sink)
{
	struct folded_sink *folded = (struct folded_sink *)sink;

	if (!folded)
		return;
	folded_stacks__delete(folded->stacks);
	frame_names__delete(folded->names);
	out_file__close(folded->output);
	free(folded);
}

int sink_folded__new(const struct folded_options *options, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = folded__start,
		.sample = folded__sample,
		.finish = folded__finish,
		.delete = folded__delete,
	};
	struct folded_sink *folded = calloc(1, sizeof(*folded));
	int err;

	if (!folded)
		return no_memory();
	folded->sink.ops = &ops;
	folded->options = *options;
	err = out_file__open(NULL, &folded->output);
	if (err) {
		free(folded);
		return err;
	}
	*ret = &folded->sink;
	return 0;
}
