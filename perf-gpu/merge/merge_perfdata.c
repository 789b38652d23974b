// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/merge_perfdata.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch_event.h"
#include "merge/files.h"
#include "merge/repeats.h"
#include "merge/records.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/mmap2.h"
#include "perfdata/sample.h"
#include "sidecar/table.h"
#include "util/log.h"
#include "util/progress.h"

/* Readers sort what is between two of these: some 4 MB. */
#define RECORDS_PER_ROUND 16384

/* An event of the output, which those of several inputs have become */
struct event {
	struct perf_event_attr attr;
	const char *name;
	uint64_t id;
};

struct entry {
	uint64_t time_ns; /* on the one clock */
	uint64_t offset; /* in the data section */
	uint32_t input;
};

struct merger {
	struct perfdata_writer *writer;
	struct merge_input *const *inputs;
	size_t nr_inputs;
	uint64_t session;
	struct event *events;
	size_t nr_events;
	struct record_change *changes; /* by input */
	struct merge_files files;
	struct merge_other_files *other_files; /* by input */
	struct entry *entries;
	size_t nr_entries;
	struct repeats repeats; /* of one time, of parts */
	uint64_t first_ns, last_ns; /* of samples */
	struct merge_counts counts;
	uint64_t record[MERGE_RECORD_MAX_BYTES / sizeof(uint64_t)];
};

static int no_memory(void)
{
	pr_err("no memory to merge");
	return -ENOMEM;
}

/* The event as it is in the output: launches are of the output's session. */
static struct perf_event_attr output_attr(const struct merger *merger,
					  const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;

	if (merge_input__is_launch(attr))
		copy.config1 = merger->session;
	return copy;
}

static int add_event(struct merger *merger, const struct perfdata_event_desc *desc)
{
	const struct perf_event_attr attr = output_attr(merger, &desc->attr);
	struct event *event;

	for (size_t i = 0; i < merger->nr_events; i++)
		if (!memcmp(&merger->events[i].attr, &attr, sizeof(attr)) &&
		    !strcmp(merger->events[i].name, desc->name))
			return 0;
	event = TABLE_APPEND(merger->events, merger->nr_events);
	if (!event)
		return no_memory();
	*event = (struct event){.attr = attr, .name = desc->name};
	return 0;
}

/*
 * Launches with copied stacks come first, since who reads such goes by the first event
 * of launches; then other launches.
 */
static int event__rank(const struct event *event)
{
	if (!merge_input__is_launch(&event->attr))
		return 2;
	return event->attr.sample_type & PERF_SAMPLE_STACK_USER ? 0 : 1;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	return event__rank(one) - event__rank(other);
}

static int add_events(struct merger *merger)
{
	int err = 0;

	for (size_t i = 0; i < merger->nr_inputs; i++) {
		const struct perfdata_reader *reader = merger->inputs[i]->reader;

		for (size_t e = 0; e < perfdata_reader__nr_events(reader) && !err; e++)
			err = add_event(merger, perfdata_reader__event(reader, e));
	}
	if (err)
		return err;
	if (merger->nr_events)
		qsort(merger->events, merger->nr_events, sizeof(*merger->events),
		      compare_events);
	for (size_t i = 0; i < merger->nr_events && !err; i++) {
		struct event *event = &merger->events[i];

		event->id = i + 1;
		err = perfdata_writer__add_event(merger->writer, &event->attr, &event->id,
						 1, event->name);
	}
	return err ? no_memory() : 0;
}

static uint64_t output_id(const struct merger *merger,
			  const struct perfdata_event_desc *desc)
{
	const struct perf_event_attr attr = output_attr(merger, &desc->attr);

	for (size_t i = 0; i < merger->nr_events; i++)
		if (!memcmp(&merger->events[i].attr, &attr, sizeof(attr)) &&
		    !strcmp(merger->events[i].name, desc->name))
			return merger->events[i].id;
	return 0; /* add_events() has all */
}

static int make_change(const struct merger *merger, const struct merge_input *input,
		       struct record_change *ret)
{
	size_t nr_events = perfdata_reader__nr_events(input->reader);
	uint64_t *ids = calloc(nr_events, sizeof(*ids));

	if (!ids)
		return no_memory();
	for (size_t i = 0; i < nr_events; i++)
		ids[i] = output_id(merger, perfdata_reader__event(input->reader, i));
	*ret = (struct record_change){
		.shift = input->shift,
		.event_ids = ids,
		.comm_host = input->comm_host,
	};
	return 0;
}

static int prepare_inputs(struct merger *merger)
{
	int err = 0;

	merger->changes = calloc(merger->nr_inputs, sizeof(*merger->changes));
	merger->other_files = calloc(merger->nr_inputs, sizeof(*merger->other_files));
	if (!merger->changes || !merger->other_files)
		return no_memory();
	for (size_t i = 0; i < merger->nr_inputs && !err; i++) {
		const struct merge_input *input = merger->inputs[i];

		err = make_change(merger, input, &merger->changes[i]);
		if (err)
			break;
		err = merge_files__add(&merger->files, input->reader,
				       &merger->other_files[i]);
		if (err == -EINVAL) {
			pr_warning("%s: build ids are missing, its header is damaged",
				   input->path);
			err = 0;
		} else if (err) {
			err = no_memory();
		}
	}
	return err;
}

static int index_record(struct merger *merger, uint32_t i, uint64_t offset,
			const struct perf_event_header *record)
{
	const struct merge_input *input = merger->inputs[i];
	struct entry *entry;
	uint64_t time_ns = 0;
	int ret = merge_record__time(input->reader, record, &time_ns);

	if (ret == -ENOTSUP)
		merger->counts.nr_unknown++;
	else if (ret < 0)
		merger->counts.nr_broken++;
	if (ret <= 0)
		return 0;
	entry = TABLE_APPEND(merger->entries, merger->nr_entries);
	if (!entry)
		return no_memory();
	*entry = (struct entry){
		.time_ns = shift__time(&input->shift, time_ns),
		.offset = offset,
		.input = i,
	};
	return 0;
}

static int index_input(struct merger *merger, uint32_t i)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0, offset;
	int ret;

	progress__begin("reading", merger->inputs[i]->path,
			perfdata_reader__data_bytes(merger->inputs[i]->reader));
	for (;;) {
		offset = cursor;
		progress__at(cursor);
		ret = perfdata_reader__next(merger->inputs[i]->reader, &cursor, &record);
		if (ret <= 0)
			return ret == -ENODATA ? 0 : ret;
		ret = index_record(merger, i, offset, record);
		if (ret)
			return ret;
	}
}

/* At one time, those of a recording stay in their order. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	if (one->input != other->input)
		return one->input < other->input ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* @attr, @record: as they were */
static void note_sample(struct merger *merger, const struct perf_event_attr *attr,
			const struct perf_event_header *record, uint64_t time_ns)
{
	struct perfdata_sample sample;
	struct launch_event launch;

	if (time_ns < merger->first_ns)
		merger->first_ns = time_ns;
	merger->last_ns = time_ns; /* they come by time */
	if (!merge_input__is_launch(attr) ||
	    perfdata_sample__parse(attr, record, &sample) ||
	    sample.raw_bytes < sizeof(launch))
		return;
	memcpy(&launch, sample.raw, sizeof(launch));
	merger->counts.nr_launches +=
		!(launch.api & (LAUNCH_API_GRAPH_NODE | LAUNCH_API_EARLIER));
}

/* The flag of a launch that is copied from a part before; NULL: it is none, and no launch. */
static uint32_t *earlier_flag(const struct perf_event_attr *attr,
			      struct perf_event_header *copy)
{
	struct perfdata_sample sample;
	uint32_t *api;
	ptrdiff_t at;

	if (!merge_input__is_launch(attr) ||
	    perfdata_sample__parse(attr, copy, &sample) ||
	    sample.raw_bytes < sizeof(struct launch_event))
		return NULL;
	/* The event begins in the middle of 8 bytes, so its members are to be taken alone. */
	at = (const char *)sample.raw - (const char *)copy;
	api = (void *)((char *)copy + at + offsetof(struct launch_event, api));
	return *api & LAUNCH_API_EARLIER ? api : NULL;
}

/* Is there a record of another part, of the same time? */
static bool has_company(const struct merger *merger, const struct entry *entry)
{
	const size_t i = (size_t)(entry - merger->entries);

	return (i && entry[-1].time_ns == entry->time_ns) ||
	       (i + 1 < merger->nr_entries && entry[1].time_ns == entry->time_ns);
}

/*
 * Does a part say once more what was before it: mappings, names, and launches that the GPU
 * has done something for since? All with their times, so what is said twice follows each
 * other. @copy: as it is to be written
 *
 * Return: 1 if so, 0, or -ENOMEM.
 */
static int is_repeated(struct merger *merger, const struct entry *entry,
		       const struct perf_event_attr *attr, struct perf_event_header *copy)
{
	const struct merge_input *input = merger->inputs[entry->input];
	uint32_t *flag;
	uint64_t hash;

	if (!merge_input__has_parts(input))
		return 0;
	if (entry == merger->entries || entry[-1].time_ns != entry->time_ns)
		repeats__release(&merger->repeats);
	if (!has_company(merger, entry))
		return 0;
	flag = earlier_flag(attr, copy);
	if (flag)
		*flag &= ~LAUNCH_API_EARLIER;
	hash = hash__words((const uint64_t *)copy, copy->size / sizeof(uint64_t));
	if (flag)
		*flag |= LAUNCH_API_EARLIER;
	return repeats__take(&merger->repeats, hash__mix(hash, input->session),
			     entry->input);
}

static int write_entry(struct merger *merger, const struct entry *entry)
{
	struct perfdata_reader *reader = merger->inputs[entry->input]->reader;
	const struct perf_event_header *record =
		perfdata_reader__at(reader, entry->offset);
	struct perf_event_header *copy = (void *)merger->record;
	const struct perf_event_attr *attr;
	int event, repeated;

	if (merge_record__rewrite(reader, &merger->changes[entry->input], record, copy)) {
		merger->counts.nr_broken++;
		return 0;
	}
	perfdata_mmap2__mend(copy);
	merge_other_files__tell(&merger->other_files[entry->input], copy);
	event = perfdata_reader__find_event(reader, record);
	attr = &perfdata_reader__event(reader, event < 0 ? 0 : (size_t)event)->attr;
	repeated = is_repeated(merger, entry, attr, copy);
	if (repeated)
		return repeated < 0 ? no_memory() : 0;
	if (record->type == PERF_RECORD_SAMPLE)
		note_sample(merger, attr, record, entry->time_ns);
	return perfdata_writer__write(merger->writer, copy);
}

static int write_round(struct merger *merger)
{
	const struct perf_event_header round = {.type = PERFDATA_RECORD_FINISHED_ROUND,
						.size = sizeof(round)};

	return perfdata_writer__write(merger->writer, &round);
}

static int write_records(struct merger *merger)
{
	int err = 0;

	for (uint32_t i = 0; i < merger->nr_inputs && !err; i++)
		err = index_input(merger, i);
	if (err)
		return err;
	progress__begin("writing records", NULL, merger->nr_entries);
	if (merger->nr_entries)
		qsort(merger->entries, merger->nr_entries, sizeof(*merger->entries),
		      compare_entries);
	for (size_t i = 0; i < merger->nr_entries && !err; i++) {
		progress__at(i);
		err = write_entry(merger, &merger->entries[i]);
		if (!err && i % RECORDS_PER_ROUND == RECORDS_PER_ROUND - 1)
			err = write_round(merger);
	}
	return err ? err : write_round(merger);
}

/* Of the first recording; of several machines there can be but one in a header. */
static int copy_features(struct merger *merger)
{
	static const unsigned int features[] = {HEADER_OSRELEASE, HEADER_VERSION,
						HEADER_ARCH,	  HEADER_CPUDESC,
						HEADER_CPUID,	  HEADER_TOTAL_MEM};
	const void *data;
	size_t bytes;
	int err = 0;

	for (size_t i = 0; i < sizeof(features) / sizeof(*features) && !err; i++)
		if (perfdata_reader__feature(merger->inputs[0]->reader, features[i],
					     &data, &bytes))
			err = perfdata_writer__set_feature(merger->writer, features[i],
							   data, bytes);
	return err;
}

/* The most: readers have no CPU in a sample that the header hasn't. */
static int set_nr_cpus(struct merger *merger)
{
	uint32_t nr_configured = 0, nr_online = 0;

	for (size_t i = 0; i < merger->nr_inputs; i++) {
		struct perfdata_cursor cursor;
		uint32_t configured, online;
		const void *data;
		size_t bytes;

		if (!perfdata_reader__feature(merger->inputs[i]->reader, HEADER_NRCPUS,
					      &data, &bytes))
			continue;
		cursor = perfdata_cursor__new(data, bytes);
		configured = perfdata_cursor__u32(&cursor);
		online = perfdata_cursor__u32(&cursor);
		if (configured > nr_configured)
			nr_configured = configured;
		if (online > nr_online)
			nr_online = online;
	}
	return nr_configured ? perfdata_feature__set_nr_cpus(merger->writer,
							     nr_configured, nr_online)
			     : 0;
}

/* Whose clock all times are in now */
static const struct merge_input *base(const struct merger *merger)
{
	for (size_t i = 0; i < merger->nr_inputs; i++)
		if (!merger->inputs[i]->shift.time_ns)
			return merger->inputs[i];
	return merger->inputs[0];
}

static int set_features(struct merger *merger, const char *const *argv, const char *hosts)
{
	struct perfdata_writer *writer = merger->writer;
	struct perfdata_buffer table = {0};
	int err;

	merge_files__write(&merger->files, &table);
	err = table.no_memory ? -ENOMEM : 0;
	if (!err && table.nr_bytes)
		err = perfdata_writer__set_feature(writer, HEADER_BUILD_ID, table.data,
						   table.nr_bytes);
	perfdata_buffer__release(&table);
	if (!err)
		err = copy_features(merger);
	if (!err)
		err = set_nr_cpus(merger);
	if (!err && *hosts)
		err = perfdata_writer__set_feature_string(writer, HEADER_HOSTNAME, hosts);
	if (!err)
		err = perfdata_feature__set_cmdline(writer, argv);
	if (!err)
		err = perfdata_feature__set_clock(writer, CLOCK_MONOTONIC,
						  (uint64_t)base(merger)->boot_ns +
							  merger->last_ns,
						  merger->last_ns);
	if (!err && merger->last_ns)
		err = perfdata_feature__set_sample_time(writer, merger->first_ns,
							merger->last_ns);
	return err ? no_memory() : 0;
}

static void merger__delete(struct merger *merger)
{
	for (size_t i = 0; i < merger->nr_inputs; i++) {
		if (merger->changes)
			free((void *)merger->changes[i].event_ids);
		if (merger->other_files)
			merge_other_files__release(&merger->other_files[i]);
	}
	merge_files__release(&merger->files);
	repeats__release(&merger->repeats);
	free(merger->changes);
	free(merger->other_files);
	free(merger->events);
	free(merger->entries);
	free(merger);
}

int merge_perfdata__write(struct perfdata_writer *writer,
			  struct merge_input *const *inputs, size_t nr_inputs,
			  uint64_t session, const char *const *argv, const char *hosts,
			  struct merge_counts *ret)
{
	struct merger *merger = calloc(1, sizeof(*merger));
	int err;

	if (!merger)
		return no_memory();
	merger->writer = writer;
	merger->inputs = inputs;
	merger->nr_inputs = nr_inputs;
	merger->session = session;
	merger->first_ns = UINT64_MAX;
	err = add_events(merger);
	if (!err)
		err = prepare_inputs(merger);
	if (!err)
		err = write_records(merger);
	if (!err)
		err = set_features(merger, argv, hosts);
	if (!err) {
		merger->counts.bytes = perfdata_writer__bytes(writer);
		*ret = merger->counts;
	}
	merger__delete(merger);
	return err;
}
