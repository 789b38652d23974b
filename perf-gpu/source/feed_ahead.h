/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is fed, what the samples of launches say, and where what they did on the GPU is: read
 * and joined some hundreds of entries ahead of who makes samples of them, in batches. Where
 * one thing is done many times, what it reads next is known, and is fetched meanwhile.
 *
 * From the beginning to the end, the order isn't to be moved by anyone else. One thread.
 */
#ifndef PERF_GPU_SOURCE_FEED_AHEAD_H
#define PERF_GPU_SOURCE_FEED_AHEAD_H

#include "join/join.h"
#include "source/callchains.h"
#include "source/feed_order.h"
#include "source/launches.h"

struct feed_ahead;

struct feed_item {
	struct feed_entry entry;
	/* Of a launch: launches__read(), and what it gave, with a number of its callchain */
	int err;
	struct launch launch;
	/* Its occurrences: of join__launch() */
	size_t first, nr;
};

/**
 * feed_ahead__new - begin to read
 * @order:  rewound
 * @chains: give the numbers
 * @join:   indexed, and told of all launches
 * @ret:    released by feed_ahead__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, not printed.
 */
int feed_ahead__new(struct feed_order *order, const struct launches *launches,
		    struct callchains *chains, struct join *join,
		    struct feed_ahead **ret);

/* The next item, the caller's until the next call; NULL: there is none more. */
struct feed_item *feed_ahead__next(struct feed_ahead *ahead);

void feed_ahead__delete(struct feed_ahead *ahead); /* NULL is fine */

#endif
