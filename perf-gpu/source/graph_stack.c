// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/graph_stack.h"

#include <stdbool.h>
#include <string.h>

static const struct gpu_frame joint = {.name = "[CUDA graph]"};
static const struct gpu_frame unknown = {.name = "[graph made before recording]"};
static const struct gpu_frame truncated = {.name = "[truncated]"};

static bool is_same(const struct gpu_frame *a, const struct gpu_frame *b)
{
	if (!a->name || !b->name)
		return !a->name && !b->name && a->ip == b->ip;
	return !strcmp(a->name, b->name);
}

/* How many outermost frames both have; the innermost one of @made is never among them. */
static size_t count_common(const struct stack *launch, const struct gpu_frame *made,
			   size_t nr_made)
{
	size_t nr = 0;

	while (nr + 1 < nr_made && nr + 1 < launch->nr_frames &&
	       is_same(&made[nr_made - nr - 1],
		       &launch->frames[launch->nr_frames - nr - 1]))
		nr++;
	return nr;
}

static void append(struct stack *stack, const struct gpu_frame *frames, size_t nr)
{
	size_t room = STACK_MAX_FRAMES - stack->nr_frames;

	if (nr > room)
		nr = room;
	memcpy(stack->frames + stack->nr_frames, frames, nr * sizeof(*frames));
	stack->nr_frames += nr;
}

/* Begin a stack with what made the node, or so much of it. */
static void begin(struct stack *stack, const struct gpu_frame *made, size_t nr_made)
{
	stack->frames[0] = (struct gpu_frame){0};
	stack->nr_frames = 1;
	stack->id = 0;
	append(stack, made, nr_made);
}

void graph_stack__made(const struct gpu_frame *made, size_t nr_made, struct stack *ret)
{
	begin(ret, nr_made ? made : &unknown, nr_made ? nr_made : 1);
	ret->has_code = nr_made > 0;
}

void graph_stack__join(const struct stack *launch, const struct gpu_frame *made,
		       size_t nr_made, struct stack *ret)
{
	/* Besides the launch's, of which one is the kernel's, there is the joint. */
	size_t room = GRAPH_STACK_MAX_FRAMES - 1;

	room -= launch->nr_frames < room ? launch->nr_frames : room;
	if (nr_made > room)
		nr_made -= count_common(launch, made, nr_made);
	if (nr_made > room) {
		begin(ret, made, room ? room - 1 : 0);
		append(ret, &truncated, 1);
	} else {
		graph_stack__made(made, nr_made, ret);
	}
	append(ret, &joint, 1);
	append(ret, launch->frames + 1, launch->nr_frames - 1);
	ret->has_code = launch->has_code;
}
