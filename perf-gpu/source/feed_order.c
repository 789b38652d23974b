// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/feed_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/format.h"
#include "perfdata/sample.h"
#include "source/kept_records.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/runs.h"
#include "util/sum.h"

#define CACHE_LINE_BYTES   64
#define MAX_PREFETCH_BYTES 1024
#define RECORDS_AHEAD	   8
#define RECORDS_PER_BATCH  512

/* An occurrence that no launch has */
struct rest {
	uint64_t time_ns;
	size_t place; /* in the join */
};

struct feed_order {
	struct feed_order_input input;
	struct feed_counts counts;
	bool are_all_whole; /* no record was broken when all were read */
	struct kept_records kept; /* in the order of the file */
	/* Of records by time; places are their numbers among those that are kept, or, if
	   these are given up, offsets in the data section */
	struct runs runs;
	size_t *time_words; /* by event: where its samples have their time; 0: not known */
	struct rest *rest; /* by time */
	size_t nr_rest, nr_rest_allocated;
	/* Where it is */
	struct runs_walk walk;
	struct feed_entry record; /* the next; without a record: there is none */
	struct feed_entry walked; /* what the walk has looked at last */
	size_t next_rest;
};

static int no_memory(const struct feed_order *order)
{
	pr_err("no memory to read %s", order->input.path);
	return -ENOMEM;
}

static int find_time_words(struct feed_order *order)
{
	size_t nr = perfdata_reader__nr_events(order->input.reader);

	order->time_words = calloc(nr + 1, sizeof(*order->time_words));
	if (!order->time_words)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		int word = perfdata_sample__time_word(
			&perfdata_reader__event(order->input.reader, i)->attr);

		/* Behind the header, which is a word itself */
		if (word >= 0)
			order->time_words[i] = 1 + (size_t)word;
	}
	return 0;
}

int feed_order__new(const struct feed_order_input *input, struct feed_order **ret)
{
	struct feed_order *order = calloc(1, sizeof(*order));

	if (!order) {
		pr_err("no memory to read %s", input->path);
		return -ENOMEM;
	}
	order->input = *input;
	if (find_time_words(order)) {
		feed_order__delete(order);
		pr_err("no memory to read %s", input->path);
		return -ENOMEM;
	}
	*ret = order;
	return 0;
}

void feed_order__delete(struct feed_order *order)
{
	if (!order)
		return;
	runs_walk__end(&order->walk);
	runs__release(&order->runs);
	kept_records__give_up(&order->kept);
	free(order->rest);
	free(order->time_words);
	free(order);
}

struct feed_counts feed_order__counts(const struct feed_order *order)
{
	return order->counts;
}

/*
 * All of what is so far behind a record, or its first and last lines: records are mostly
 * alike. The processor sees by itself neither where rings alternate (with 16 CPUs, the next
 * record of this one comes after 16 others), nor that of a record just the ends are read.
 */
static void prefetch(const struct perf_event_header *record, size_t nr_behind,
		     bool is_whole)
{
	const char *at = (const char *)record + nr_behind * record->size;
	size_t step = is_whole ? CACHE_LINE_BYTES : record->size - sizeof(uint64_t);

	for (size_t i = 0; i < record->size && i < MAX_PREFETCH_BYTES; i += step)
		__builtin_prefetch(at + i);
}

/* --- what a record is ------------------------------------------------------------------- */

/* A sample that is known to be whole. 1, as look_at(). */
static int take_time(struct feed_entry *entry, size_t word)
{
	memcpy(&entry->time_ns,
	       (const char *)entry->record + word * sizeof(entry->time_ns),
	       sizeof(entry->time_ns));
	return 1;
}

/* Whose sample it is. 0, or a negative errno: nobody's. */
static int find_event(const struct feed_order *order, struct feed_entry *entry)
{
	int event = perfdata_reader__find_event(order->input.reader, entry->record);

	if (event < 0)
		return event;
	entry->event = (uint32_t)event;
	entry->is_launch = launches__events(order->input.launches)[event];
	return 0;
}

static int look_at_launch(const struct feed_order *order, struct feed_entry *entry)
{
	int err;

	if (order->are_all_whole && order->time_words[entry->event])
		return take_time(entry, order->time_words[entry->event]);
	err = launches__time(order->input.launches, entry->record, entry->event,
			     &entry->time_ns);
	return err ? err : 1;
}

static int look_at_other_sample(const struct feed_order *order, struct feed_entry *entry)
{
	const struct feed_order_input *input = &order->input;
	struct perfdata_sample sample;
	int err;

	if (!input->wants_other_events)
		return 0;
	err = perfdata_sample__parse(
		&perfdata_reader__event(input->reader, entry->event)->attr, entry->record,
		&sample);
	if (err)
		return err;
	entry->time_ns = sample.time_ns;
	return 1;
}

/* Those of user space have no time. */
static int look_at_other(const struct feed_order *order, struct feed_entry *entry)
{
	const struct perfdata_reader *reader = order->input.reader;
	struct perfdata_sample id;
	int event, err;

	if (entry->record->type >= PERFDATA_RECORD_USER_START)
		return 0;
	event = perfdata_reader__find_event(reader, entry->record);
	err = perfdata_sample__parse_id(
		&perfdata_reader__event(reader, event < 0 ? 0 : (size_t)event)->attr,
		entry->record, &id);
	if (err)
		return err;
	entry->time_ns = id.time_ns;
	return 1;
}

/* The same, of which all that the sample says is looked at at once. */
static int look_at_whole_launch(const struct feed_order *order, struct feed_entry *entry,
				struct launch *ret)
{
	int err = launches__look(order->input.launches, entry->record, entry->event, ret);

	if (err)
		return err;
	entry->time_ns = ret->sample.time_ns;
	return 1;
}

/*
 * Fill in the rest of an entry that has a record, and @ret_launch, unless it is NULL, if it
 * is one. 1: it is to be fed; 0: it isn't; a negative errno: it is broken.
 */
static int look_at(const struct feed_order *order, struct feed_entry *entry,
		   struct launch *ret_launch)
{
	int err;

	entry->is_launch = false;
	if (entry->record->type != PERF_RECORD_SAMPLE)
		return look_at_other(order, entry);
	err = find_event(order, entry);
	if (err)
		return err;
	if (!entry->is_launch)
		return look_at_other_sample(order, entry);
	return ret_launch ? look_at_whole_launch(order, entry, ret_launch)
			  : look_at_launch(order, entry);
}

/* --- the first time ----------------------------------------------------------------------- */

static void count_lost(struct feed_counts *counts, const struct perf_event_header *record)
{
	const struct perfdata_lost *lost = (const void *)record;

	if (record->type == PERF_RECORD_LOST && record->size >= sizeof(*lost))
		sum__add(&counts->nr_lost, lost->nr_lost);
}

static void count_entry(struct feed_counts *counts, uint64_t time_ns)
{
	counts->nr_entries++;
	if (time_ns > counts->last_ns)
		counts->last_ns = time_ns;
}

/* A record, as it was looked at */
struct read_record {
	uint64_t place;
	struct feed_entry entry;
	int seen; /* as look_at() */
	struct launch launch; /* if it is one, and to be fed */
};

/* Where the first reading is */
struct first_reader {
	const struct feed_order *order;
	uint64_t cursor;
	bool is_done;
	int err; /* why; 0: that was all */
};

static bool read_one(struct first_reader *reader, struct read_record *ret)
{
	const struct feed_order *order = reader->order;
	const struct perf_event_header *record;
	int err;

	ret->place = reader->cursor;
	err = perfdata_reader__next(order->input.reader, &reader->cursor, &record);
	if (err <= 0) {
		reader->is_done = true;
		reader->err = err == -ENODATA ? 0 : err; /* told: it was cut off */
		return false;
	}
	if (record->size > sizeof(*record))
		prefetch(record, RECORDS_AHEAD, false);
	ret->entry = (struct feed_entry){.record = record};
	ret->seen = look_at(order, &ret->entry, &ret->launch);
	return true;
}

/* Return: how many; 0: there is none more. */
static size_t read_batch(struct first_reader *reader, struct read_record *records)
{
	size_t nr = 0;

	while (!reader->is_done && nr < RECORDS_PER_BATCH &&
	       read_one(reader, &records[nr]))
		nr++;
	return nr;
}

/* Launches get a number for their callchain, the whole batch of them (callchains.h). */
static void find_chains(const struct feed_order *order, struct read_record *records,
			size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct launch_sample *sample = &records[i].launch.sample;

		if (i + RECORDS_AHEAD < nr)
			prefetch(records[i + RECORDS_AHEAD].entry.record, 0, true);
		if (records[i].entry.is_launch && records[i].seen > 0)
			records[i].launch.chain =
				callchains__hash(sample->ips, sample->nr_ips);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct launch_sample *sample = &records[i].launch.sample;

		if (records[i].entry.is_launch && records[i].seen > 0)
			records[i].launch.chain =
				callchains__find(order->input.chains,
						 records[i].launch.chain, sample->ips,
						 sample->nr_ips);
	}
}

/* The same runs, without what is kept */
static void give_up_keeping(struct feed_order *order)
{
	struct kept_records *kept = &order->kept;

	for (size_t i = 0; i < order->runs.nr; i++) {
		struct run *run = &order->runs.items[i];

		run->first = kept_record__offset(kept_records__at(kept, run->first));
		run->last = kept_record__offset(kept_records__at(kept, run->last));
	}
	kept_records__give_up(kept);
}

/* 0 or -ENOMEM */
static int add_record(struct feed_order *order, const struct read_record *read)
{
	const struct feed_entry *entry = &read->entry;
	struct kept_records *kept = &order->kept;

	if (!kept->are_given_up &&
	    !kept_records__add(kept, read->place, entry->time_ns, entry->event,
			       entry->record, entry->is_launch ? &read->launch : NULL))
		give_up_keeping(order);
	return runs__add(&order->runs, entry->time_ns,
			 kept->are_given_up ? read->place : kept->nr - 1);
}

/* Whoever wants to know of a record that is fed does. 0 or -ENOMEM. */
static int tell(const struct feed_order_input *input, const struct read_record *read)
{
	const struct feed_entry *entry = &read->entry;
	int err;

	if (entry->is_launch) {
		err = launches__note(input->launches, &read->launch, input->join);
		if (err || !input->used_files)
			return err;
		return used_files__add_launch(input->used_files, &read->launch.sample,
					      read->launch.chain);
	}
	if (!input->used_files || entry->record->type == PERF_RECORD_SAMPLE)
		return 0;
	return used_files__add_record(input->used_files, entry->record, entry->time_ns);
}

static int note(struct feed_order *order, const struct read_record *read)
{
	progress__at(read->place);
	if (!read->entry.is_launch)
		count_lost(&order->counts, read->entry.record);
	if (read->seen < 0)
		order->counts.nr_broken++;
	if (read->seen <= 0)
		return 0;
	if (tell(&order->input, read) || add_record(order, read))
		return -ENOMEM;
	count_entry(&order->counts, read->entry.time_ns);
	return 0;
}

static int note_records(struct feed_order *order)
{
	struct read_record *records = calloc(RECORDS_PER_BATCH, sizeof(*records));
	struct first_reader reader = {.order = order};
	int err = records ? 0 : -ENOMEM;
	size_t nr;

	progress__begin("reading", order->input.path,
			perfdata_reader__data_bytes(order->input.reader));
	while (!err && (nr = read_batch(&reader, records))) {
		if (order->input.used_files || !order->kept.are_given_up)
			find_chains(order, records, nr);
		for (size_t i = 0; i < nr && !err; i++)
			err = note(order, &records[i]);
	}
	free(records);
	return err ? no_memory(order) : reader.err;
}

int feed_order__read(struct feed_order *order)
{
	int err = note_records(order);

	order->are_all_whole = !order->counts.nr_broken;
	return err;
}

static int add_rest(struct feed_order *order, const struct rest *new)
{
	if (order->nr_rest == order->nr_rest_allocated) {
		size_t nr = order->nr_rest ? 2 * order->nr_rest : 1024;
		struct rest *rest = reallocarray(order->rest, nr, sizeof(*rest));

		if (!rest)
			return no_memory(order);
		order->rest = rest;
		order->nr_rest_allocated = nr;
	}
	order->rest[order->nr_rest++] = *new;
	count_entry(&order->counts, new->time_ns);
	return 0;
}

static int compare_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

int feed_order__find_rest(struct feed_order *order)
{
	struct join *join = order->input.join;
	const struct occurrence *occurrence;
	size_t cursor = 0;
	int err;

	progress__begin("sorting", NULL, 0);
	err = launches__settle(order->input.launches, join);
	while (!err && (occurrence = join__rest(join, &cursor))) {
		const struct rest rest = {.time_ns = occurrence->start_ns,
					  .place = cursor - 1};

		err = add_rest(order, &rest);
	}
	if (!err && order->nr_rest)
		qsort(order->rest, order->nr_rest, sizeof(*order->rest), compare_rest);
	return err;
}

/* --- in order ------------------------------------------------------------------------------- */

static uint64_t next_kept(void *data, uint64_t *place)
{
	const struct feed_order *order = data;
	const struct kept_record *kept = kept_records__at(&order->kept, ++*place);

	/* Mostly it is of the same run; where it is none at all, nothing happens. */
	__builtin_prefetch(kept + RECORDS_AHEAD);
	return kept->time_ns;
}

static uint64_t next_record(void *data, uint64_t *place)
{
	struct feed_order *order = data;
	struct feed_entry *entry = &order->walked;
	uint64_t cursor = *place, next;

	/* The record itself, and then up to the next one that is fed. */
	if (perfdata_reader__next(order->input.reader, &cursor, &entry->record) <= 0)
		return 0;
	for (next = cursor;
	     perfdata_reader__next(order->input.reader, &cursor, &entry->record) > 0;
	     next = cursor)
		if (look_at(order, entry, NULL) > 0) {
			*place = next;
			prefetch(entry->record, 1, true);
			return entry->time_ns;
		}
	return 0;
}

static void take_kept(struct feed_order *order, const struct kept_record *kept)
{
	const struct kept_kind *kind = kept_records__kind(&order->kept, kept);

	order->record = (struct feed_entry){
		.time_ns = kept->time_ns,
		.record = perfdata_reader__at(order->input.reader,
					      kept_record__offset(kept)),
		.kept = kept,
		.event = kind->event,
		.is_launch = kind->is_launch,
	};
	/* A launch's callchain may be looked at, all of any other record will be. */
	perfdata_reader__touch(order->input.reader,
			       kind->is_launch ? kept->nr_ips * sizeof(uint64_t)
					       : order->record.record->size);
}

/* The record that comes next, whatever else does */
static void take_record(struct feed_order *order)
{
	struct feed_entry *entry = &order->record;
	uint64_t time_ns, place;

	if (!runs_walk__next(&order->walk, &time_ns, &place)) {
		entry->record = NULL;
		return;
	}
	if (!order->kept.are_given_up) {
		take_kept(order, kept_records__at(&order->kept, place));
		return;
	}
	*entry = (struct feed_entry){
		.record = perfdata_reader__at(order->input.reader, place)};
	if (order->walked.record == entry->record)
		*entry = order->walked;
	else
		look_at(order, entry, NULL);
}

int feed_order__rewind(struct feed_order *order)
{
	runs_walk__end(&order->walk);
	order->walked.record = NULL;
	order->next_rest = 0;
	if (runs_walk__begin(&order->walk, &order->runs,
			     order->kept.are_given_up ? next_record : next_kept, order))
		return no_memory(order);
	take_record(order);
	return 0;
}

bool feed_order__know(const struct feed_order *order, const struct feed_entry *entry,
		      struct launch *ret)
{
	if (!entry->kept)
		return false;
	kept_records__launch(&order->kept, entry->kept, entry->record, ret);
	return true;
}

bool feed_order__next(struct feed_order *order, struct feed_entry *ret)
{
	const struct rest *rest = &order->rest[order->next_rest];
	bool has_rest = order->next_rest < order->nr_rest;

	if (order->record.record &&
	    (!has_rest || order->record.time_ns <= rest->time_ns)) {
		*ret = order->record;
		take_record(order);
		return true;
	}
	if (!has_rest)
		return false;
	*ret = (struct feed_entry){.time_ns = rest->time_ns, .rest = rest->place};
	order->next_rest++;
	return true;
}
