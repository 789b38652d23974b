// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/feed_ahead.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu_log.h"

/* Batches that are small enough to stay, with what they point to, in a core's cache */
#define ITEMS_PER_BATCH 512

/* What the thread works with. The caller writes to what is beside it, for each item. */
struct feeder {
	struct feed_order *order;
	const struct launches *launches;
	struct callchains *chains;
	struct join *join;
};

struct feed_ahead {
	struct feeder feeder;
	size_t nr, next; /* of the batch */
	struct feed_item batch[ITEMS_PER_BATCH];
};

static bool is_launch(const struct feed_item *item)
{
	return item->entry.record && item->entry.is_launch;
}

/*
 * Its callchain has a hash for now, unless it has a number already; that doesn't count where it
 * comes once, and nothing that is made of it is needed again.
 */
static void read_launch(const struct feeder *feeder, struct feed_item *item)
{
	const struct launch_sample *sample = &item->launch.sample;

	if (feed_order__know(feeder->order, &item->entry, &item->launch)) {
		launches__resolve(feeder->launches, &item->launch);
		if (!callchains__came_again(feeder->chains, item->launch.chain))
			item->launch.chain = 0;
		item->err = 0;
		return;
	}
	item->err = launches__read(feeder->launches, item->entry.record,
				   item->entry.event, &item->launch);
	if (!item->err)
		item->launch.chain = callchains__hash(sample->ips, sample->nr_ips);
}

static void find_chain(const struct feeder *feeder, struct launch *launch)
{
	const struct launch_sample *sample = &launch->sample;

	launch->chain = callchains__find(feeder->chains, launch->chain, sample->ips,
					 sample->nr_ips);
}

static void find_occurrences(const struct feeder *feeder, struct feed_item *item)
{
	const struct launch_event *event = &item->launch.event;

	item->nr = 0;
	if (!(event->api & GPU_LOG_API_GRAPH_NODE))
		item->nr = join__launch(feeder->join, event->log_id,
					event->correlation_id, &item->first);
}

static size_t fill(struct feed_ahead *ahead)
{
	const struct feeder feeder = ahead->feeder;
	struct feed_item *items = ahead->batch;
	size_t nr = 0;

	for (; nr < ITEMS_PER_BATCH && feed_order__next(feeder.order, &items[nr].entry);
	     nr++)
		if (is_launch(&items[nr]))
			read_launch(&feeder, &items[nr]);
	for (size_t i = 0; i < nr; i++)
		if (is_launch(&items[i]) && !items[i].err) {
			if (!items[i].entry.kept)
				find_chain(&feeder, &items[i].launch);
			find_occurrences(&feeder, &items[i]);
		}
	return nr;
}

int feed_ahead__new(struct feed_order *order, const struct launches *launches,
		    struct callchains *chains, struct join *join, struct feed_ahead **ret)
{
	struct feed_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return -ENOMEM;
	ahead->feeder = (struct feeder){
		.order = order, .launches = launches, .chains = chains, .join = join};
	*ret = ahead;
	return 0;
}

void feed_ahead__delete(struct feed_ahead *ahead)
{
	free(ahead);
}

struct feed_item *feed_ahead__next(struct feed_ahead *ahead)
{
	if (ahead->next == ahead->nr) {
		ahead->next = 0;
		ahead->nr = fill(ahead);
		if (!ahead->nr)
			return NULL;
	}
	return &ahead->batch[ahead->next++];
}
