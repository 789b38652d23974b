// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table with linear probing, at most half full; log ids are random already. */
#include "record/launch_counts.h"

#include <stdlib.h>

#define FIRST_PLACES 64

struct launch_count {
	uint64_t log_id; /* 0: a free place */
	uint64_t nr_launches;
	uint64_t newest; /* the highest id of them */
	/* From here on all count as left out that aren't kept apart; 0: none does */
	uint64_t left_out;
};

/* The place of a log, or the free one where it belongs */
static struct launch_count *find_place(const struct launch_counts *counts,
				       uint64_t log_id)
{
	/* Of ids that aren't as random as ours, the upper bits count too. */
	size_t i = (log_id ^ log_id >> 32) & (counts->nr_places - 1);

	while (counts->places[i].log_id && counts->places[i].log_id != log_id)
		i = (i + 1) & (counts->nr_places - 1);
	return &counts->places[i];
}

/* Make a free place, if there may be more. */
static void grow(struct launch_counts *counts)
{
	struct launch_counts grown = *counts;

	grown.nr_places = counts->nr_places ? 2 * counts->nr_places : FIRST_PLACES;
	if (grown.nr_places / 2 > LAUNCH_COUNTS_MAX_LOGS)
		return;
	grown.places = calloc(grown.nr_places, sizeof(*grown.places));
	if (!grown.places)
		return;
	for (size_t i = 0; i < counts->nr_places; i++)
		if (counts->places[i].log_id)
			*find_place(&grown, counts->places[i].log_id) = counts->places[i];
	free(counts->places);
	*counts = grown;
}

/* NULL, if there is no room for it */
static struct launch_count *make_place(struct launch_counts *counts, uint64_t log_id)
{
	struct launch_count *place = NULL;

	if (counts->nr_logs >= counts->nr_places / 2)
		grow(counts);
	if (counts->nr_places)
		place = find_place(counts, log_id);
	if (place && !place->log_id && counts->nr_logs < counts->nr_places / 2) {
		place->log_id = log_id;
		counts->nr_logs++;
	}
	return place && place->log_id ? place : NULL;
}

void launch_counts__add(struct launch_counts *counts, uint64_t log_id, uint64_t key)
{
	struct launch_count *place = make_place(counts, log_id);

	if (!place) {
		counts->nr_uncounted++;
		return;
	}
	place->nr_launches++;
	if (key > place->newest)
		place->newest = key;
}

void launch_counts__leave_out(struct launch_counts *counts, uint64_t log_id, uint64_t key)
{
	struct launch_count *place = make_place(counts, log_id);

	/* What is behind the last sample needs no mention. */
	if (!place || key > place->newest)
		return;
	if (launch_set__add(&counts->left_out, log_id, key) &&
	    (!place->left_out || key < place->left_out))
		place->left_out = key;
}

uint64_t launch_counts__of(const struct launch_counts *counts, uint64_t log_id)
{
	const struct launch_count *place = NULL;

	if (counts->nr_places)
		place = find_place(counts, log_id);
	if (place && place->log_id)
		return place->nr_launches;
	return counts->nr_uncounted ? UINT64_MAX : 0;
}

bool launch_counts__knows(const struct launch_counts *counts, uint64_t log_id)
{
	return counts->nr_places && find_place(counts, log_id)->log_id;
}

bool launch_counts__is_left_out(const struct launch_counts *counts, uint64_t log_id,
				uint64_t key)
{
	const struct launch_count *place = find_place(counts, log_id);

	return key > place->newest || (place->left_out && key >= place->left_out) ||
	       launch_set__has(&counts->left_out, log_id, key);
}

void launch_counts__release(struct launch_counts *counts)
{
	free(counts->places);
	launch_set__release(&counts->left_out);
	*counts = (struct launch_counts){};
}
