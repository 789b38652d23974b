// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/output.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api_hit.h"
#include "gpu_log.h"
#include "launch_event.h"
#include "perfdata/buffer.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/mmap2.h"
#include "perfdata/sample.h"
#include "perfdata/writer.h"
#include "record/build_ids.h"
#include "record/cuda_users.h"
#include "record/hit_chain.h"
#include "util/format.h"
#include "util/log.h"
#include "util/pid_set.h"
#include "util/proc.h"

_Static_assert(LAUNCH_API_GRAPH_NODE == GPU_LOG_API_GRAPH_NODE, "one bit");

/* A record's size has 16 bits. */
#define MAX_RECORD_BYTES 65536

/* Padding that makes a sample's raw part, with its u32 size, a multiple of 8 */
#define RAW_PAD 4

/* So much of max_bytes, 1 in this, side-band may have behind it. */
#define MAX_SIZE_SIDEBAND 8

/*
 * The kernel's page for optimized uprobes, which hotspot can't place. Linux cuts a
 * name that a mapping has from its vm_ops to 15 characters (6.18).
 */
#define TRAMPOLINE_PREFIX "[uprobes-trampo"

/* A kind of samples: what the kernel is asked for, and what perf.data has */
struct sample_event {
	struct perf_event_attr ring_attr, attr;
	uint64_t id;
};

struct output {
	struct perfdata_writer *writer;
	struct build_ids *build_ids;
	struct output_config config;
	struct sample_event launch;
	struct sample_event hit; /* of a probe on the API; often the same */
	struct perf_event_attr sideband_attr;
	uint64_t nr_hits;
	struct output_counts counts;
	struct launch_counts launch_counts;
	struct call_counts call_counts;
	uint64_t first_ns, last_ns; /* of the file's samples */
	struct output_keeper keeper; /* take NULL: records go straight into the file */
	struct pid_set launching_pids;
	struct cuda_users cuda_users;
	uint64_t record[MAX_RECORD_BYTES / sizeof(uint64_t)];
};

static int add_events(struct output *output)
{
	const uint64_t sideband_id = SIDEBAND_EVENT_ID;
	int err;

	output->first_ns = UINT64_MAX;
	output->last_ns = 0;
	output->nr_hits = 0;
	err = perfdata_writer__add_event(output->writer, &output->launch.attr,
					 &output->launch.id, 1, "gpu-launch");
	if (!err)
		err = perfdata_writer__add_event(output->writer, &output->sideband_attr,
						 &sideband_id, 1, "dummy:u");
	if (!err && output->hit.id != output->launch.id)
		err = perfdata_writer__add_event(output->writer, &output->hit.attr,
						 &output->hit.id, 1, "gpu-launch-api");
	return err;
}

/* Where the library walks stacks, the kernel has to copy those it doesn't get to. */
static void init_events(struct output *output)
{
	const struct output_config *config = &output->config;
	struct stack_config copied = {.call_graph = CALL_GRAPH_DWARF,
				      .dwarf_bytes = CALL_GRAPH_DWARF_BYTES};

	launch_event__init(&config->stack, config->session, &output->launch.ring_attr,
			   &output->launch.attr);
	output->launch.id = LAUNCH_EVENT_ID;
	output->hit = output->launch;
	if (config->stack.call_graph == CALL_GRAPH_UNWIND) {
		launch_event__init(&copied, config->session, &output->hit.ring_attr,
				   &output->hit.attr);
		output->hit.id = HIT_EVENT_ID;
	}
	sideband_event__init(&config->stack, &output->sideband_attr);
}

/* A file, under a temporary name. 0 or a negative errno, printed. */
static int open_file(struct output *output)
{
	const struct output_config *config = &output->config;
	int err;

	err = perfdata_writer__open(config->path, &output->writer);
	if (err)
		return err;
	err = add_events(output);
	if (!err)
		err = features__set(output->writer, config->argv, &config->clock);
	if (err)
		pr_err("can't begin %s: %s", config->path, strerror(-err));
	return err;
}

int output__open(const struct output_config *config, struct output **ret)
{
	struct output *output;
	int err = -ENOMEM;

	output = calloc(1, sizeof(*output));
	if (!output)
		goto out;
	output->config = *config;
	init_events(output);
	if (build_ids__new(&output->build_ids))
		goto out;
	err = open_file(output);
	if (err)
		goto out_printed;
	*ret = output;
	return 0;
out:
	pr_err("can't begin %s: %s", config->path, strerror(-err));
out_printed:
	output__close(output);
	return err;
}

void output__set_keeper(struct output *output, const struct output_keeper *keeper)
{
	output->keeper = *keeper;
}

int output__next_file(struct output *output)
{
	perfdata_writer__close(output->writer);
	output->writer = NULL;
	return open_file(output);
}

const struct perf_event_attr *output__ring_attr(const struct output *output)
{
	return &output->launch.ring_attr;
}

const struct perf_event_attr *output__hit_attr(const struct output *output)
{
	return &output->hit.ring_attr;
}

const struct perf_event_attr *output__sideband_attr(const struct output *output)
{
	return &output->sideband_attr;
}

static void note_time(struct output *output, const struct perfdata_sample *sample)
{
	if (sample->time_ns < output->first_ns)
		output->first_ns = sample->time_ns;
	if (sample->time_ns > output->last_ns)
		output->last_ns = sample->time_ns;
}

int output__write(struct output *output, const struct perf_event_header *event)
{
	struct perfdata_sample sample;
	int err;

	if (event->type == PERF_RECORD_SAMPLE) {
		err = perfdata_sample__parse(&output->launch.attr, event, &sample);
		if (!err)
			note_time(output, &sample);
	}
	return perfdata_writer__write(output->writer, event);
}

int output__write_earlier(struct output *output, const struct perf_event_header *event)
{
	struct perfdata_sample sample;
	struct launch_event launch;
	char *raw;

	memmove(output->record, event, event->size);
	event = (const void *)output->record;
	if (perfdata_sample__parse(&output->launch.attr, event, &sample) ||
	    sample.raw_bytes < sizeof(launch))
		return -EINVAL;
	/* It is in the copy. */
	raw = (char *)output->record +
	      ((const char *)sample.raw - (const char *)output->record);
	memcpy(&launch, raw, sizeof(launch));
	launch.api |= LAUNCH_API_EARLIER;
	memcpy(raw, &launch, sizeof(launch));
	return perfdata_writer__write(output->writer, event);
}

/* What has been made in output->record, to the keeper or into the file. */
static int put(struct output *output, struct output_record *record)
{
	record->event = (const struct perf_event_header *)output->record;
	if (output->keeper.take)
		return output->keeper.take(output->keeper.ctx, record);
	return perfdata_writer__write(output->writer, record->event);
}

static void count_launch(struct output *output, const struct perfdata_sample *sample,
			 const struct launch_event *launch)
{
	const uint64_t log_id = launch->log_id;

	output->counts.nr_launches++;
	call_counts__add(&output->call_counts, launch->api);
	if (log_id)
		launch_counts__add(&output->launch_counts, log_id,
				   launch->correlation_id);
	/* Without memory, one is counted too often. */
	if (!pid_set__has(&output->launching_pids, sample->pid)) {
		/* A forked child has our library from its parent, and libcuda perhaps not. */
		if (log_id)
			cuda_users__note_launch(&output->cuda_users, sample->pid);
		output->counts.nr_processes++;
		pid_set__add(&output->launching_pids, sample->pid);
	}
}

/*
 * Make a callchain of what the library has walked. Addresses that no user code has
 * end it: perf would take some of them for PERF_CONTEXT_* markers.
 *
 * @ret: room for LAUNCH_MAX_FRAMES + 1. Return: how many entries it has.
 */
static uint64_t make_callchain(const uint64_t *frames, uint32_t nr_frames, uint64_t *ret)
{
	uint64_t nr = 0;

	ret[nr++] = PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < nr_frames; i++) {
		if (!frames[i] || frames[i] > INT64_MAX)
			break;
		ret[nr++] = frames[i];
	}
	return nr;
}

static int write_broken(struct output *output)
{
	output->counts.nr_broken++;
	return 0;
}

static bool is_full(const struct output *output)
{
	return output->config.max_bytes &&
	       perfdata_writer__bytes(output->writer) >= output->config.max_bytes;
}

/* A launch, or the stack of a graph's node, that there is no room for any more */
static int leave_out(struct output *output, uint64_t time_ns,
		     const struct launch_event *launch)
{
	if (!output->counts.over_limit_ns || time_ns < output->counts.over_limit_ns)
		output->counts.over_limit_ns = time_ns;
	if (launch->api & LAUNCH_API_GRAPH_NODE)
		return 0;
	output->counts.nr_over_limit++;
	if (launch->log_id)
		launch_counts__leave_out(&output->launch_counts, launch->log_id,
					 launch->correlation_id);
	return 0;
}

/*
 * What was mapped before the last launch that there was room for is drained behind it, if it
 * came between the two looks into the rings, and names its frames.
 */
static bool is_of_launches(const struct output *output, uint64_t time_ns)
{
	return output->last_ns && time_ns <= output->last_ns;
}

static bool has_room_for_sideband(const struct output *output, uint64_t time_ns)
{
	return is_of_launches(output, time_ns) &&
	       perfdata_writer__bytes(output->writer) - output->config.max_bytes <
		       output->config.max_bytes / MAX_SIZE_SIDEBAND;
}

/* One that is later than all launches in the file is missed by nobody. */
static int leave_out_sideband(struct output *output, uint64_t time_ns)
{
	output->counts.nr_sideband_over_limit += is_of_launches(output, time_ns);
	return 0;
}

/* No launch: the process that hit the marker can't say anything in another way. */
static int count_unlogged(struct output *output, const struct perfdata_sample *sample,
			  const struct launch_event *launch)
{
	char path[32];

	if (!output->counts.nr_unlogged++) {
		output->counts.unlogged_pid = sample->pid;
		snprintf(path, sizeof(path), "/proc/%u/comm", sample->pid);
		proc__read_line(path, output->counts.unlogged_comm,
				sizeof(output->counts.unlogged_comm));
		output->counts.unlogged_errno = launch->correlation_id < INT_MAX
							? (int)launch->correlation_id
							: EINVAL;
	}
	return 0;
}

/* @launch: log_id 0 for a hit of a probe on the API */
static int write_sample(struct output *output, const struct sample_event *event,
			struct perfdata_sample *sample, const struct launch_event *launch)
{
	struct {
		struct launch_event launch;
		char pad[RAW_PAD];
	} __attribute__((packed)) raw = {.launch = *launch};
	struct output_record record = {
		.kind = OUTPUT_LAUNCH,
		.time_ns = sample->time_ns,
		.log_id = launch->log_id,
		.key = launch->correlation_id,
	};
	int err;

	if (is_full(output))
		return leave_out(output, sample->time_ns, launch);
	if (launch->api & LAUNCH_API_GRAPH_NODE)
		record.kind = OUTPUT_NODE;
	else if (!launch->log_id)
		record.kind = OUTPUT_HIT;
	sample->id = event->id;
	sample->raw = &raw;
	sample->raw_bytes = sizeof(raw);
	err = perfdata_sample__write(&event->attr, sample, output->record,
				     sizeof(output->record));
	sample->raw = NULL;
	sample->raw_bytes = 0;
	if (err < 0)
		return write_broken(output);
	if (!output->keeper.take)
		note_time(output, sample);
	if (!(launch->api & LAUNCH_API_GRAPH_NODE))
		count_launch(output, sample, launch);
	return put(output, &record);
}

static int write_launch(struct output *output, struct perfdata_sample *sample,
			const struct launch_event *launch)
{
	if (!launch->log_id)
		return count_unlogged(output, sample, launch);
	return write_sample(output, &output->launch, sample, launch);
}

int output__hit(void *ctx, const struct perf_event_header *event)
{
	const struct launch_event unknown = {0};
	uint64_t callchain[HIT_CHAIN_MAX_IPS];
	struct output *output = ctx;
	struct perfdata_sample sample;
	struct api_hit hit;

	if (perfdata_sample__parse(&output->hit.ring_attr, event, &sample) ||
	    sample.raw_bytes < sizeof(hit))
		return write_broken(output);
	memcpy(&hit, sample.raw, sizeof(hit));
	if (sample.nr_ips) {
		sample.nr_ips = hit_chain__add_caller(sample.ips, sample.nr_ips,
						      hit.caller, callchain);
		sample.ips = callchain;
	}
	output->nr_hits++;
	cuda_users__note_launch(&output->cuda_users, sample.pid);
	return write_sample(output, &output->hit, &sample, &unknown);
}

int output__sample(void *ctx, const struct perf_event_header *event)
{
	struct output *output = ctx;
	struct perfdata_sample sample;
	struct launch_event launch;

	if (perfdata_sample__parse(&output->launch.ring_attr, event, &sample) ||
	    sample.raw_bytes < sizeof(launch))
		return write_broken(output);
	memcpy(&launch, sample.raw, sizeof(launch));
	return write_launch(output, &sample, &launch);
}

int output__frames(void *ctx, const void *data, size_t bytes)
{
	uint64_t callchain[LAUNCH_MAX_FRAMES + 1];
	const struct launch_frames *launch = data;
	struct output *output = ctx;
	struct perfdata_sample sample;

	if (bytes < sizeof(*launch) || launch->nr_frames > LAUNCH_MAX_FRAMES ||
	    launch->nr_frames > (bytes - sizeof(*launch)) / sizeof(*launch->frames))
		return write_broken(output);
	sample = (struct perfdata_sample){
		.misc = PERF_RECORD_MISC_USER,
		.pid = launch->pid,
		.tid = launch->tid,
		.time_ns = launch->time_ns,
		.cpu = launch->cpu,
		.ips = callchain,
		.nr_ips = make_callchain(launch->frames, launch->nr_frames, callchain),
	};
	/* Readers expect ip to be the callchain's first address. */
	if (sample.nr_ips > 1)
		sample.ip = callchain[1];
	else
		sample.nr_ips = 0;
	return write_launch(output, &sample, &launch->event);
}

/* Is it a mapping to leave out? Else its file is remembered. */
static bool is_unwanted_mapping(struct output *output,
				const struct perf_event_header *event)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)event;
	size_t room;

	if (event->type != PERF_RECORD_MMAP2)
		return false;
	if (event->size <= sizeof(*mmap2))
		return true;
	room = event->size - sizeof(*mmap2);
	if (strnlen(mmap2->path, room) == room)
		return true;
	if (!strncmp(mmap2->path, TRAMPOLINE_PREFIX, strlen(TRAMPOLINE_PREFIX)))
		return true;
	/* [vsyscall], which /proc/PID/maps has, and the kernel's records haven't */
	if (mmap2->addr > INT64_MAX)
		return true;
	if (mmap2->prot & PROT_EXEC)
		build_ids__add(output->build_ids, mmap2->path, mmap2->build_id,
			       perfdata_mmap2__id_bytes(mmap2));
	return false;
}

int output__sideband(void *ctx, const struct perf_event_header *event)
{
	struct output_record record = {.kind = OUTPUT_SIDEBAND};
	struct output *output = ctx;
	struct perfdata_sample id;
	uint64_t trailing_id = SIDEBAND_EVENT_ID;

	if (event->type == PERF_RECORD_SAMPLE || event->size % sizeof(uint64_t) ||
	    perfdata_sample__parse_id(&output->sideband_attr, event, &id))
		return write_broken(output);
	if (is_unwanted_mapping(output, event))
		return 0;
	if (event->type == PERF_RECORD_MMAP2)
		cuda_users__note(&output->cuda_users, (const void *)event);
	if (is_full(output) && !has_room_for_sideband(output, id.time_ns))
		return leave_out_sideband(output, id.time_ns);
	/* IDENTIFIER is the last of the trailing sample_id. */
	memcpy(output->record, event, event->size);
	memcpy((char *)output->record + event->size - sizeof(trailing_id), &trailing_id,
	       sizeof(trailing_id));
	record.time_ns = id.time_ns;
	return put(output, &record);
}

int output__finish_round(struct output *output)
{
	const struct perf_event_header event = {
		.type = PERFDATA_RECORD_FINISHED_ROUND,
		.size = sizeof(event),
	};

	int err;

	/* What is kept, and what is of before a file, comes in another order. */
	if (output->keeper.take)
		return 0;
	err = perfdata_writer__write(output->writer, &event);
	if (!err)
		perfdata_writer__flush(output->writer);
	return err;
}

static int recover_sample(struct output *output, const struct perf_event_header *event)
{
	struct perfdata_sample sample;
	struct launch_event launch;

	if (perfdata_sample__parse(&output->launch.attr, event, &sample))
		return write_broken(output);
	if (sample.id != output->launch.id) {
		if (sample.id != output->hit.id ||
		    perfdata_sample__parse(&output->hit.attr, event, &sample))
			return write_broken(output);
		output->nr_hits++;
	}
	if (sample.raw_bytes < sizeof(launch))
		return write_broken(output);
	memcpy(&launch, sample.raw, sizeof(launch));
	note_time(output, &sample);
	if (!(launch.api & LAUNCH_API_GRAPH_NODE))
		count_launch(output, &sample, &launch);
	return perfdata_writer__write(output->writer, event);
}

int output__recovered(struct output *output, const struct perf_event_header *event)
{
	struct perfdata_sample id;

	if (event->type == PERF_RECORD_SAMPLE)
		return recover_sample(output, event);
	if (event->type == PERFDATA_RECORD_FINISHED_ROUND)
		return perfdata_writer__write(output->writer, event);
	if (event->type >= PERFDATA_RECORD_USER_START ||
	    perfdata_sample__parse_id(&output->sideband_attr, event, &id))
		return write_broken(output);
	if (is_unwanted_mapping(output, event))
		return 0;
	return perfdata_writer__write(output->writer, event);
}

void output__keep(struct output *output)
{
	perfdata_writer__keep(output->writer);
}

const char *output__temporary(const struct output *output)
{
	return perfdata_writer__temporary(output->writer);
}

uint64_t output__data_offset(const struct output *output)
{
	return perfdata_writer__data_offset(output->writer);
}

struct output_counts output__counts(const struct output *output)
{
	struct output_counts counts = output->counts;

	counts.bytes = perfdata_writer__bytes(output->writer);
	counts.uninjected = cuda_users__missing(&output->cuda_users);
	return counts;
}

struct cuda_users *output__cuda_users(struct output *output)
{
	return &output->cuda_users;
}

const struct launch_counts *output__launch_counts(const struct output *output)
{
	return &output->launch_counts;
}

const struct call_counts *output__call_counts(const struct output *output)
{
	return &output->call_counts;
}

const struct build_ids *output__mapped_files(const struct output *output)
{
	return output->build_ids;
}

/* Of the files of one recording, which have the same mapped, the first says it. */
static void tell_unreadable(const struct build_ids_unreadable *unreadable)
{
	static bool is_told;
	struct format_buf count;

	if (!unreadable->nr || is_told)
		return;
	is_told = true;
	pr_warning(
		"%s mapped %s no build id in the recording, since %s could not be read "
		"(%s: %s%s): functions may be missing, or be those of another build",
		format__count(unreadable->nr, &count),
		format__plural(unreadable->nr, "file has", "files have"),
		format__plural(unreadable->nr, "it", "they"), unreadable->path,
		strerror(-unreadable->err), unreadable->nr == 1 ? "" : ", and others");
}

static int set_build_ids(struct output *output)
{
	struct build_ids_unreadable unreadable;
	struct perfdata_buffer table = {0};
	int err = 0;

	build_ids__read(output->build_ids, &table, &unreadable);
	tell_unreadable(&unreadable);
	if (table.no_memory)
		err = -ENOMEM;
	else if (table.nr_bytes)
		err = perfdata_writer__set_feature(output->writer, HEADER_BUILD_ID,
						   table.data, table.nr_bytes);
	perfdata_buffer__release(&table);
	return err;
}

int output__commit(struct output *output)
{
	int err;

	if (output->hit.id != output->launch.id && !output->nr_hits)
		perfdata_writer__drop_last_event(output->writer);
	err = set_build_ids(output);
	if (!err && output->last_ns)
		err = perfdata_feature__set_sample_time(output->writer, output->first_ns,
							output->last_ns);
	if (err) {
		pr_err("can't finish %s: %s", output->config.path, strerror(-err));
		return err;
	}
	return perfdata_writer__commit(output->writer);
}

int output__commit_as(struct output *output, const char *path)
{
	int err = perfdata_writer__rename(output->writer, path);

	if (err) {
		pr_err("can't finish %s: %s", path, strerror(-err));
		return err;
	}
	return output__commit(output);
}

void output__close(struct output *output)
{
	if (!output)
		return;
	perfdata_writer__close(output->writer);
	build_ids__delete(output->build_ids);
	launch_counts__release(&output->launch_counts);
	pid_set__release(&output->launching_pids);
	cuda_users__release(&output->cuda_users);
	free(output);
}
