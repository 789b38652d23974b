// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two tables: stacks without their leaves, and sums, which name a stack by its number. A
 * program calls from few places, and launches many kernels from each.
 */
#include "sink/aggregate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sink/frame_names.h"
#include "util/hash_index.h"
#include "util/sum.h"
#include "util/array.h"

/* Stacks with a stack_id have the place that it gives them, the last one to come. */
#define NR_NUMBERED (1u << 12)

/* Set in the key of a frame that has a name; no address in user space has it. */
#define IS_NAME (1ull << 63)

struct kept_stack {
	uint32_t pid;
	uint64_t hash; /* of all keys */
	/* What is mapped at its addresses, and when that was looked at last */
	uint64_t maps_hash, epoch;
	size_t nr_keys;
	uint64_t keys[]; /* the caller of the leaf first */
};

struct numbered_stack {
	uint64_t stack_id; /* 0: none */
	uint32_t stack;
};

struct sum {
	const struct frame_name *comm;
	uint64_t leaf; /* key */
	uint32_t stack;
	uint32_t event;
	uint32_t tid, cpu; /* of the first */
	uint64_t time_ns;
	uint64_t period, nr;
};

struct aggregate {
	const struct machine *machine;
	struct frame_names *names; /* of threads alone */
	struct kept_stack **stacks;
	size_t nr_stacks, nr_allocated_stacks;
	struct hash_index stacks_index;
	struct numbered_stack numbered[NR_NUMBERED];
	struct sum *sums;
	size_t nr_sums, nr_allocated_sums;
	struct hash_index sums_index;
	struct gpu_frame *frames; /* of the sum that was asked for */
	size_t nr_frames;
};

int aggregate__new(const struct sink_input *input, struct aggregate **ret)
{
	struct aggregate *aggregate = calloc(1, sizeof(*aggregate));

	if (!aggregate || frame_names__new(input, &aggregate->names)) {
		free(aggregate);
		return -ENOMEM;
	}
	aggregate->machine = input->machine;
	*ret = aggregate;
	return 0;
}

void aggregate__delete(struct aggregate *aggregate)
{
	if (!aggregate)
		return;
	for (size_t i = 0; i < aggregate->nr_stacks; i++)
		free(aggregate->stacks[i]);
	free(aggregate->stacks);
	free(aggregate->sums);
	free(aggregate->frames);
	hash_index__release(&aggregate->stacks_index);
	hash_index__release(&aggregate->sums_index);
	frame_names__delete(aggregate->names);
	free(aggregate);
}

static uint64_t key_of(const struct gpu_frame *frame)
{
	return frame->name ? (uintptr_t)frame->name | IS_NAME : frame->ip & ~IS_NAME;
}

/* --- stacks ---------------------------------------------------------------------------- */

static uint64_t hash_stack(const struct gpu_sample *sample)
{
	uint64_t hash = hash__mix(0, sample->pid);

	for (size_t i = 1; i < sample->nr_frames; i++)
		hash = hash__mix(hash, key_of(&sample->frames[i]));
	return hash;
}

static uint64_t hash_maps(const struct aggregate *aggregate,
			  const struct gpu_sample *sample)
{
	uint64_t hash = 0;

	for (size_t i = 1; i < sample->nr_frames; i++) {
		const struct gpu_frame *frame = &sample->frames[i];
		const struct map *map;

		if (frame->name)
			continue;
		map = machine__find_map(aggregate->machine, sample->pid, frame->ip);
		if (map)
			hash = hash__mix(hash__mix(hash, (uintptr_t)map->dso),
					 map->start - map->pgoff);
		else
			hash = hash__mix(hash, 0);
	}
	return hash;
}

static bool has_keys(const struct kept_stack *stack, const struct gpu_sample *sample)
{
	if (stack->pid != sample->pid || stack->nr_keys != sample->nr_frames - 1)
		return false;
	for (size_t i = 0; i < stack->nr_keys; i++)
		if (stack->keys[i] != key_of(&sample->frames[i + 1]))
			return false;
	return true;
}

/* Maps are looked at again only when some have changed. */
static bool is_stack(const struct aggregate *aggregate, struct kept_stack *stack,
		     const struct gpu_sample *sample)
{
	uint64_t epoch = machine__nr_map_changes(aggregate->machine);

	if (!has_keys(stack, sample))
		return false;
	if (stack->epoch == epoch)
		return true;
	if (hash_maps(aggregate, sample) != stack->maps_hash)
		return false;
	stack->epoch = epoch;
	return true;
}

static int add_stack(struct aggregate *aggregate, const struct gpu_sample *sample,
		     uint64_t hash)
{
	size_t nr_keys = sample->nr_frames - 1;
	struct kept_stack *stack =
		malloc(sizeof(*stack) + nr_keys * sizeof(*stack->keys));

	if (!stack ||
	    array__grow(&aggregate->stacks, aggregate->nr_stacks,
			&aggregate->nr_allocated_stacks, sizeof(struct kept_stack *)) ||
	    hash_index__add(&aggregate->stacks_index, hash,
			    (uint32_t)aggregate->nr_stacks)) {
		free(stack);
		return -ENOMEM;
	}
	*stack = (struct kept_stack){
		.pid = sample->pid,
		.hash = hash,
		.maps_hash = hash_maps(aggregate, sample),
		.epoch = machine__nr_map_changes(aggregate->machine),
		.nr_keys = nr_keys,
	};
	for (size_t i = 0; i < nr_keys; i++)
		stack->keys[i] = key_of(&sample->frames[i + 1]);
	aggregate->stacks[aggregate->nr_stacks++] = stack;
	return 0;
}

static int find_stack(struct aggregate *aggregate, const struct gpu_sample *sample,
		      uint32_t *ret)
{
	uint64_t hash = hash_stack(sample);
	struct hash_cursor cursor = hash_index__find(&aggregate->stacks_index, hash);

	while (hash_index__next(&aggregate->stacks_index, &cursor, ret))
		if (aggregate->stacks[*ret]->hash == hash &&
		    is_stack(aggregate, aggregate->stacks[*ret], sample))
			return 0;
	*ret = (uint32_t)aggregate->nr_stacks;
	return add_stack(aggregate, sample, hash);
}

/* By its number, if it has one */
static int find_numbered(struct aggregate *aggregate, const struct gpu_sample *sample,
			 uint32_t *ret)
{
	struct numbered_stack *known =
		&aggregate->numbered[sample->stack_id & (NR_NUMBERED - 1)];

	if (sample->stack_id && known->stack_id == sample->stack_id) {
		*ret = known->stack;
		return 0;
	}
	if (find_stack(aggregate, sample, ret))
		return -ENOMEM;
	*known = (struct numbered_stack){.stack_id = sample->stack_id, .stack = *ret};
	return 0;
}

/* --- sums ------------------------------------------------------------------------------ */

static bool is_sum(const struct sum *a, const struct sum *b)
{
	return a->stack == b->stack && a->leaf == b->leaf && a->event == b->event &&
	       a->comm == b->comm;
}

static int find_sum(struct aggregate *aggregate, const struct sum *wanted,
		    struct sum **ret)
{
	uint64_t hash = hash__mix(hash__mix(wanted->stack, wanted->leaf),
				  (uint64_t)wanted->event << 32 | wanted->comm->id);
	struct hash_cursor cursor = hash_index__find(&aggregate->sums_index, hash);
	uint32_t id;

	while (hash_index__next(&aggregate->sums_index, &cursor, &id)) {
		*ret = &aggregate->sums[id];
		if (is_sum(*ret, wanted))
			return 0;
	}
	if (array__grow(&aggregate->sums, aggregate->nr_sums,
			&aggregate->nr_allocated_sums, sizeof(*aggregate->sums)) ||
	    hash_index__add(&aggregate->sums_index, hash, (uint32_t)aggregate->nr_sums))
		return -ENOMEM;
	*ret = &aggregate->sums[aggregate->nr_sums++];
	**ret = *wanted;
	return 0;
}

int aggregate__add(struct aggregate *aggregate, const struct gpu_sample *sample)
{
	struct sum wanted = {
		.leaf = key_of(&sample->frames[0]),
		.event = sample->event,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.time_ns = sample->time_ns,
	};
	struct sum *sum;

	if (frame_names__comm(aggregate->names, sample, &wanted.comm) ||
	    find_numbered(aggregate, sample, &wanted.stack) ||
	    find_sum(aggregate, &wanted, &sum))
		return -ENOMEM;
	sum->nr++;
	sum__add(&sum->period, sample->period);
	return 0;
}

size_t aggregate__nr(const struct aggregate *aggregate)
{
	return aggregate->nr_sums;
}

static struct gpu_frame frame_of(uint64_t key)
{
	if (key & IS_NAME)
		return (struct gpu_frame){
			.name = (const char *)(uintptr_t)(key & ~IS_NAME)};
	return (struct gpu_frame){.ip = key};
}

int aggregate__get(struct aggregate *aggregate, size_t i, struct gpu_sample *ret,
		   uint64_t *ret_nr)
{
	const struct sum *sum = &aggregate->sums[i];
	const struct kept_stack *stack = aggregate->stacks[sum->stack];

	if (stack->nr_keys >= aggregate->nr_frames) {
		struct gpu_frame *frames = reallocarray(
			aggregate->frames, stack->nr_keys + 1, sizeof(*frames));

		if (!frames)
			return -ENOMEM;
		aggregate->frames = frames;
		aggregate->nr_frames = stack->nr_keys + 1;
	}
	aggregate->frames[0] = frame_of(sum->leaf);
	for (size_t k = 0; k < stack->nr_keys; k++)
		aggregate->frames[k + 1] = frame_of(stack->keys[k]);
	*ret = (struct gpu_sample){
		.time_ns = sum->time_ns,
		.pid = stack->pid,
		.tid = sum->tid,
		.cpu = sum->cpu,
		.event = sum->event,
		.period = sum->period,
		.frames = aggregate->frames,
		.nr_frames = stack->nr_keys + 1,
	};
	*ret_nr = sum->nr;
	return 0;
}
