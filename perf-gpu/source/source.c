// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several passes over perf.data (source/feed_order.h). The first tells the join which
 * launches there are, so that it is known which kernels have none; the last feeds
 * everything to the sink, by time. Beside the first, a thread indexes what the GPU did, and
 * sinks have threads that write; all else is done in the caller's. To hand over each launch
 * from one thread to another takes longer than most of what could be done there.
 */
#include "source/source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpu_log.h"
#include "join/join.h"
#include "launch_event.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/sample.h"
#include "sidecar/activities.h"
#include "source/callchains.h"
#include "source/chosen_events.h"
#include "source/feed_ahead.h"
#include "source/feed_order.h"
#include "source/launch_stacks.h"
#include "source/launches.h"
#include "source/recorded_files.h"
#include "source/recording.h"
#include "source/sampler.h"
#include "source/symbol_folder.h"
#include "source/used_files.h"
#include "util/aside.h"
#include "util/log.h"
#include "util/progress.h"
#include "util/sum.h"

/* By which the two clocks may have moved apart while a recording was made */
#define MAX_CLOCK_DRIFT_NS 1000000000

struct source {
	const struct source_options *options;
	struct sink *sink;
	struct recording recording;
	struct perfdata_reader *reader;
	struct sidecar *sidecar;
	struct occurrences occurrences;
	struct join *join;
	struct machine *machine;
	struct used_files *used_files; /* NULL: all are */
	struct launches *launches;
	struct callchains *chains;
	struct launch_stacks *stacks;
	struct sampler *sampler;
	struct feed_order *order;
	bool is_begun; /* the sink was started */
	struct source_stats stats;
};

static int source__no_memory(const struct source *source)
{
	pr_err("no memory to read %s", source->options->perfdata_path);
	return -ENOMEM;
}

static int source__read_build_ids(struct source *source)
{
	int err = recorded_files__tell(source->reader, source->machine);

	if (err == -ENOMEM)
		return source__no_memory(source);
	source->stats.nr_broken_records += err != 0;
	return 0;
}

/* Which events are shown */
static int source__choose_events(struct source *source)
{
	const struct source_options *options = source->options;
	struct source_stats *stats = &source->stats;
	int err;

	err = chosen_events__find(source->sidecar, options->events,
				  source->recording.sidecar_name, &stats->events);
	if (err)
		return err;
	if (options->are_leaks &&
	    !(stats->events & GPU_LOG_EVENT_BIT(GPU_LOG_EVENT_ALLOC))) {
		pr_err("--leaks is about gpu-alloc, which is not among the events: "
		       "record it with -e +gpu-alloc, choose it with -e gpu-alloc");
		return -EINVAL;
	}
	stats->weight = options->weight;
	stats->are_leaks = options->are_leaks;
	return 0;
}

/* What there is of them, so that the join can hand it out. 0 or -ENOMEM, not printed. */
static int source__find_occurrences(void *data)
{
	struct source *source = data;
	const struct source_options *options = source->options;
	uint32_t events = source->stats.events;
	int err = 0;

	if (!occurrences__can_be_streamed(source->sidecar, events))
		err = sidecar__list_activities(source->sidecar);
	if (!err)
		err = occurrences__find(source->sidecar, events, options->weight,
					options->are_leaks, &source->occurrences);
	return err ? err : join__index(source->join, &source->occurrences);
}

static int source__make_stacks(struct source *source)
{
	const struct launch_stacks_input input = {
		.options = source->options,
		.reader = source->reader,
		.launch_event = launches__event(source->launches),
		.sidecar = source->sidecar,
		.join = source->join,
		.machine = source->machine,
	};
	int err = launch_stacks__new(&input, &source->stacks);

	return err == -ENOMEM ? source__no_memory(source) : err;
}

static int source__make_order(struct source *source)
{
	struct feed_order_input input = {
		.reader = source->reader,
		.path = source->options->perfdata_path,
		.launches = source->launches,
		.join = source->join,
		.wants_other_events = source->sink->wants_other_events,
	};

	if (callchains__new(&source->chains) ||
	    (source->sink->wants_used_files && used_files__new(&source->used_files)))
		return source__no_memory(source);
	input.used_files = source->used_files;
	input.chains = source->chains;
	return feed_order__new(&input, &source->order);
}

static int source__make_sampler(struct source *source)
{
	const struct sampler_input input = {
		.options = source->options,
		.sink = source->sink,
		.sidecar = source->sidecar,
		.sidecar_path = source->recording.sidecar_name,
		.launch_attr = &launches__event(source->launches)->attr,
		.machine = source->machine,
		.stacks = source->stacks,
		.stats = &source->stats,
	};

	return sampler__new(&input, &source->sampler);
}

static int source__open_sidecar(struct source *source)
{
	int err;

	progress__begin("reading", source->recording.sidecar_name, 0);
	err = recording__open_sidecar(&source->recording, &source->sidecar);
	if (err)
		return err;
	err = launches__set_sidecar(source->launches, source->sidecar,
				    source->recording.sidecar_name);
	if (err)
		return err == -ENOMEM ? source__no_memory(source) : err;
	err = source__choose_events(source);
	if (!err && join__new(source->sidecar, &source->join))
		err = source__no_memory(source);
	return err;
}

static int source__open(struct source *source)
{
	const struct source_options *options = source->options;
	struct symbol_place place = {.symfs = options->symfs};
	int err;

	err = recording__open(options->perfdata_path, options->sidecar_path,
			      &source->recording);
	if (!err)
		err = recording__open_perfdata(&source->recording, &source->reader);
	if (err)
		return err;
	place.store = recording__symbols(&source->recording);
	err = launches__new(source->reader, source->recording.perfdata_name, &place,
			    &source->launches);
	if (!err)
		err = source__open_sidecar(source);
	if (err)
		return err;
	if (machine__new(options->symfs, &source->machine))
		return source__no_memory(source);
	machine__set_store(source->machine, place.store);
	err = source__read_build_ids(source);
	if (!err)
		err = source__make_stacks(source);
	if (!err)
		err = source__make_order(source);
	return err ? err : source__make_sampler(source);
}

/* Both files from the beginning to the end, of which neither needs the other */
static int source__read(struct source *source)
{
	struct aside aside;
	int err, aside_err;

	aside__start(&aside, source__find_occurrences, source);
	err = feed_order__read(source->order);
	aside_err = aside__wait(&aside);
	if (err)
		return err;
	if (aside_err)
		return source__no_memory(source);
	return feed_order__find_rest(source->order);
}

static int source__feed_launch(struct source *source, struct feed_item *item)
{
	struct launch *launch = &item->launch;
	struct source_stats *stats = &source->stats;
	struct gpu_sample sample;
	int err = 0;

	if (!(launch->event.api & GPU_LOG_API_GRAPH_NODE)) {
		stats->nr_launches += !launch->is_earlier;
		stats->nr_hits += launch->is_hit;
		stats->nr_joined_hits += launch->is_hit && launch->event.log_id;
	}
	if (launch_stacks__take(source->stacks, launch, item->nr))
		return source__no_memory(source);

	sample = (struct gpu_sample){
		.time_ns = launch->sample.time_ns,
		.pid = launch->sample.pid,
		.tid = launch->sample.tid,
		.cpu = launch->sample.cpu,
		.user_state = launch->sample.user_state,
		.user_state_bytes = launch->sample.user_state_bytes,
	};
	for (size_t i = 0; i < item->nr && !err; i++)
		err = sampler__feed(source->sampler,
				    join__at(source->join, item->first + i), true,
				    &sample);
	return err;
}

/* What has no launch */
static int source__feed_rest(struct source *source, const struct occurrence *occurrence)
{
	const struct sidecar_log *log = &source->sidecar->logs[occurrence->log];
	struct gpu_sample sample = {
		.time_ns = occurrence->start_ns,
		.pid = log->pid,
		.tid = log->pid,
	};

	launch_stacks__take_none(source->stacks);
	return sampler__feed(source->sampler, occurrence, false, &sample);
}

static int source__feed_record(struct source *source,
			       const struct perf_event_header *record)
{
	int err = machine__process(source->machine, record);

	if (err == -EINVAL) {
		source->stats.nr_broken_records++;
		return 0;
	}
	if (err)
		return source__no_memory(source);
	if (source->used_files && !used_files__wants(source->used_files, record))
		return 0;
	return sink__record(source->sink, record);
}

static int source__feed_item(struct source *source, struct feed_item *item)
{
	const struct feed_entry *entry = &item->entry;
	int err = sampler__feed_until(source->sampler, entry->time_ns);

	if (err)
		return err;
	if (!entry->record)
		return source__feed_rest(source, join__at(source->join, entry->rest));
	if (entry->is_launch)
		return item->err ? item->err : source__feed_launch(source, item);
	return source__feed_record(source, entry->record);
}

static int source__add_used_files(struct source *source,
				  const struct launch_sample *sample)
{
	return used_files__add_launch(source->used_files, sample,
				      callchains__number(source->chains, sample->ips,
							 sample->nr_ips));
}

/*
 * Mappings are fed before the stacks that go through them, so which are used is known from
 * when all was read. If it was read in an order that leaves that open, it takes a pass of
 * its own.
 */
static int source__find_used_files(struct source *source)
{
	struct feed_entry entry;
	struct launch launch;
	int err;

	if (!source->used_files || used_files__are_in_order(source->used_files))
		return 0;
	used_files__delete(source->used_files);
	source->used_files = NULL;
	err = used_files__new(&source->used_files);
	if (err)
		return source__no_memory(source);
	err = feed_order__rewind(source->order);
	if (err)
		return err;
	while (!err && feed_order__next(source->order, &entry)) {
		if (entry.record && entry.record->type != PERF_RECORD_SAMPLE)
			err = used_files__add_record(source->used_files, entry.record,
						     entry.time_ns);
		else if (entry.record && entry.is_launch &&
			 !launches__read(source->launches, entry.record, entry.event,
					 &launch))
			err = source__add_used_files(source, &launch.sample);
	}
	return err ? source__no_memory(source) : 0;
}

/*
 * A recording that kept no names of JIT code may be from before they were kept: the
 * files in /tmp are asked, if they can be those of then.
 */
static void source__set_origin(struct source *source)
{
	const struct sidecar_recorder *recorder = &source->sidecar->recorder;
	const struct feed_counts counts = feed_order__counts(source->order);
	struct perf_map_origin origin;
	struct stat st;

	if (source->recording.archive || source->sidecar->nr_jits ||
	    !recorder->is_there || !counts.nr_entries ||
	    stat(source->options->perfdata_path, &st))
		return;
	origin.uid = st.st_uid;
	origin.end_ns = recorder->realtime_ns +
			(counts.last_ns - recorder->monotonic_ns) + MAX_CLOCK_DRIFT_NS;
	machine__set_origin(source->machine, &origin);
}

/* Those that there are samples of; if there are none at all, those that were chosen */
static uint32_t source__shown_events(const struct source *source)
{
	const struct event_total *totals = source->occurrences.totals;
	uint32_t events = 0;

	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++)
		if (totals[i].nr > totals[i].nr_empty)
			events |= GPU_LOG_EVENT_BIT(i);
	return events ? events : source->stats.events;
}

/* Can labels stand at the root of stacks? */
static int source__check_root(const struct source *source, const struct sink_input *input)
{
	const struct label_list *list = &source->options->labels;

	if (!list->nr || !list->is_at_root || input->is_unwound ||
	    !(input->launch_event->attr.sample_type & PERF_SAMPLE_STACK_USER))
		return 0;
	pr_err("--label-at root: %s has copies of stacks, whose root is found by who "
	       "reads "
	       "the output: add --unwind",
	       source->options->perfdata_path);
	return -EINVAL;
}

static int source__feed_items(struct source *source)
{
	struct feed_ahead *ahead;
	struct feed_item *item;
	uint64_t nr = 0;
	int err = feed_order__rewind(source->order);

	if (err)
		return err;
	if (feed_ahead__new(source->order, source->launches, source->chains, source->join,
			    &ahead))
		return source__no_memory(source);
	progress__begin("joining launches and GPU records", NULL,
			feed_order__counts(source->order).nr_entries);
	while (!err && (item = feed_ahead__next(ahead))) {
		progress__at(nr++);
		err = source__feed_item(source, item);
	}
	feed_ahead__delete(ahead);
	return err;
}

static int source__feed(struct source *source)
{
	const struct sink_input input = {
		.reader = source->reader,
		.is_launch = launches__events(source->launches),
		.launch_event = launches__event(source->launches),
		.sidecar = source->sidecar,
		.machine = source->machine,
		.events = source__shown_events(source),
		.is_unwound = launch_stacks__are_unwound(source->stacks),
	};
	int err;

	err = source__check_root(source, &input);
	if (err)
		return err;
	source__set_origin(source);
	err = source__find_used_files(source);
	if (err)
		return err;
	source->is_begun = true;
	err = source->sink->ops->start(source->sink, &input);
	if (!err)
		err = source__feed_items(source);
	if (!err)
		err = sampler__feed_until(source->sampler, UINT64_MAX);
	return err;
}

static int source__take_stats(struct source *source)
{
	struct source_stats *stats = &source->stats;
	const struct feed_counts counts = feed_order__counts(source->order);

	stats->nr_broken_records += counts.nr_broken;
	sum__add(&stats->nr_lost_launches, counts.nr_lost);
	stats->nr_unknown_threads = sampler__nr_unknown_threads(source->sampler);
	stats->nr_truncated = launch_stacks__nr_truncated(source->stacks);
	if (source_stats__take(stats, source->sidecar, &source->occurrences,
			       counts.last_ns))
		return source__no_memory(source);
	return 0;
}

/* Nobody has asked for an empty file, and it would replace one that isn't. */
static int source__check_samples(const struct source *source)
{
	const char *output = source->options->usual_output;

	if (!output)
		return 0;
	for (unsigned int i = 0; i < GPU_LOG_NR_EVENTS; i++) {
		if (source->stats.of[i].nr_written)
			return 0;
	}
	source_stats__print_losses(&source->stats);
	pr_err("%s is not written: %s has no samples; -o %s writes an empty one", output,
	       source->options->perfdata_path, output);
	return -ENODATA;
}

/* All outputs get their names, or none. */
static int source__finish(struct source *source)
{
	const struct symbol_store *store = recording__symbols(&source->recording);
	const char *path = source->options->symbol_folder;
	struct symbol_folder *folder = NULL;
	int err = 0;

	if (store && path)
		err = symbol_folder__new(store, source->reader, path, &folder);
	progress__begin("finishing the output", NULL, 0);
	if (!err)
		err = source->sink->ops->finish(source->sink);
	if (!err)
		symbol_folder__keep(folder);
	symbol_folder__delete(folder);
	source->stats.nr_stale_files = machine__nr_stale_files(source->machine);
	return err;
}

static void source__close(struct source *source)
{
	source_stats__release(&source->stats);
	sampler__delete(source->sampler);
	launch_stacks__delete(source->stacks);
	used_files__delete(source->used_files);
	callchains__delete(source->chains);
	feed_order__delete(source->order);
	machine__delete(source->machine);
	launches__delete(source->launches);
	join__delete(source->join);
	occurrences__release(&source->occurrences);
	sidecar__close(source->sidecar);
	perfdata_reader__close(source->reader);
	recording__close(&source->recording);
	free(source);
}

int source__run(const struct source_options *options, struct sink *sink,
		struct source_stats *ret)
{
	struct source *source;
	int err;

	source = calloc(1, sizeof(*source));
	if (!source) {
		pr_err("no memory to read %s", options->perfdata_path);
		return -ENOMEM;
	}
	source->options = options;
	source->sink = sink;
	err = source__open(source);
	if (!err)
		err = source__read(source);
	if (err)
		goto out;
	err = source__feed(source);
	if (!err)
		err = source__take_stats(source);
	if (!err)
		err = source__check_samples(source);
	if (!err)
		err = source__finish(source);
	if (source->is_begun && sink->ops->stop)
		sink->ops->stop(sink);
	if (err)
		goto out;
	*ret = source->stats;
	source->stats.gpus = NULL;
out:
	source__close(source);
	progress__end();
	return err;
}
