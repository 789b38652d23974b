// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two passes over perf.data. The first notes where every record stands and when
 * it happened, and tells the join which launches there are, so that it is known
 * which kernels have none; the second feeds everything to the sink, by time.
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
#include "source/kernel_names.h"
#include "source/launches.h"
#include "source/node_stacks.h"
#include "source/python_stack.h"
#include "source/recorded_files.h"
#include "source/stack.h"
#include "source/unwinder.h"
#include "source/used_files.h"
#include "util/log.h"
#include "util/sum.h"

#define UNATTRIBUTED "[unattributed]"

/* By which the two clocks may have moved apart while a recording was made */
#define MAX_CLOCK_DRIFT_NS 1000000000

/* Something to feed: a record of perf.data, or a kernel that no launch has. */
struct source_entry {
	uint64_t time_ns;
	uint64_t where; /* offset in the data section, or KERNEL_ENTRY | index */
};

#define KERNEL_ENTRY (1ull << 63)

struct source {
	const struct source_options *options;
	struct sink *sink;
	struct perfdata_reader *reader;
	struct sidecar *sidecar;
	struct join *join;
	struct machine *machine;
	struct jit_names *jit_names;
	struct used_files *used_files; /* NULL: all are */
	struct unwinder *unwinder; /* NULL: stacks are left as they are */
	struct launches *launches;
	struct source_entry *entries;
	size_t nr_entries, nr_allocated;
	struct kernel_names names; /* of kernels */
	struct node_stacks *node_stacks;
	struct source_stats stats;
	struct stack stack;
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

static int source__open(struct source *source)
{
	const struct source_options *options = source->options;
	char *path = NULL;
	const char *sidecar_path;
	int err;

	err = perfdata_reader__open(options->perfdata_path, &source->reader);
	if (err)
		return err;
	err = launches__new(source->reader, options->perfdata_path, options->symfs,
			    &source->launches);
	if (err)
		return err;

	if (asprintf(&path, "%s.gpu", options->perfdata_path) < 0)
		return source__no_memory(source);
	sidecar_path = options->sidecar_path ? options->sidecar_path : path;
	err = sidecar__open(sidecar_path, &source->sidecar);
	if (err)
		goto out;
	err = launches__set_sidecar(source->launches, source->sidecar, sidecar_path);
	if (err == -ENOMEM)
		source__no_memory(source);
	if (err)
		goto out;
	if (join__new(source->sidecar, &source->join) ||
	    jit_names__new(source->sidecar, &source->jit_names) ||
	    node_stacks__new(source->sidecar, options->graph_stacks,
			     &source->node_stacks) ||
	    machine__new(options->symfs, &source->machine))
		err = source__no_memory(source);
	else
		err = source__read_build_ids(source);
	if (!err && options->unwind)
		err = unwinder__new(source->reader, launches__event(source->launches),
				    source->machine, &source->unwinder);
out:
	free(path);
	return err;
}

static int source__add_entry(struct source *source, uint64_t time_ns, uint64_t where)
{
	if (source->nr_entries == source->nr_allocated) {
		size_t nr = source->nr_allocated ? 2 * source->nr_allocated : 4096;
		struct source_entry *entries =
			reallocarray(source->entries, nr, sizeof(*entries));

		if (!entries)
			return source__no_memory(source);
		source->entries = entries;
		source->nr_allocated = nr;
	}
	source->entries[source->nr_entries++] =
		(struct source_entry){.time_ns = time_ns, .where = where};
	return 0;
}

/* Note a sample; sets *RET_TIME. 1: to be fed, 0: not, -errno: broken. */
static int source__note_sample(struct source *source,
			       const struct perf_event_header *record,
			       uint64_t *ret_time_ns)
{
	int event = perfdata_reader__find_event(source->reader, record);
	struct perfdata_sample sample;
	int err;

	if (event < 0)
		return event;
	if (launches__events(source->launches)[event]) {
		err = launches__note(source->launches, record, (size_t)event,
				     source->join, ret_time_ns);
		return err ? err : 1;
	}
	if (!source->sink->wants_other_events)
		return 0;
	err = perfdata_sample__parse(
		&perfdata_reader__event(source->reader, (size_t)event)->attr, record,
		&sample);
	if (err)
		return err;
	*ret_time_ns = sample.time_ns;
	return 1;
}

/* What a ring of perf record's own had no room for; perf-gpu record counts otherwise. */
static void source__count_lost(struct source *source,
			       const struct perf_event_header *record)
{
	const struct perfdata_lost *lost = (const void *)record;

	if (record->size >= sizeof(*lost))
		sum__add(&source->stats.nr_lost_launches, lost->nr_lost);
}

/* The same for the kernel's other records; those of user space have no time. */
static int source__note_record(struct source *source,
			       const struct perf_event_header *record,
			       uint64_t *ret_time_ns)
{
	int event = perfdata_reader__find_event(source->reader, record);
	struct perfdata_sample id;
	int err;

	if (record->type >= PERFDATA_RECORD_USER_START)
		return 0;
	if (record->type == PERF_RECORD_LOST)
		source__count_lost(source, record);
	if (event < 0)
		event = 0;
	err = perfdata_sample__parse_id(
		&perfdata_reader__event(source->reader, (size_t)event)->attr, record,
		&id);
	if (err)
		return err;
	*ret_time_ns = id.time_ns;
	return 1;
}

static int source__note_records(struct source *source)
{
	const struct perf_event_header *record;
	uint64_t cursor = 0, time_ns = 0, where;
	int ret;

	for (;;) {
		where = cursor;
		ret = perfdata_reader__next(source->reader, &cursor, &record);
		if (ret == -ENODATA) /* told: the recording was cut off */
			ret = 0;
		if (ret <= 0)
			return ret;
		ret = record->type == PERF_RECORD_SAMPLE
			      ? source__note_sample(source, record, &time_ns)
			      : source__note_record(source, record, &time_ns);
		if (ret < 0)
			source->stats.nr_broken_records++;
		if (ret <= 0)
			continue;
		ret = source__add_entry(source, time_ns, where);
		if (ret)
			return ret;
	}
}

static uint64_t duration_ns(const struct sidecar_kernel *kernel)
{
	return kernel->end_ns > kernel->start_ns ? kernel->end_ns - kernel->start_ns : 0;
}

static int source__note_kernels(struct source *source)
{
	const struct sidecar *sidecar = source->sidecar;
	const struct sidecar_kernel *kernel;
	size_t cursor = 0;
	int err;

	err = launches__settle(source->launches, source->join);
	if (err)
		return err;
	for (size_t i = 0; i < sidecar->nr_kernels; i++) {
		source->stats.nr_kernels++;
		sum__add(&source->stats.kernels_ns, duration_ns(&sidecar->kernels[i]));
		if (!duration_ns(&sidecar->kernels[i]))
			source->stats.nr_unknown_time++;
	}
	while ((kernel = join__rest(source->join, &cursor))) {
		err = source__add_entry(source, kernel->start_ns,
					KERNEL_ENTRY |
						(uint64_t)(kernel - sidecar->kernels));
		if (err)
			return err;
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct source_entry *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->where < right->where ? -1 : left->where > right->where;
}

static void add_unattributed(struct stack *stack)
{
	if (stack->nr_frames < STACK_MAX_FRAMES)
		stack->frames[stack->nr_frames++] =
			(struct gpu_frame){.name = UNATTRIBUTED};
}

/* The stack of a sample; its frames end in [unattributed] if the program isn't in it. */
static void source__build_stack(struct source *source, const struct launch *launch)
{
	const struct perfdata_sample *from = &launch->sample;
	struct stack_launch stack = {
		.pid = from->pid,
		.time_ns = from->time_ns,
		.ips = from->ips,
		.nr_ips = from->nr_ips,
		.jit_names = source->jit_names,
		.log = join__find_log(source->join, launch->event.log_id),
		.is_hit = launch->is_hit,
	};

	if (stack.log >= 0)
		stack.api =
			sidecar__api_name(source->sidecar, (uint32_t)stack.log,
					  launch->event.api & ~GPU_LOG_API_GRAPH_NODE);
	stack__build(&source->stack, source->machine, &stack,
		     source->options->keep_driver_frames);
	python_stack__show(&source->stack, source->sidecar, stack.log, source->machine,
			   from->pid, source->options->keep_interpreter_frames);
	if (!source->stack.has_code && !from->user_state_bytes)
		add_unattributed(&source->stack);
}

/* The stack to show a kernel under, whose launch has the one at hand. */
static struct stack *source__stack_of(struct source *source,
				      const struct sidecar_kernel *kernel,
				      const struct gpu_sample *sample)
{
	struct stack *stack;

	/* Who walks a copied stack can't be told to go on in another. */
	if (sample->user_state)
		return &source->stack;
	stack = node_stacks__of(source->node_stacks, kernel, &source->stack,
				source->machine);
	if (stack != &source->stack && !stack->has_code &&
	    source->options->graph_stacks == GRAPH_STACKS_CAPTURE)
		add_unattributed(stack);
	return stack;
}

static int source__feed_kernel(struct source *source, const struct sidecar_kernel *kernel,
			       struct gpu_sample *sample)
{
	const struct sidecar_shape *shape = &source->sidecar->shapes[kernel->shape];
	struct stack *stack = source__stack_of(source, kernel, sample);

	if (stack->has_code || sample->user_state) {
		source->stats.nr_attributed++;
		sum__add(&source->stats.attributed_ns, duration_ns(kernel));
	}
	stack->frames[0].name =
		kernel_names__get(&source->names, shape->name, source->options->names);
	if (!stack->frames[0].name)
		return source__no_memory(source);
	sample->frames = stack->frames;
	sample->nr_frames = stack->nr_frames;
	sample->kernel = kernel;
	sample->shape = shape;
	sample->period = duration_ns(kernel);
	/* Readers take a period of 0 for the event's default. */
	if (!sample->period)
		return 0;
	return source->sink->ops->sample(source->sink, sample);
}

static bool is_truncated(const struct perfdata_sample *sample)
{
	return sample->nr_ips && GPU_LOG_FRAME_KIND(sample->ips[sample->nr_ips - 1]) ==
					 GPU_LOG_FRAME_TRUNCATED;
}

/* Build the stack of a sample, and keep it if nodes of graphs were made there. */
static int source__take_stack(struct source *source, struct launch *launch,
			      bool is_needed)
{
	const struct launch_event *event = &launch->event;
	int log = join__find_log(source->join, event->log_id);
	ssize_t maker = -ENOENT;

	if (log >= 0)
		maker = node_stacks__wants(source->node_stacks, (uint32_t)log, event->api,
					   event->correlation_id);
	if (!is_needed && maker < 0)
		return 0;
	if (source->unwinder && unwinder__walk(source->unwinder, &launch->sample))
		return source__no_memory(source);
	source->stats.nr_truncated += is_truncated(&launch->sample);
	source__build_stack(source, launch);
	if (maker >= 0 && node_stacks__add(source->node_stacks, maker, &source->stack,
					   source->machine, launch->sample.pid))
		return source__no_memory(source);
	return 0;
}

static int source__feed_launch(struct source *source,
			       const struct perf_event_header *record, size_t event)
{
	const struct sidecar_kernel *kernels;
	struct source_stats *stats = &source->stats;
	struct gpu_sample sample;
	size_t nr_kernels = 0;
	struct launch launch;
	int err;

	err = launches__read(source->launches, record, event, &launch);
	if (err)
		return err;
	if (!(launch.event.api & GPU_LOG_API_GRAPH_NODE)) {
		stats->nr_launches++;
		stats->nr_hits += launch.is_hit;
		stats->nr_joined_hits += launch.is_hit && launch.event.log_id;
		nr_kernels = join__launch(source->join, launch.event.log_id,
					  launch.event.correlation_id, &kernels);
		if (!nr_kernels)
			stats->nr_launches_without_kernel++;
	}
	err = source__take_stack(source, &launch, nr_kernels);
	if (err)
		return err;

	sample = (struct gpu_sample){
		.time_ns = launch.sample.time_ns,
		.pid = launch.sample.pid,
		.tid = launch.sample.tid,
		.cpu = launch.sample.cpu,
		.user_state = launch.sample.user_state,
		.user_state_bytes = launch.sample.user_state_bytes,
	};
	for (size_t i = 0; i < nr_kernels; i++) {
		err = source__feed_kernel(source, &kernels[i], &sample);
		if (err)
			return err;
	}
	return 0;
}

/* A kernel without a launch. */
static int source__feed_rest(struct source *source, const struct sidecar_kernel *kernel)
{
	const struct sidecar_log *log = &source->sidecar->logs[kernel->log];
	struct gpu_sample sample = {
		.time_ns = kernel->start_ns,
		.pid = log->pid,
		.tid = log->pid,
	};

	source->stack.nr_frames = 1;
	source->stack.has_code = false;
	add_unattributed(&source->stack);
	return source__feed_kernel(source, kernel, &sample);
}

static int source__feed_entry(struct source *source, const struct source_entry *entry)
{
	const struct perf_event_header *record;
	size_t event;
	int err;

	if (entry->where & KERNEL_ENTRY)
		return source__feed_rest(
			source, &source->sidecar->kernels[entry->where & ~KERNEL_ENTRY]);

	record = perfdata_reader__at(source->reader, entry->where);
	if (record->type == PERF_RECORD_SAMPLE) {
		event = (size_t)perfdata_reader__find_event(source->reader, record);
		if (launches__events(source->launches)[event])
			return source__feed_launch(source, record, event);
	}

	err = machine__process(source->machine, record);
	if (err == -EINVAL) {
		source->stats.nr_broken_records++;
		return 0;
	}
	if (err)
		return source__no_memory(source);
	if (source->used_files && !used_files__wants(source->used_files, record))
		return 0;
	return source->sink->ops->record(source->sink, record);
}

/* A pass of its own: mappings are fed before the stacks that go through them. */
static int source__find_used_files(struct source *source)
{
	const struct perf_event_header *record;
	struct launch launch;
	size_t event;
	int err;

	if (!source->sink->wants_used_files)
		return 0;
	err = used_files__new(&source->used_files);
	for (size_t i = 0; i < source->nr_entries && !err; i++) {
		if (source->entries[i].where & KERNEL_ENTRY)
			continue;
		record = perfdata_reader__at(source->reader, source->entries[i].where);
		if (record->type != PERF_RECORD_SAMPLE) {
			err = used_files__add_record(source->used_files, record);
			continue;
		}
		event = (size_t)perfdata_reader__find_event(source->reader, record);
		if (launches__events(source->launches)[event] &&
		    !launches__read(source->launches, record, event, &launch))
			err = used_files__add_launch(source->used_files, &launch.sample);
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
	struct perf_map_origin origin;
	uint64_t last_ns;
	struct stat st;

	if (source->sidecar->nr_jits || !recorder->is_there || !source->nr_entries ||
	    stat(source->options->perfdata_path, &st))
		return;
	last_ns = source->entries[source->nr_entries - 1].time_ns;
	origin.uid = st.st_uid;
	origin.end_ns = recorder->realtime_ns + (last_ns - recorder->monotonic_ns) +
			MAX_CLOCK_DRIFT_NS;
	machine__set_origin(source->machine, &origin);
}

static int source__feed(struct source *source)
{
	const struct sink_input input = {
		.reader = source->reader,
		.is_launch = launches__events(source->launches),
		.launch_event = launches__event(source->launches),
		.sidecar = source->sidecar,
		.machine = source->machine,
		.is_unwound = source->unwinder,
	};
	int err;

	source__set_origin(source);
	err = source__find_used_files(source);
	if (err)
		return err;
	err = source->sink->ops->start(source->sink, &input);
	for (size_t i = 0; i < source->nr_entries && !err; i++)
		err = source__feed_entry(source, &source->entries[i]);
	if (err)
		return err;
	return source->sink->ops->finish(source->sink);
}

/* Losses, as those who had them wrote them down. */
static void source__add_losses(struct source *source)
{
	const struct sidecar *sidecar = source->sidecar;
	struct source_stats *stats = &source->stats;

	sum__add(&stats->nr_lost_launches, sidecar->recorder.nr_lost_ring);
	for (size_t i = 0; i < sidecar->nr_logs; i++) {
		const struct sidecar_log *log = &sidecar->logs[i];

		for (size_t kind = 0; kind < sizeof(log->nr_lost) / sizeof(*log->nr_lost);
		     kind++) {
			/* These have a record, and are counted by their unknown time. */
			if (kind != GPU_LOG_LOSS_UNFINISHED)
				sum__add(&stats->nr_lost_kernels, log->nr_lost[kind]);
		}
	}
}

static void source__close(struct source *source)
{
	kernel_names__release(&source->names);
	node_stacks__delete(source->node_stacks);
	jit_names__delete(source->jit_names);
	used_files__delete(source->used_files);
	free(source->entries);
	unwinder__delete(source->unwinder);
	machine__delete(source->machine);
	launches__delete(source->launches);
	join__delete(source->join);
	sidecar__close(source->sidecar);
	perfdata_reader__close(source->reader);
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
		err = source__note_records(source);
	if (!err)
		err = source__note_kernels(source);
	if (err)
		goto out;
	qsort(source->entries, source->nr_entries, sizeof(*source->entries),
	      compare_entries);
	err = source__feed(source);
	if (err)
		goto out;
	source__add_losses(source);
	source->stats.nr_stale_files = machine__nr_stale_files(source->machine);
	*ret = source->stats;
out:
	source__close(source);
	return err;
}
