// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/caller_finder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "report/caller.h"
#include "symbol/demangle.h"
#include "util/hash_index.h"

/* What is known of a name, by its id */
struct name_facts {
	bool is_judged, is_own; /* by caller__is_own() */
	const struct frame_name *base; /* without arguments; NULL: not made yet */
};

/*
 * Stacks of a short while ago, from the leaf's caller to the first function of the
 * program's, which is looked for once: what is behind that doesn't matter. Each has the
 * place that its hash gives it, and the last one to come has it.
 */
#define NR_RECENT (1u << 14)

/* The same for those with a stack_id, whose place that is: 4096 are recognized. */
#define NR_NUMBERED (1u << 12)

/* Set in the key of a frame that has a name; no address in user space has it. */
#define IS_NAME (1ull << 63)

struct recent_stack {
	uint64_t epoch; /* the map changes that its names are as of */
	uint32_t pid;
	size_t nr_frames; /* of all, if there is no such function */
	const struct frame_name *own; /* NULL: there is none */
	size_t nr_keys; /* it is frame nr_keys */
	uint64_t keys[]; /* of frames 1, 2, ... */
};

/* What was found for a stack of a number: its first function of the program's */
struct numbered_stack {
	uint64_t stack_id; /* 0: none */
	const struct frame_name *own; /* NULL: there is none */
	size_t own_at; /* index in the frames; how many there are, if there is none */
};

struct caller_finder {
	struct frame_names *names;
	struct name_facts *facts;
	size_t nr_facts;
	const struct frame_name *unattributed;
	struct recent_stack *recent[NR_RECENT];
	struct numbered_stack numbered[NR_NUMBERED];
};

int caller_finder__new(struct frame_names *names, struct caller_finder **ret)
{
	struct caller_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return -ENOMEM;
	finder->names = names;
	if (frame_names__get(names, "[unattributed]", NULL, FRAME_CLASS_LABEL,
			     &finder->unattributed)) {
		free(finder);
		return -ENOMEM;
	}
	*ret = finder;
	return 0;
}

void caller_finder__delete(struct caller_finder *finder)
{
	if (!finder)
		return;
	for (size_t i = 0; i < NR_RECENT; i++)
		free(finder->recent[i]);
	free(finder->facts);
	free(finder);
}

/* --- names -------------------------------------------------------------------------- */

static struct name_facts *facts_of(struct caller_finder *finder,
				   const struct frame_name *name)
{
	if (name->id >= finder->nr_facts) {
		size_t nr = 2 * (size_t)name->id + 64;
		struct name_facts *facts =
			reallocarray(finder->facts, nr, sizeof(*facts));

		if (!facts)
			return NULL;
		memset(facts + finder->nr_facts, 0,
		       (nr - finder->nr_facts) * sizeof(*facts));
		finder->facts = facts;
		finder->nr_facts = nr;
	}
	return &finder->facts[name->id];
}

/* The name that a kernel and the stub that nvcc makes for it share */
static int find_base(struct caller_finder *finder, const struct frame_name *name,
		     const char *text, const struct frame_name **ret)
{
	struct name_facts *facts = facts_of(finder, name);
	char *base;
	int err;

	if (!facts)
		return -ENOMEM;
	if (!facts->base) {
		base = demangle(text, DEMANGLE_SHORT);
		if (!base)
			return -ENOMEM;
		err = frame_names__get(finder->names, base, NULL, FRAME_CLASS_ROOT,
				       &facts->base);
		free(base);
		if (err)
			return err;
	}
	*ret = facts->base;
	return 0;
}

/* Is it a function of the program's, or none at all ([unattributed])? 1, 0 or -ENOMEM. */
static int is_own(struct caller_finder *finder, const struct frame_name *name)
{
	struct name_facts *facts = facts_of(finder, name);

	if (!facts)
		return -ENOMEM;
	if (!facts->is_judged)
		facts->is_own = name == finder->unattributed || caller__is_own(name);
	facts->is_judged = true;
	return facts->is_own;
}

/* The first such frame from @from on; *RET is NULL if there is none. The frame's index. */
static ssize_t find_own(struct caller_finder *finder, const struct gpu_sample *sample,
			size_t from, const struct frame_name **ret)
{
	for (size_t i = from; i < sample->nr_frames; i++) {
		int answer;

		if (frame_names__of(finder->names, sample, i, ret))
			return -ENOMEM;
		answer = is_own(finder, *ret);
		if (answer)
			return answer < 0 ? answer : (ssize_t)i;
	}
	*ret = NULL;
	return (ssize_t)sample->nr_frames;
}

static uint64_t key_of(const struct gpu_frame *frame)
{
	return frame->name ? (uintptr_t)frame->name | IS_NAME : frame->ip & ~IS_NAME;
}

/* By some of the frames, more of the inner ones: they are compared in any case. */
static struct recent_stack **place_of(struct caller_finder *finder,
				      const struct gpu_sample *sample)
{
	uint64_t hash = hash__mix(sample->pid, sample->nr_frames);

	for (size_t i = 1; i < sample->nr_frames; i += 1 + i / 2)
		hash = hash__mix(hash, key_of(&sample->frames[i]));
	return &finder->recent[hash & (NR_RECENT - 1)];
}

static bool is_same(const struct caller_finder *finder, const struct recent_stack *stack,
		    const struct gpu_sample *sample)
{
	if (!stack || stack->pid != sample->pid ||
	    stack->epoch != frame_names__epoch(finder->names) ||
	    stack->nr_keys >= sample->nr_frames ||
	    (!stack->own && stack->nr_frames != sample->nr_frames))
		return false;
	for (size_t i = 0; i < stack->nr_keys; i++)
		if (stack->keys[i] != key_of(&sample->frames[i + 1]))
			return false;
	return true;
}

/* The place of a stack, with its first function of the program's; NULL without memory */
static const struct recent_stack *look_at(struct caller_finder *finder,
					  const struct gpu_sample *sample)
{
	struct recent_stack **place = place_of(finder, sample), *stack = *place;
	const struct frame_name *own;
	ssize_t own_at;
	size_t nr_keys;

	if (is_same(finder, stack, sample))
		return stack;
	own_at = find_own(finder, sample, 1, &own);
	if (own_at < 0)
		return NULL;
	nr_keys = own ? (size_t)own_at : sample->nr_frames - 1;
	stack = realloc(stack, sizeof(*stack) + nr_keys * sizeof(*stack->keys));
	if (!stack)
		return NULL;
	*place = stack;
	stack->epoch = frame_names__epoch(finder->names);
	stack->pid = sample->pid;
	stack->nr_frames = sample->nr_frames;
	stack->own = own;
	stack->nr_keys = nr_keys;
	for (size_t i = 0; i < nr_keys; i++)
		stack->keys[i] = key_of(&sample->frames[i + 1]);
	return stack;
}

/* The stack's first function of the program's; 0 or -ENOMEM */
static int find_first(struct caller_finder *finder, const struct gpu_sample *sample,
		      struct numbered_stack *ret)
{
	struct numbered_stack *known =
		&finder->numbered[sample->stack_id & (NR_NUMBERED - 1)];
	const struct recent_stack *recent;

	if (sample->stack_id && known->stack_id == sample->stack_id) {
		*ret = *known;
		return 0;
	}
	recent = look_at(finder, sample);
	if (!recent)
		return -ENOMEM;
	*ret = (struct numbered_stack){.stack_id = sample->stack_id,
				       .own = recent->own,
				       .own_at = recent->nr_keys};
	if (sample->stack_id)
		*known = *ret;
	return 0;
}

/* Is a frame the stub of a kernel? 1, 0 or -ENOMEM. */
static int is_stub(struct caller_finder *finder, const struct frame_name *kernel,
		   const char *kernel_name, const struct frame_name *name)
{
	const struct frame_name *wanted, *base;

	if (!kernel)
		return 0;
	if (find_base(finder, kernel, kernel_name, &wanted) ||
	    find_base(finder, name, name->text, &base))
		return -ENOMEM;
	return wanted == base;
}

/* Who has no function of the program's in its stack is known by its thread. */
static int name_thread(struct caller_finder *finder, const struct gpu_sample *sample,
		       const struct frame_name **ret)
{
	const struct frame_name *comm;
	char text[64];

	if (frame_names__comm(finder->names, sample, &comm))
		return -ENOMEM;
	snprintf(text, sizeof(text), "[thread %s]", comm->text);
	return frame_names__get(finder->names, text, NULL, FRAME_CLASS_LABEL, ret);
}

int caller_finder__find(struct caller_finder *finder, const struct gpu_sample *sample,
			const struct frame_name *kernel, const char *kernel_name,
			const struct frame_name **ret)
{
	struct numbered_stack stack;
	ssize_t at;
	int answer;

	if (find_first(finder, sample, &stack))
		return -ENOMEM;
	at = (ssize_t)stack.own_at;
	*ret = stack.own;
	while (*ret) {
		answer = is_stub(finder, kernel, kernel_name, *ret);
		if (answer <= 0)
			return answer;
		at = find_own(finder, sample, (size_t)at + 1, ret);
		if (at < 0)
			return -ENOMEM;
	}
	return name_thread(finder, sample, ret);
}
