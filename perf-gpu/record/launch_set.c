// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/launch_set.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_PLACES 256

/* The place of a launch, or the free one where it belongs; ids of a log are in a row. */
static struct launch_name *find_place(const struct launch_set *set, uint64_t log_id,
				      uint64_t key)
{
	uint64_t hash = (log_id ^ key) * 0x9e3779b97f4a7c15u;
	size_t i = (hash >> 32) & (set->nr_places - 1);

	while (set->places[i].log_id &&
	       (set->places[i].log_id != log_id || set->places[i].key != key))
		i = (i + 1) & (set->nr_places - 1);
	return &set->places[i];
}

static int grow(struct launch_set *set)
{
	struct launch_set grown = *set;

	grown.nr_places = set->nr_places ? 2 * set->nr_places : FIRST_PLACES;
	grown.places = calloc(grown.nr_places, sizeof(*grown.places));
	if (!grown.places)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr_places; i++)
		if (set->places[i].log_id)
			*find_place(&grown, set->places[i].log_id, set->places[i].key) =
				set->places[i];
	free(set->places);
	*set = grown;
	return 0;
}

int launch_set__add(struct launch_set *set, uint64_t log_id, uint64_t key)
{
	struct launch_name *place;
	int err;

	if (set->nr >= LAUNCH_SET_MAX)
		return -ENOSPC;
	err = set->nr >= set->nr_places / 2 ? grow(set) : 0;
	if (err)
		return err;
	place = find_place(set, log_id, key);
	set->nr += !place->log_id;
	*place = (struct launch_name){.log_id = log_id, .key = key};
	return 0;
}

bool launch_set__has(const struct launch_set *set, uint64_t log_id, uint64_t key)
{
	return set->nr && find_place(set, log_id, key)->log_id;
}

void launch_set__release(struct launch_set *set)
{
	free(set->places);
	*set = (struct launch_set){};
}
