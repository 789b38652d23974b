// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The occurrences, sorted by their key (log, correlation id): a launch's are a range of an
 * array, found by binary search. Of those that are streamed, the array is one of places
 * (join/activity_index.h), and they are made of what is there.
 *
 * Invariant: a key is either announced, and its occurrences are join__launch()'s, or it
 * isn't, and they are join__rest()'s. So neither of them can hand out what the other does,
 * whoever is asked first.
 */
#include "join/join.h"

#include <errno.h>
#include <stdlib.h>

#include "join/activity_index.h"
#include "join/key_set.h"

struct log_index {
	uint64_t log_id;
	uint32_t log; /* index in sidecar.logs */
};

struct join {
	const struct occurrences *occurrences;
	struct key_set keys; /* of launches */
	struct log_index *logs; /* by log_id */
	size_t nr_logs;
	size_t next; /* where the next launch's are, if launches come in order */
	/* Of occurrences that are streamed */
	struct activity_index *index;
	struct occurrence made; /* the last that was asked for */
	struct sidecar_activity made_of; /* its activity */
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_logs(const void *a, const void *b)
{
	const struct log_index *x = a, *y = b;

	return compare_u64(x->log_id, y->log_id);
}

static int compare_keys(const struct occurrence *a, const struct occurrence *b)
{
	if (a->log != b->log)
		return a->log < b->log ? -1 : 1;
	return compare_u64(a->correlation_id, b->correlation_id);
}

static int compare_occurrences(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int order = compare_keys(x, y);

	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	/* Whatever qsort() does with equals, the output must be the same again. */
	if (!order)
		order = compare_u64(x->event, y->event);
	return order ? order : (x->activity > y->activity) - (x->activity < y->activity);
}

static int index_logs(struct join *join, const struct sidecar *sidecar)
{
	join->nr_logs = sidecar->nr_logs;
	/* One more: calloc(0) may give NULL. */
	join->logs = calloc(join->nr_logs + 1, sizeof(*join->logs));
	if (!join->logs)
		return -ENOMEM;
	for (size_t i = 0; i < join->nr_logs; i++)
		join->logs[i] = (struct log_index){.log_id = sidecar->logs[i].log_id,
						   .log = (uint32_t)i};
	qsort(join->logs, join->nr_logs, sizeof(*join->logs), compare_logs);
	return 0;
}

int join__new(const struct sidecar *sidecar, struct join **ret)
{
	struct join *join = calloc(1, sizeof(*join));

	if (!join)
		return -ENOMEM;
	if (index_logs(join, sidecar)) {
		join__delete(join);
		return -ENOMEM;
	}
	*ret = join;
	return 0;
}

int join__index(struct join *join, struct occurrences *occurrences)
{
	join->occurrences = occurrences;
	if (occurrences->is_streamed)
		return activity_index__new(occurrences, &join->index);
	if (occurrences->nr)
		qsort(occurrences->items, occurrences->nr, sizeof(*occurrences->items),
		      compare_occurrences);
	return 0;
}

void join__delete(struct join *join)
{
	if (!join)
		return;
	activity_index__delete(join->index);
	key_set__release(&join->keys);
	free(join->logs);
	free(join);
}

int join__find_log(const struct join *join, uint64_t log_id)
{
	size_t low = 0, high = join->nr_logs;

	/* bsearch(3) would call a function for each step, for each launch. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (join->logs[middle].log_id == log_id)
			return (int)join->logs[middle].log;
		if (join->logs[middle].log_id < log_id)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

/* How many items have a key; the first's index is written if there are any. */
static size_t find_items(struct join *join, const struct occurrence *key,
			 size_t *ret_first)
{
	const struct occurrence *items = join->occurrences->items;
	size_t low = 0, high = join->occurrences->nr, behind;

	/* It stands behind a whole range, so it is the first of its own. */
	if (join->next < high && !compare_keys(&items[join->next], key))
		low = high = join->next;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&items[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (behind = low;
	     behind < join->occurrences->nr && !compare_keys(&items[behind], key);
	     behind++)
		;
	join->next = behind;
	*ret_first = low;
	return behind - low;
}

int join__announce(struct join *join, uint64_t log_id, uint64_t correlation_id)
{
	int log = join__find_log(join, log_id);

	if (log < 0)
		return 0;
	return key_set__mark(&join->keys, (uint32_t)log, correlation_id,
			     KEY_IS_ANNOUNCED);
}

size_t join__launch(struct join *join, uint64_t log_id, uint64_t correlation_id,
		    size_t *ret_first)
{
	struct occurrence key = {.correlation_id = correlation_id};
	int log = join__find_log(join, log_id);

	key.log = (uint32_t)log;
	if (log < 0 || !key_set__take(&join->keys, key.log, correlation_id))
		return 0;
	if (join->index)
		return activity_index__find(join->index, key.log, correlation_id,
					    ret_first);
	return find_items(join, &key, ret_first);
}

const struct occurrence *join__at(struct join *join, size_t place)
{
	if (!join->index)
		return &join->occurrences->items[place];
	activity_index__get(join->index, place, &join->made_of);
	occurrences__make(join->occurrences, &join->made_of, &join->made);
	return &join->made;
}

const struct occurrence *join__rest(struct join *join, size_t *cursor)
{
	size_t nr = join->index ? activity_index__nr(join->index) : join->occurrences->nr;

	while (*cursor < nr) {
		size_t place = (*cursor)++;
		uint64_t id;
		uint32_t log;

		if (join->index) {
			id = activity_index__key(join->index, place, &log);
		} else {
			id = join->occurrences->items[place].correlation_id;
			log = join->occurrences->items[place].log;
		}
		if (!key_set__has(&join->keys, log, id, KEY_IS_ANNOUNCED))
			return join__at(join, place);
	}
	return NULL;
}
