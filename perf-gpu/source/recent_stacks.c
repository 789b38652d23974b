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

struct recent_stack {
	struct recent_key key;
	size_t nr_allocated; /* frames that the stack has room for */
	struct stack *stack; /* NULL: none, nor behind it */
};

/* Places of one hash, the newest first */
struct recent_set {
	struct recent_stack places[NR_PLACES];
};

struct recent_stacks {
	uint64_t last_id;
	struct recent_set sets[NR_SETS];
};

int recent_stacks__new(struct recent_stacks **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void recent_stacks__delete(struct recent_stacks *recent)
{
	if (!recent)
		return;
	for (size_t i = 0; i < NR_SETS; i++)
		for (size_t k = 0; k < NR_PLACES; k++)
			free(recent->sets[i].places[k].stack);
	free(recent);
}

static struct recent_set *set_of(struct recent_stacks *recent,
				 const struct recent_key *key)
{
	uint64_t hash = hash__mix(hash__mix(key->pid, (uint32_t)key->log), key->api);

	return &recent->sets[hash__mix(hash, key->chain) & (NR_SETS - 1)];
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

	for (size_t i = 0; i < NR_PLACES && set->places[i].stack; i++)
		if (is_same(&set->places[i].key, key))
			return set->places[i].stack;
	return NULL;
}

/* Room for a stack, in that of one that goes, if it is large enough; 0 or -ENOMEM. */
static int make_room(struct recent_stack *place, size_t nr_frames)
{
	struct stack *new;

	if (place->stack && place->nr_allocated >= nr_frames)
		return 0;
	new = malloc(offsetof(struct stack, frames) + nr_frames * sizeof(*new->frames));
	if (!new)
		return -ENOMEM;
	free(place->stack);
	place->stack = new;
	place->nr_allocated = nr_frames;
	return 0;
}

struct stack *recent_stacks__add(struct recent_stacks *recent,
				 const struct recent_key *key, const struct stack *stack)
{
	struct recent_stack *places = set_of(recent, key)->places, new;

	new = places[NR_PLACES - 1];
	if (make_room(&new, stack->nr_frames))
		return NULL;
	memcpy(new.stack, stack,
	       offsetof(struct stack, frames) +
		       stack->nr_frames * sizeof(*stack->frames));
	new.stack->id = ++recent->last_id;
	new.key = *key;
	memmove(places + 1, places, (NR_PLACES - 1) * sizeof(*places));
	places[0] = new;
	return new.stack;
}
