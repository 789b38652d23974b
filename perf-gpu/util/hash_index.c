// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/hash_index.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_NR_SLOTS 64

static void put(struct hash_slot *slots, size_t nr_slots, struct hash_slot new)
{
	size_t slot = new.hash &(nr_slots - 1);

	while (slots[slot].id_plus_1)
		slot = (slot + 1) & (nr_slots - 1);
	slots[slot] = new;
}

static int grow(struct hash_index *index)
{
	size_t nr_slots = index->nr_slots ? 2 * index->nr_slots : FIRST_NR_SLOTS;
	struct hash_slot *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->nr_slots; i++)
		if (index->slots[i].id_plus_1)
			put(slots, nr_slots, index->slots[i]);
	free(index->slots);
	index->slots = slots;
	index->nr_slots = nr_slots;
	return 0;
}

int hash_index__add(struct hash_index *index, uint64_t hash, uint32_t id)
{
	if (4 * (index->nr + 1) > 3 * index->nr_slots && grow(index))
		return -ENOMEM;
	put(index->slots, index->nr_slots,
	    (struct hash_slot){.hash = (uint32_t)hash, .id_plus_1 = id + 1});
	index->nr++;
	return 0;
}

void hash_index__release(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){.slots = NULL};
}
