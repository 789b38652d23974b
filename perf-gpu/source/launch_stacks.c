// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/launch_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu_log.h"
#include "source/callchains.h"
#include "source/jit_names.h"
#include "source/node_stacks.h"
#include "source/python_stack.h"
#include "source/recent_stacks.h"
#include "source/unwinder.h"

#define UNATTRIBUTED "[unattributed]"

struct launch_stacks {
	struct launch_stacks_input input;
	struct jit_names *jit_names;
	struct unwinder *unwinder; /* NULL: stacks are left as they are */
	struct callchains *walked; /* by it */
	struct node_stacks *node_stacks;
	struct recent_stacks *recent; /* NULL: the names of frames depend on the time */
	struct stack made; /* the last that wasn't known */
	struct stack *stack; /* of the launch at hand */
	uint64_t nr_truncated;
};

int launch_stacks__new(const struct launch_stacks_input *input,
		       struct launch_stacks **ret)
{
	struct launch_stacks *stacks = calloc(1, sizeof(*stacks));
	int err;

	if (!stacks)
		return -ENOMEM;
	stacks->input = *input;
	err = jit_names__new(input->sidecar, &stacks->jit_names);
	if (!err)
		err = node_stacks__new(input->sidecar, input->options->graph_stacks,
				       &stacks->node_stacks);
	/* A JIT compiler may put other code in a place. */
	if (!err && !input->sidecar->nr_jits)
		err = recent_stacks__new(&stacks->recent);
	if (!err && input->options->unwind)
		err = unwinder__new(input->reader, input->launch_event, input->machine,
				    &stacks->unwinder);
	if (!err && stacks->unwinder)
		err = callchains__new(&stacks->walked);
	if (err) {
		launch_stacks__delete(stacks);
		return err;
	}
	*ret = stacks;
	return 0;
}

void launch_stacks__delete(struct launch_stacks *stacks)
{
	if (!stacks)
		return;
	recent_stacks__delete(stacks->recent);
	callchains__delete(stacks->walked);
	unwinder__delete(stacks->unwinder);
	node_stacks__delete(stacks->node_stacks);
	jit_names__delete(stacks->jit_names);
	free(stacks);
}

bool launch_stacks__are_unwound(const struct launch_stacks *stacks)
{
	return stacks->unwinder;
}

uint64_t launch_stacks__nr_truncated(const struct launch_stacks *stacks)
{
	return stacks->nr_truncated;
}

static void add_unattributed(struct stack *stack)
{
	if (stack->nr_frames < STACK_MAX_FRAMES)
		stack->frames[stack->nr_frames++] =
			(struct gpu_frame){.name = UNATTRIBUTED};
}

static bool is_truncated(const struct launch_sample *sample)
{
	return sample->nr_ips && GPU_LOG_FRAME_KIND(sample->ips[sample->nr_ips - 1]) ==
					 GPU_LOG_FRAME_TRUNCATED;
}

/* The stack of a sample; its frames end in [unattributed] if the program isn't in it. */
static struct stack *make(struct launch_stacks *stacks, const struct launch *launch,
			  int log, uint32_t api)
{
	const struct launch_stacks_input *input = &stacks->input;
	const struct launch_sample *from = &launch->sample;
	const struct stack_launch stack = {
		.pid = from->pid,
		.time_ns = from->time_ns,
		.ips = from->ips,
		.nr_ips = from->nr_ips,
		.api = log < 0 ? NULL
			       : sidecar__api_name(input->sidecar, (uint32_t)log, api),
		.jit_names = stacks->jit_names,
		.log = log,
		.is_hit = launch->is_hit,
	};
	struct stack *made = &stacks->made;

	made->id = 0;
	made->is_truncated = is_truncated(from);
	stack__build(made, input->machine, &stack, input->options->keep_driver_frames);
	python_stack__show(made, input->sidecar, log, input->machine, from->pid,
			   input->options->keep_interpreter_frames);
	if (!made->has_code && !from->user_state_bytes)
		add_unattributed(made);
	return made;
}

/* The same, made or known. Nothing that the sample points to is looked at if it is known. */
static struct stack *find(struct launch_stacks *stacks, const struct launch *launch,
			  int log)
{
	const struct launch_sample *from = &launch->sample;
	const struct recent_key key = {
		.epoch = machine__nr_map_changes(stacks->input.machine),
		.chain = launch->chain,
		.log = log,
		.api = launch->event.api & ~GPU_LOG_API_GRAPH_NODE,
		.pid = from->pid,
		.is_hit = launch->is_hit,
		.has_user_state = from->user_state_bytes,
	};
	struct stack *made, *known;

	if (!stacks->recent || !key.chain)
		return make(stacks, launch, log, key.api);
	known = recent_stacks__find(stacks->recent, &key);
	if (known)
		return known;
	made = make(stacks, launch, log, key.api);
	known = recent_stacks__add(stacks->recent, &key, made);
	return known ? known : made;
}

/* The callchain that was walked here has a number of its own. */
static int walk(struct launch_stacks *stacks, struct launch *launch)
{
	struct launch_sample *sample = &launch->sample;
	int err = unwinder__walk(stacks->unwinder, sample);

	if (!err)
		launch->chain =
			callchains__number(stacks->walked, sample->ips, sample->nr_ips);
	return err;
}

int launch_stacks__take(struct launch_stacks *stacks, struct launch *launch,
			bool is_needed)
{
	const struct launch_event *event = &launch->event;
	int log = join__find_log(stacks->input.join, event->log_id);
	ssize_t maker = -ENOENT;

	if (log >= 0)
		maker = node_stacks__wants(stacks->node_stacks, (uint32_t)log, event->api,
					   event->correlation_id);
	if (!is_needed && maker < 0)
		return 0;
	if (stacks->unwinder && walk(stacks, launch))
		return -ENOMEM;
	stacks->stack = find(stacks, launch, log);
	stacks->nr_truncated += stacks->stack->is_truncated;
	if (maker < 0)
		return 0;
	return node_stacks__add(stacks->node_stacks, maker, stacks->stack,
				stacks->input.machine, launch->sample.pid);
}

void launch_stacks__take_none(struct launch_stacks *stacks)
{
	stacks->stack = &stacks->made;
	stacks->stack->nr_frames = 1;
	stacks->stack->has_code = false;
	stacks->stack->id = 0;
	add_unattributed(stacks->stack);
}

struct stack *launch_stacks__of(struct launch_stacks *stacks,
				const struct sidecar_activity *activity, bool is_copied)
{
	struct stack *stack;

	if (is_copied || !activity)
		return stacks->stack;
	stack = node_stacks__of(stacks->node_stacks, activity, stacks->stack,
				stacks->input.machine);
	if (stack != stacks->stack && !stack->has_code &&
	    stacks->input.options->graph_stacks == GRAPH_STACKS_CAPTURE)
		add_unattributed(stack);
	return stack;
}
