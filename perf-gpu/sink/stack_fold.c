// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/stack_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash_index.h"
#include "util/sum.h"

/*
 * Whole stacks that are recognized, at most; each has the place that its hash gives it,
 * and the last one to come has it. 16 threads with 500 stacks each fit in with few clashes.
 */
#define NR_RECENT (1u << 15)

/* The same for those with a stack_id, whose place that is: 4096 are recognized. */
#define NR_NUMBERED (1u << 12)

/* Set in the key of a frame that has a name; no address in user space has it. */
#define IS_NAME (1ull << 63)

/* A stack without its leaf, and the node that it ends in */
struct recent_stack {
	const struct frame_name *root;
	uint64_t epoch;
	uint32_t pid;
	uint32_t node;
	size_t nr_keys;
	uint64_t keys[];
};

/* A stack of a number, without its leaf, and the node that it ends in */
struct numbered_stack {
	uint64_t stack_id; /* 0: none */
	const struct frame_name *root;
	uint32_t node;
};

struct stack_fold {
	struct frame_names *names;
	struct stack_node *nodes;
	size_t nr, nr_allocated;
	struct hash_index index; /* of nodes, by parent, name and event */
	struct recent_stack *recent[NR_RECENT];
	struct numbered_stack numbered[NR_NUMBERED];
};

int stack_fold__new(struct frame_names *names, struct stack_fold **ret)
{
	struct stack_fold *fold = calloc(1, sizeof(*fold));

	if (!fold)
		return -ENOMEM;
	fold->names = names;
	*ret = fold;
	return 0;
}

void stack_fold__delete(struct stack_fold *fold)
{
	if (!fold)
		return;
	for (size_t i = 0; i < NR_RECENT; i++)
		free(fold->recent[i]);
	hash_index__release(&fold->index);
	free(fold->nodes);
	free(fold);
}

/* --- the tree -------------------------------------------------------------------------- */

static int add_node(struct stack_fold *fold, const struct stack_node *new, uint64_t hash)
{
	if (fold->nr == fold->nr_allocated) {
		size_t nr = fold->nr ? 2 * fold->nr : 1024;
		struct stack_node *nodes = reallocarray(fold->nodes, nr, sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		fold->nodes = nodes;
		fold->nr_allocated = nr;
	}
	if (hash_index__add(&fold->index, hash, (uint32_t)fold->nr))
		return -ENOMEM;
	fold->nodes[fold->nr++] = *new;
	return 0;
}

int stack_fold__child(struct stack_fold *fold, const struct frame_name *name,
		      uint32_t event, uint32_t *node)
{
	uint64_t hash = hash__mix(hash__mix(event, *node), name->id);
	struct hash_cursor cursor = hash_index__find(&fold->index, hash);
	struct stack_node new = {.name = name, .parent = *node, .event = event};
	uint32_t id;

	while (hash_index__next(&fold->index, &cursor, &id)) {
		const struct stack_node *found = &fold->nodes[id];

		if (found->name == name && found->parent == *node &&
		    found->event == event) {
			*node = id;
			return 0;
		}
	}
	if (*node != STACK_FOLD_NO_NODE)
		new.depth = fold->nodes[*node].depth + 1;
	if (add_node(fold, &new, hash))
		return -ENOMEM;
	*node = (uint32_t)fold->nr - 1;
	return 0;
}

void stack_fold__count(struct stack_fold *fold, uint32_t node, uint64_t nr,
		       uint64_t period)
{
	struct stack_node *end = &fold->nodes[node];

	sum__add(&end->nr, nr);
	sum__add(&end->period, period);
}

/* Frame by frame; the leaf isn't among them */
static int find_stack(struct stack_fold *fold, const struct gpu_sample *sample,
		      const struct frame_name *root, uint32_t *ret_node)
{
	uint32_t node = STACK_FOLD_NO_NODE;

	if (root && stack_fold__child(fold, root, STACK_FOLD_NO_EVENT, &node))
		return -ENOMEM;
	for (size_t i = sample->nr_frames; i-- > 1;) {
		const struct frame_name *name;

		if (frame_names__of(fold->names, sample, i, &name) ||
		    stack_fold__child(fold, name, STACK_FOLD_NO_EVENT, &node))
			return -ENOMEM;
	}
	*ret_node = node;
	return 0;
}

/* --- stacks that were there a short while ago ---------------------------------------------- */

static uint64_t key_of(const struct gpu_frame *frame)
{
	return frame->name ? (uintptr_t)frame->name | IS_NAME : frame->ip & ~IS_NAME;
}

static size_t place_of(const struct gpu_sample *sample, const struct frame_name *root)
{
	uint64_t hash = hash__mix(sample->pid, root ? root->id : UINT32_MAX);

	for (size_t i = 1; i < sample->nr_frames; i++)
		hash = hash__mix(hash, key_of(&sample->frames[i]));
	return hash & (NR_RECENT - 1);
}

/* The same addresses may be other functions, once maps have changed. */
static bool is_same(const struct stack_fold *fold, const struct recent_stack *stack,
		    const struct gpu_sample *sample, const struct frame_name *root)
{
	if (!stack || stack->nr_keys != sample->nr_frames - 1 ||
	    stack->pid != sample->pid || stack->root != root ||
	    stack->epoch != frame_names__epoch(fold->names))
		return false;
	for (size_t i = 0; i < stack->nr_keys; i++)
		if (stack->keys[i] != key_of(&sample->frames[i + 1]))
			return false;
	return true;
}

/* Without memory it isn't remembered, and that is all. */
static void remember(struct stack_fold *fold, size_t place,
		     const struct gpu_sample *sample, const struct frame_name *root,
		     uint32_t node)
{
	struct recent_stack *stack = fold->recent[place];
	size_t nr_keys = sample->nr_frames - 1;

	if (!stack || stack->nr_keys != nr_keys) {
		free(stack);
		stack = malloc(sizeof(*stack) + nr_keys * sizeof(*stack->keys));
		fold->recent[place] = stack;
	}
	if (!stack)
		return;
	stack->root = root;
	stack->epoch = frame_names__epoch(fold->names);
	stack->pid = sample->pid;
	stack->node = node;
	stack->nr_keys = nr_keys;
	for (size_t i = 0; i < nr_keys; i++)
		stack->keys[i] = key_of(&sample->frames[i + 1]);
}

static int find_recent(struct stack_fold *fold, const struct gpu_sample *sample,
		       const struct frame_name *root, uint32_t *ret_node)
{
	size_t place = place_of(sample, root);

	if (is_same(fold, fold->recent[place], sample, root)) {
		*ret_node = fold->recent[place]->node;
		return 0;
	}
	if (find_stack(fold, sample, root, ret_node))
		return -ENOMEM;
	remember(fold, place, sample, root, *ret_node);
	return 0;
}

/* By its number, if it has one */
int stack_fold__stack(struct stack_fold *fold, const struct gpu_sample *sample,
		      const struct frame_name *root, uint32_t *ret_node)
{
	struct numbered_stack *stack =
		&fold->numbered[sample->stack_id & (NR_NUMBERED - 1)];

	if (!sample->stack_id)
		return find_recent(fold, sample, root, ret_node);
	if (stack->stack_id == sample->stack_id && stack->root == root) {
		*ret_node = stack->node;
		return 0;
	}
	if (find_recent(fold, sample, root, ret_node))
		return -ENOMEM;
	*stack = (struct numbered_stack){
		.stack_id = sample->stack_id, .root = root, .node = *ret_node};
	return 0;
}

int stack_fold__add(struct stack_fold *fold, const struct gpu_sample *sample,
		    const struct frame_name *root, uint32_t *ret_node)
{
	const struct frame_name *leaf;
	uint32_t node;

	if (stack_fold__stack(fold, sample, root, &node))
		return -ENOMEM;
	if (frame_names__of(fold->names, sample, 0, &leaf) ||
	    stack_fold__child(fold, leaf, sample->event, &node))
		return -ENOMEM;
	stack_fold__count(fold, node, 1, sample->period);
	if (ret_node)
		*ret_node = node;
	return 0;
}

const struct frame_names *stack_fold__names(const struct stack_fold *fold)
{
	return fold->names;
}

size_t stack_fold__nr(const struct stack_fold *fold)
{
	return fold->nr;
}

const struct stack_node *stack_fold__node(const struct stack_fold *fold, uint32_t node)
{
	return &fold->nodes[node];
}
