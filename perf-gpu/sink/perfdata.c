// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a perf.data that perf and others show GPU work of, with nothing that is new
 * to them:
 *
 *   gpu-kernel samples   ip = the kernel, period = ns on the GPU
 *     callchain          PERF_CONTEXT_USER, kernel, API function, f, main, ...
 *                                           └ in PATH.dso/[GPU_Kernel]
 *   gpu-memcpy, ...      likewise, an event of perf's for each of ours
 *   MMAP2 of that file   in every process, before its first sample
 *   side-band, features  as in the input
 *
 * ip must be the first entry of the chain (by experiment, with perf and hotspot).
 * Why the events look as they do: sink/perfdata_events.c.
 *
 * Invariants:
 *   - Records are written in time order, as they are fed, with a FINISHED_ROUND in
 *     between: perf needn't sort, or keep, the whole file. Of sums (--aggregate) there
 *     are so few that it can: they come last, without one.
 *   - Every record ends with a sample_id in the layout of our own events.
 *
 * One thread.
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/mmap2.h"
#include "perfdata/sample.h"
#include "perfdata/writer.h"
#include "sink/aggregate.h"
#include "sink/kernel_elf.h"
#include "sink/perfdata_chains.h"
#include "sink/perfdata_events.h"
#include "sink/perfdata_features.h"
#include "sink/sink.h"
#include "sink/user_stack.h"
#include "util/arch.h"
#include "util/log.h"
#include "util/temporary.h"

/* perf sorts so much at a time: 1 MB or so of memory */
#define RECORDS_PER_ROUND 4096

#define MAX_RECORD_BYTES 65528
/* A sample's, beside its callchain and a copied stack */
#define MAX_OTHER_WORDS 16

/* A process in which the kernels' file is mapped. */
struct mapped_process {
	uint32_t pid; /* first: key */
	uint32_t nr_execs; /* that it had then */
};

struct perfdata_sink {
	struct sink sink; /* first: what ops get is this */
	char *path;
	bool keep_other;
	bool is_aggregated;
	struct aggregate *aggregate; /* once started, if is_aggregated */
	struct perfdata_writer *writer;
	struct kernel_elf *elf;
	struct sink_input input;
	struct perfdata_events events;
	void *processes; /* tsearch(3) tree of struct mapped_process */
	/* The last that was found mapped, as of so many map changes; pid 0: none */
	uint32_t mapped_pid;
	uint64_t mapped_epoch;
	size_t nr_in_round;
	bool has_samples;
	uint64_t first_ns, last_ns; /* of samples */
	struct perfdata_chains chains;
	unsigned char *user_state; /* trimmed; NULL until it is needed */
	uint64_t record[MAX_RECORD_BYTES / sizeof(uint64_t)];
};

static int no_memory(const struct perfdata_sink *sink)
{
	pr_err("no memory to write %s", sink->path);
	return -ENOMEM;
}

/* A record was written: perhaps a round ends there. */
static int perfdata_sink__count(struct perfdata_sink *sink)
{
	static const struct perf_event_header round = {
		.type = PERFDATA_RECORD_FINISHED_ROUND, .size = sizeof(round)};

	/* Sums come at the end, with earlier times: perf is to sort them all. */
	if (sink->is_aggregated || ++sink->nr_in_round < RECORDS_PER_ROUND)
		return 0;
	sink->nr_in_round = 0;
	return perfdata_writer__write(sink->writer, &round);
}

static int perfdata_sink__write(struct perfdata_sink *sink,
				const struct perf_event_header *record)
{
	int err = perfdata_writer__write(sink->writer, record);

	return err ? err : perfdata_sink__count(sink);
}

static void perfdata_sink__note_time(struct perfdata_sink *sink, uint64_t time_ns)
{
	if (!sink->has_samples)
		sink->first_ns = time_ns;
	sink->has_samples = true;
	sink->last_ns = time_ns;
}

/* Side-band */

/* Those that say something of processes or losses. */
static bool is_sideband(const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

/* Append our event's sample_id to sink->record, of which @bytes are there. */
static int perfdata_sink__write_record(struct perfdata_sink *sink, size_t bytes,
				       const struct perfdata_sample *id)
{
	struct perf_event_header *record = (void *)sink->record;

	bytes += perfdata_sample__write_id(&sink->events.attr, id,
					   sink->record + bytes / sizeof(uint64_t));
	record->size = (uint16_t)bytes;
	return perfdata_sink__write(sink, record);
}

/* Repeat a record of the input, with a sample_id of ours. */
static int perfdata_sink__repeat(struct perfdata_sink *sink,
				 const struct perf_event_header *record)
{
	const struct perfdata_reader *reader = sink->input.reader;
	int event = perfdata_reader__find_event(reader, record);
	const struct perf_event_attr *attr =
		&perfdata_reader__event(reader, event < 0 ? 0 : (size_t)event)->attr;
	uint64_t old_id[6], new_id[6];
	struct perfdata_sample id;
	size_t bytes;

	if (perfdata_sample__parse_id(attr, record, &id))
		return 0; /* source counts it as broken */
	bytes = record->size - perfdata_sample__write_id(attr, &id, old_id);
	id.id = sink->events.first_id;
	if (bytes % sizeof(uint64_t) ||
	    bytes + perfdata_sample__write_id(&sink->events.attr, &id, new_id) >
		    MAX_RECORD_BYTES) {
		pr_warning("a record of type %u and %u bytes is left out: it can't be "
			   "repeated",
			   record->type, record->size);
		return 0;
	}
	memcpy(sink->record, record, bytes);
	perfdata_mmap2__mend((void *)sink->record);
	return perfdata_sink__write_record(sink, bytes, &id);
}

static int perfdata_sink__record(struct sink *base,
				 const struct perf_event_header *record)
{
	struct perfdata_sink *sink = (struct perfdata_sink *)base;
	struct perfdata_sample sample;
	int event;

	if (record->type != PERF_RECORD_SAMPLE) {
		if (!is_sideband(record))
			return 0;
		return perfdata_sink__repeat(sink, record);
	}
	event = perfdata_reader__find_event(sink->input.reader, record);
	if (event < 0 || !sink->keep_other)
		return 0;
	if (!perfdata_sample__parse(
		    &perfdata_reader__event(sink->input.reader, (size_t)event)->attr,
		    record, &sample))
		perfdata_sink__note_time(sink, sample.time_ns);
	return perfdata_sink__write(sink, record);
}

/* Samples */

static int compare_pids(const void *a, const void *b)
{
	const struct mapped_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The MMAP2 of the kernels' file in the sample's process. */
static int perfdata_sink__write_map(struct perfdata_sink *sink,
				    const struct perfdata_sample *sample)
{
	const struct perfdata_mmap2 map = {
		.header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER},
		.pid = sample->pid,
		.tid = sample->pid,
		.addr = KERNEL_ELF_MAP_ADDRESS,
		.bytes = KERNEL_ELF_MAP_BYTES,
		.pgoff = KERNEL_ELF_MAP_OFFSET,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};
	const char *path = kernel_elf__path(sink->elf);
	size_t path_bytes = strlen(path) + 1;
	size_t bytes = (sizeof(map) + path_bytes + 7) & ~(size_t)7;

	/* A path has PATH_MAX bytes at most: there is room. */
	memset(sink->record, 0, bytes);
	memcpy(sink->record, &map, sizeof(map));
	memcpy((unsigned char *)sink->record + sizeof(map), path, path_bytes);
	return perfdata_sink__write_record(sink, bytes, sample);
}

/* An exec drops all mappings, ours too. */
static int perfdata_sink__map_anew(struct perfdata_sink *sink,
				   const struct perfdata_sample *sample)
{
	uint32_t nr_execs = machine__nr_execs(sink->input.machine, sample->pid);
	struct mapped_process key = {.pid = sample->pid}, *process, **found;

	found = tfind(&key, &sink->processes, compare_pids);
	if (found && (*found)->nr_execs == nr_execs)
		return 0;
	if (found) {
		(*found)->nr_execs = nr_execs;
		return perfdata_sink__write_map(sink, sample);
	}
	process = malloc(sizeof(*process));
	if (!process)
		return no_memory(sink);
	*process = (struct mapped_process){.pid = sample->pid, .nr_execs = nr_execs};
	if (!tsearch(process, &sink->processes, compare_pids)) {
		free(process);
		return no_memory(sink);
	}
	return perfdata_sink__write_map(sink, sample);
}

/* All of it is looked at again where something has been mapped or executed since. */
static int perfdata_sink__map_process(struct perfdata_sink *sink,
				      const struct perfdata_sample *sample)
{
	uint64_t epoch = machine__nr_map_changes(sink->input.machine);
	int err;

	if (sample->pid && sample->pid == sink->mapped_pid && epoch == sink->mapped_epoch)
		return 0;
	err = perfdata_sink__map_anew(sink, sample);
	sink->mapped_pid = err ? 0 : sample->pid;
	sink->mapped_epoch = epoch;
	return err;
}

/* The kernel fills a record up to its limit with the stack, and ours is longer. */
static int perfdata_sink__trim_stack(struct perfdata_sink *sink,
				     struct perfdata_sample *sample)
{
	size_t surplus_bytes = (sample->nr_ips + 8) * sizeof(uint64_t);
	ssize_t bytes;

	if (!sink->user_state)
		sink->user_state = malloc(MAX_RECORD_BYTES);
	if (!sink->user_state)
		return -ENOMEM;
	bytes = user_stack__trim(sample->user_state, sample->user_state_bytes,
				 sink->events.attr.sample_regs_user, surplus_bytes,
				 sink->user_state);
	if (bytes < 0)
		return (int)bytes;
	sample->user_state = sink->user_state;
	sample->user_state_bytes = (size_t)bytes;
	return 0;
}

static int perfdata_sink__write_sample(struct perfdata_sink *sink,
				       struct perfdata_sample *sample)
{
	size_t room_bytes = (sample->nr_ips + MAX_OTHER_WORDS) * sizeof(*sample->ips);
	void *room;
	int ret;

	if (sample->user_state || room_bytes > MAX_RECORD_BYTES)
		room_bytes = MAX_RECORD_BYTES;
	ret = perfdata_writer__reserve(sink->writer, room_bytes, &room);
	if (ret)
		return ret;
	ret = perfdata_sample__write(&sink->events.attr, sample, room, room_bytes);
	if (ret == -ENOSPC && sample->user_state) {
		ret = perfdata_sink__trim_stack(sink, sample);
		if (!ret)
			ret = perfdata_sample__write(&sink->events.attr, sample, room,
						     room_bytes);
	}
	if (ret < 0) {
		pr_err("cannot write a sample of %llu frames to %s: %s",
		       (unsigned long long)sample->nr_ips, sink->path, strerror(-ret));
		return ret;
	}
	perfdata_writer__append(sink->writer);
	return perfdata_sink__count(sink);
}

static int perfdata_sink__put_sample(struct perfdata_sink *sink,
				     const struct gpu_sample *from, uint64_t weight)
{
	bool has_state = sink->events.attr.sample_type & PERF_SAMPLE_STACK_USER;
	struct perfdata_sample sample = {
		.misc = PERF_RECORD_MISC_USER,
		.id = sink->events.ids[from->event],
		.pid = from->pid,
		.tid = from->tid,
		.time_ns = from->time_ns,
		.cpu = from->cpu,
		.period = from->period,
		.user_state = has_state ? from->user_state : NULL,
		.user_state_bytes = has_state ? from->user_state_bytes : 0,
		.weight = weight,
	};
	int err = perfdata_chains__set(&sink->chains, sink->elf, from, &sample);

	if (err)
		return err;
	perfdata_sink__note_time(sink, sample.time_ns);
	return perfdata_sink__write_sample(sink, &sample);
}

static int perfdata_sink__sample(struct sink *base, const struct gpu_sample *from)
{
	struct perfdata_sink *sink = (struct perfdata_sink *)base;
	const struct perfdata_sample sample = {
		.id = sink->events.ids[from->event],
		.pid = from->pid,
		.tid = from->tid,
		.time_ns = from->time_ns,
		.cpu = from->cpu,
	};
	int err = perfdata_sink__map_process(sink, &sample);

	if (err)
		return err;
	if (!sink->is_aggregated)
		return perfdata_sink__put_sample(sink, from, 0);
	return aggregate__add(sink->aggregate, from) ? no_memory(sink) : 0;
}

static int perfdata_sink__write_sums(struct perfdata_sink *sink)
{
	size_t nr = sink->aggregate ? aggregate__nr(sink->aggregate) : 0;
	struct gpu_sample sample;
	uint64_t nr_samples;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (aggregate__get(sink->aggregate, i, &sample, &nr_samples))
			return no_memory(sink);
		err = perfdata_sink__put_sample(sink, &sample, nr_samples);
	}
	return err;
}

/* The whole */

static int perfdata_sink__start(struct sink *base, const struct sink_input *input)
{
	struct perfdata_sink *sink = (struct perfdata_sink *)base;

	sink->input = *input;
	if (sink->is_aggregated && aggregate__new(input, &sink->aggregate))
		return no_memory(sink);
	return perfdata_events__add(sink->writer, input, sink->is_aggregated,
				    sink->keep_other, sink->path, &sink->events);
}

/* Both files get their names, or none: an older perf.data has its own names file. */
static int perfdata_sink__commit(struct perfdata_sink *sink)
{
	sigset_t mask;
	int err;

	err = perfdata_writer__complete(sink->writer);
	if (err)
		return err;
	temporary__hold(&mask);
	err = kernel_elf__commit(sink->elf);
	if (!err) {
		err = perfdata_writer__commit(sink->writer);
		if (err)
			kernel_elf__take_back(sink->elf);
	}
	temporary__release(&mask);
	return err;
}

static int perfdata_sink__finish(struct sink *base)
{
	struct perfdata_sink *sink = (struct perfdata_sink *)base;
	const struct arch *arch = arch__find(
		perfdata_reader__feature_string(sink->input.reader, HEADER_ARCH));
	uint8_t build_id[ELF_IMAGE_BUILD_ID_BYTES];
	int err;

	err = perfdata_sink__write_sums(sink);
	if (err)
		return err;
	err = kernel_elf__write(sink->elf, arch ? arch : arch__host(), build_id);
	if (err)
		return err;
	err = perfdata_features__copy(sink->writer, sink->input.reader,
				      sink->events.has_tracepoints);
	if (!err)
		err = perfdata_features__add_build_id(sink->writer, sink->input.reader,
						      kernel_elf__path(sink->elf),
						      build_id, sizeof(build_id));
	if (!err && sink->has_samples)
		err = perfdata_feature__set_sample_time(sink->writer, sink->first_ns,
							sink->last_ns);
	if (err)
		return no_memory(sink);
	return perfdata_sink__commit(sink);
}

static void perfdata_sink__delete(struct sink *base)
{
	struct perfdata_sink *sink = (struct perfdata_sink *)base;

	if (!sink)
		return;
	tdestroy(sink->processes, free);
	aggregate__delete(sink->aggregate);
	kernel_elf__delete(sink->elf);
	perfdata_writer__close(sink->writer);
	free(sink->user_state);
	perfdata_chains__release(&sink->chains);
	free(sink->path);
	free(sink);
}

static const struct sink_ops perfdata_ops = {
	.start = perfdata_sink__start,
	.record = perfdata_sink__record,
	.sample = perfdata_sink__sample,
	.finish = perfdata_sink__finish,
	.delete = perfdata_sink__delete,
};

int sink_perfdata__new(const char *path, const struct perfdata_options *options,
		       struct sink **ret)
{
	struct perfdata_sink *sink = calloc(1, sizeof(*sink));
	char *directory = NULL;
	int err = -ENOMEM;

	if (sink)
		sink->path = strdup(path);
	if (!sink || !sink->path || asprintf(&directory, "%s.dso", path) < 0) {
		directory = NULL;
		pr_err("no memory to write %s", path);
		goto out;
	}
	sink->sink.ops = &perfdata_ops;
	sink->sink.wants_other_events = options->keep_other;
	sink->sink.wants_used_files = !options->keep_other;
	sink->keep_other = options->keep_other;
	sink->is_aggregated = options->is_aggregated;
	err = perfdata_writer__open(path, &sink->writer);
	if (!err)
		perfdata_writer__write_behind(sink->writer);
	if (!err)
		err = kernel_elf__new(directory, &sink->elf);
	if (err)
		goto out;
	*ret = &sink->sink;
	sink = NULL;
out:
	perfdata_sink__delete((struct sink *)sink);
	free(directory);
	return err;
}
