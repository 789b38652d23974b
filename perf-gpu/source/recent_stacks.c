// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/recent_stacks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash_index.h"

/*
 * A callchain has one of a few places, so that of 500 practically none has to go for
 * another; with 40 frames, 1.7 KiB each, all places take 14 MB.
 */
#define NR_SETS	  (1u << 11)
#define NR_PLACES 4

/* A stack, behind what is needed to know it by */
struct recent_stack {
	struct recent_key key;
	size_t nr_allocated; /* frames that the stack has room for */
	struct stack stack;
};

/*
 * Places of one hash, the newest first, in one cache line: the number of the callchain mostly
 * tells whether a stack need be looked at.
 */
struct recent_set {
	_Alignas(64) struct {
		uint64_t chain; /* of the key */
		struct recent_stack *recent; /* NULL: none, nor behind it */
	} places[NR_PLACES];
};

struct recent_stacks {
	uint64_t last_id;
	struct recent_set sets[NR_SETS];
};

int recent_stacks__new(struct recent_stacks **ret)
{
	*ret = aligned_alloc(_Alignof(struct recent_stacks), sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	memset(*ret, 0, sizeof(**ret));
	return 0;
}

void recent_stacks__delete(struct recent_stacks *recent)
{
	if (!recent)
		return;
	for (size_t i = 0; i < NR_SETS; i++)
		for (size_t k = 0; k < NR_PLACES; k++)
			free(recent->sets[i].places[k].recent);
	free(recent);
}

/*
 * Callchains have numbers that are next to each other, and get sets that are. What is mixed is
 * read as it was written: two halves at once would wait until all that was written before has
 * left the processor, 75 ns where that are samples.
 */
static struct recent_set *set_of(struct recent_stacks *recent,
				 const struct recent_key *key)
{
	uint64_t hash = hash__mix(hash__mix(key->pid, (uint32_t)key->log), key->api);

	return &recent->sets[(hash + key->chain) & (NR_SETS - 1)];
}

static bool is_same(const struct recent_key *a, const struct recent_key *b)
{
	return a->chain && a->chain == b->chain && a->epoch == b->epoch &&
	       a->api == b->api && a->pid == b->pid && a->log == b->log &&
	       a->is_hit == b->is_hit && a->has_user_state == b->has_user_state;
}

struct stack *recent_stacks__find(struct recent_stacks *recent,
				  const struct recent_key *key)
{
	struct recent_set *set = set_of(recent, key);

	for (size_t i = 0; i < NR_PLACES && set->places[i].recent; i++)
		if (set->places[i].chain == key->chain &&
		    is_same(&set->places[i].recent->key, key))
			return &set->places[i].recent->stack;
	return NULL;
}

/* Room for a stack, in that of one that goes, if it is large enough; NULL: there is none. */
static struct recent_stack *make_room(struct recent_stack *old, size_t nr_frames)
{
	struct recent_stack *new;

	if (old && old->nr_allocated >= nr_frames)
		return old;
	new = malloc(sizeof(*new) - sizeof(new->stack.frames) +
		     nr_frames * sizeof(*new->stack.frames));
	if (!new)
		return NULL;
	free(old);
	new->nr_allocated = nr_frames;
	return new;
}

struct stack *recent_stacks__add(struct recent_stacks *recent,
				 const struct recent_key *key, const struct stack *stack)
{
	struct recent_set *set = set_of(recent, key);
	struct recent_stack *new =
		make_room(set->places[NR_PLACES - 1].recent, stack->nr_frames);

	if (!new)
		return NULL;
	memcpy(&new->stack, stack,
	       offsetof(struct stack, frames) +
		       stack->nr_frames * sizeof(*stack->frames));
	new->stack.id = ++recent->last_id;
	new->key = *key;
	memmove(set->places + 1, set->places, (NR_PLACES - 1) * sizeof(*set->places));
	set->places[0].chain = key->chain;
	set->places[0].recent = new;
	return &new->stack;
}
