// SPDX-License-Identifier: GPL-2.0-or-later
#include "join/activity_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/activities.h"
#include "util/runs.h"

/* Records that are to be there when they are asked for: buffers of threads alternate. */
#define KEYS_AHEAD 16

/* Of one log */
struct log_places {
	uint32_t *places;
	size_t nr;
	size_t first; /* number of the first of them in the index */
	size_t next; /* where the next key that is asked for is, if keys come in order */
	struct runs runs; /* while it is made */
};

struct activity_index {
	const struct occurrences *occurrences;
	const struct sidecar *sidecar;
	struct log_places *logs;
	size_t nr_logs, nr;
};

/* --- making it --------------------------------------------------------------------------- */

/* What a walk over the runs of a log needs to know */
struct log_walk {
	const struct activity_index *index;
	uint32_t log;
};

static uint64_t next_of_log(void *data, uint64_t *place)
{
	const struct log_walk *walk = data;
	struct sidecar_activity activity;
	uint64_t at = *place, before;

	do {
		before = at;
		sidecar__activity_behind(walk->index->sidecar, walk->log, &at, &activity);
		if (at == before)
			return 0;
	} while (!occurrences__is_wanted(walk->index->occurrences, &activity));
	*place = at;
	return activity.correlation_id;
}

/* One that has the key of others */
struct same_key {
	uint64_t start_ns;
	uint32_t event, place;
};

static int compare_same(const void *a, const void *b)
{
	const struct same_key *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Those of one key, which are by place, by start. */
static int sort_key(const struct activity_index *index, uint32_t log, uint32_t *places,
		    size_t nr)
{
	struct same_key *same;
	bool is_sorted = true;

	if (nr < 2)
		return 0;
	same = calloc(nr, sizeof(*same));
	if (!same)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct sidecar_activity activity;
		struct occurrence occurrence = {.event = 0};

		sidecar__activity(index->sidecar, log, places[i], &activity);
		occurrences__make(index->occurrences, &activity, &occurrence);
		same[i] = (struct same_key){.start_ns = activity.start_ns,
					    .event = occurrence.event,
					    .place = places[i]};
		if (i && compare_same(&same[i - 1], &same[i]) > 0)
			is_sorted = false;
	}
	if (!is_sorted)
		qsort(same, nr, sizeof(*same), compare_same);
	for (size_t i = 0; i < nr && !is_sorted; i++)
		places[i] = same[i].place;
	free(same);
	return 0;
}

/* Merge the runs of a log into its places. */
static int sort_log(struct activity_index *index, uint32_t log)
{
	struct log_walk data = {.index = index, .log = log};
	struct log_places *of = &index->logs[log];
	uint64_t key, last_key = 0, place;
	size_t nr = 0, first = 0;
	struct runs_walk walk;
	int err;

	of->places = malloc((of->nr + 1) * sizeof(*of->places));
	if (!of->places || runs_walk__begin(&walk, &of->runs, next_of_log, &data))
		return -ENOMEM;
	for (err = 0; !err && nr < of->nr && runs_walk__next(&walk, &key, &place); nr++) {
		if (nr > first && key != last_key) {
			err = sort_key(index, log, of->places + first, nr - first);
			first = nr;
		}
		of->places[nr] = (uint32_t)place;
		last_key = key;
	}
	if (!err)
		err = sort_key(index, log, of->places + first, nr - first);
	of->nr = nr;
	runs_walk__end(&walk);
	runs__release(&of->runs);
	return err;
}

static int find_runs(struct activity_index *index)
{
	struct activity_walk walk = {.sidecar = index->sidecar};
	struct sidecar_activity activity;
	uint64_t place;

	while (activity_walk__next(&walk, &activity, &place)) {
		struct log_places *log = &index->logs[activity.log];

		if (activity_walk__is_first(&walk, place))
			runs__close(&log->runs);
		if (!occurrences__is_wanted(index->occurrences, &activity))
			continue;
		if (runs__add(&log->runs, activity.correlation_id, place))
			return -ENOMEM;
		log->nr++;
	}
	return 0;
}

int activity_index__new(const struct occurrences *occurrences,
			struct activity_index **ret)
{
	struct activity_index *index = calloc(1, sizeof(*index));
	int err = -ENOMEM;

	if (!index)
		return -ENOMEM;
	index->occurrences = occurrences;
	index->sidecar = occurrences->sidecar;
	index->nr_logs = index->sidecar->nr_logs;
	/* One more: calloc(0) may give NULL. */
	index->logs = calloc(index->nr_logs + 1, sizeof(*index->logs));
	if (index->logs)
		err = find_runs(index);
	for (uint32_t i = 0; i < index->nr_logs && !err; i++) {
		index->logs[i].first = index->nr;
		err = sort_log(index, i);
		index->nr += index->logs[i].nr;
	}
	if (err) {
		activity_index__delete(index);
		return err;
	}
	*ret = index;
	return 0;
}

void activity_index__delete(struct activity_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; index->logs && i < index->nr_logs; i++) {
		runs__release(&index->logs[i].runs);
		free(index->logs[i].places);
	}
	free(index->logs);
	free(index);
}

/* --- questions ---------------------------------------------------------------------------- */

size_t activity_index__nr(const struct activity_index *index)
{
	return index->nr;
}

static uint64_t key_at(const struct activity_index *index, uint32_t log, size_t i)
{
	return sidecar__correlation_id(index->sidecar, index->logs[log].places[i]);
}

/* The first of a log from @low on, and before @high, whose key isn't before that one */
static size_t find_first(const struct activity_index *index, uint32_t log, size_t low,
			 size_t high, uint64_t correlation_id)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key_at(index, log, middle) < correlation_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same of all of them, in steps that double from where the last one was. */
static size_t gallop(const struct activity_index *index, uint32_t log,
		     uint64_t correlation_id)
{
	const struct log_places *of = &index->logs[log];
	size_t low = of->next, high = low, step = 1;

	if (low < of->nr && key_at(index, log, low) < correlation_id) {
		for (; high < of->nr && key_at(index, log, high) < correlation_id;
		     step *= 2) {
			low = high + 1;
			high += step;
		}
		return find_first(index, log, low, high < of->nr ? high : of->nr,
				  correlation_id);
	}
	for (; low && key_at(index, log, low - 1) >= correlation_id; step *= 2) {
		high = low - 1;
		low = low > step ? low - step : 0;
	}
	return find_first(index, log, low, high, correlation_id);
}

size_t activity_index__find(struct activity_index *index, uint32_t log,
			    uint64_t correlation_id, size_t *ret_first)
{
	struct log_places *of = &index->logs[log];
	size_t first = gallop(index, log, correlation_id), behind = first;

	while (behind < of->nr && key_at(index, log, behind) == correlation_id)
		behind++;
	of->next = behind;
	if (behind + KEYS_AHEAD < of->nr)
		sidecar__prefetch(index->sidecar, of->places[behind + KEYS_AHEAD]);
	*ret_first = of->first + first;
	return behind - first;
}

/* The log of the one with a number */
static uint32_t log_of(const struct activity_index *index, size_t i)
{
	uint32_t low = 0, high = (uint32_t)index->nr_logs;

	/* The last log that begins at it or before, and isn't empty */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (index->logs[middle].first > i)
			high = middle;
		else
			low = middle;
	}
	return low;
}

void activity_index__get(const struct activity_index *index, size_t i,
			 struct sidecar_activity *ret)
{
	uint32_t log = log_of(index, i);

	sidecar__activity(index->sidecar, log,
			  index->logs[log].places[i - index->logs[log].first], ret);
}

uint64_t activity_index__key(const struct activity_index *index, size_t i,
			     uint32_t *ret_log)
{
	*ret_log = log_of(index, i);
	/* All are asked for, one by one. */
	sidecar_file__touch(index->sidecar->file, sizeof(struct gpu_log_kernel));
	return key_at(index, *ret_log, i - index->logs[*ret_log].first);
}
