/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that a sink is to be fed, in the order of time: the records of a perf.data,
 * and the occurrences that no launch has. Of those at the same time, records come first,
 * as they stand in the file.
 *
 * perf.data is read from the beginning to the end once, to learn where it is in order
 * (util/runs.h), and as much is kept of it as there is room for (source/kept_records.h). If
 * that isn't all, it is read once more, in order, and nothing is kept. One thread.
 */
#ifndef PERF_GPU_SOURCE_FEED_ORDER_H
#define PERF_GPU_SOURCE_FEED_ORDER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "join/join.h"
#include "perfdata/reader.h"
#include "source/callchains.h"
#include "source/kept_records.h"
#include "source/launches.h"
#include "source/used_files.h"

struct feed_order;

/* All of it must outlive the order. */
struct feed_order_input {
	struct perfdata_reader *reader;
	const char *path; /* of what is read, for messages */
	struct launches *launches; /* are noted */
	struct join *join; /* is told of them */
	bool wants_other_events; /* samples that aren't launches, too */
	/* Are told of all, as it is read; may be NULL */
	struct used_files *used_files;
	struct callchains *chains; /* give numbers to their callchains */
};

struct feed_entry {
	uint64_t time_ns;
	const struct perf_event_header *record; /* NULL: an occurrence without a launch */
	size_t rest; /* without a record: its place, for join__at() */
	uint32_t event; /* of a sample: index of the reader's event */
	bool is_launch; /* a sample of one that is of launches */
	const struct kept_record *kept; /* what was read of the record; NULL: it isn't */
};

/* What was read */
struct feed_counts {
	uint64_t nr_entries;
	uint64_t nr_broken; /* records that aren't fed */
	uint64_t nr_lost; /* that a ring of perf record's own had no room for */
	uint64_t last_ns; /* the last entry's time; 0 without one */
};

/* @ret: released by feed_order__delete(); written on success only. 0 or -ENOMEM, printed. */
int feed_order__new(const struct feed_order_input *input, struct feed_order **ret);
void feed_order__delete(struct feed_order *order); /* NULL is fine */

/**
 * feed_order__read - read perf.data, and announce its launches
 *
 * Of the join, nothing else is needed: it may be indexed meanwhile.
 *
 * Return: 0 or a negative errno, printed: those of perfdata_reader__next(), -ENOMEM.
 */
int feed_order__read(struct feed_order *order);

/**
 * feed_order__find_rest - then, find what has no launch
 *
 * Return: 0 or a negative errno, printed: those of launches__settle(), -ENOMEM.
 */
int feed_order__find_rest(struct feed_order *order);

struct feed_counts feed_order__counts(const struct feed_order *order);

/* To before the first entry. 0 or -ENOMEM, printed. */
int feed_order__rewind(struct feed_order *order);

/* The next entry; false: there is none more. */
bool feed_order__next(struct feed_order *order, struct feed_entry *ret);

/*
 * What launches__look() said of an entry that is a launch, with the number of its callchain,
 * if that was kept; else false.
 */
bool feed_order__know(const struct feed_order *order, const struct feed_entry *entry,
		      struct launch *ret);

#endif
