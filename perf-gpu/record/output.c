// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/output.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api_hit.h"
#include "gpu_log.h"
#include "launch_event.h"
#include "perfdata/buffer.h"
#include "perfdata/feature.h"
#include "perfdata/format.h"
#include "perfdata/sample.h"
#include "perfdata/writer.h"
#include "record/build_ids.h"
#include "record/hit_chain.h"
#include "util/log.h"

_Static_assert(LAUNCH_API_GRAPH_NODE == GPU_LOG_API_GRAPH_NODE, "one bit");

/* A record's size has 16 bits. */
#define MAX_RECORD_BYTES 65536

/* The kernel's PID_MAX_LIMIT on 64-bit machines */
#define MAX_PIDS (4u << 20)

/* Padding that makes a sample's raw part, with its u32 size, a multiple of 8 */
#define RAW_PAD 4

/*
 * The kernel's page for optimized uprobes, which hotspot can't place. Linux cuts a
 * name that a mapping has from its vm_ops to 15 characters (6.18).
 */
#define TRAMPOLINE_PREFIX "[uprobes-trampo"

struct output {
	struct perfdata_writer *writer;
	struct build_ids *build_ids;
	struct output_config config;
	struct perf_event_attr ring_attr;
	struct perf_event_attr launch_attr;
	struct perf_event_attr sideband_attr;
	struct output_counts counts;
	struct launch_counts launch_counts;
	uint64_t first_ns, last_ns;
	uint64_t *launching_pids; /* bitmap of MAX_PIDS */
	uint64_t record[MAX_RECORD_BYTES / sizeof(uint64_t)];
};

static int add_events(struct output *output)
{
	const uint64_t launch_id = LAUNCH_EVENT_ID, sideband_id = SIDEBAND_EVENT_ID;
	int err;

	err = perfdata_writer__add_event(output->writer, &output->launch_attr, &launch_id,
					 1, "gpu-launch");
	if (err)
		return err;
	return perfdata_writer__add_event(output->writer, &output->sideband_attr,
					  &sideband_id, 1, "dummy:u");
}

int output__open(const struct output_config *config, struct output **ret)
{
	struct output *output;
	int err = -ENOMEM;

	output = calloc(1, sizeof(*output));
	if (!output)
		goto out;
	output->config = *config;
	output->first_ns = UINT64_MAX;
	launch_event__init(&config->stack, config->session, &output->ring_attr,
			   &output->launch_attr);
	sideband_event__init(&config->stack, &output->sideband_attr);
	output->launching_pids = calloc(MAX_PIDS / 64, sizeof(uint64_t));
	if (!output->launching_pids || build_ids__new(&output->build_ids))
		goto out;
	err = perfdata_writer__open(config->path, &output->writer);
	if (err)
		goto out_printed;
	err = add_events(output);
	if (!err)
		err = features__set(output->writer, config->argv, &config->clock);
	if (err)
		goto out;
	*ret = output;
	return 0;
out:
	pr_err("can't begin %s: %s", config->path, strerror(-err));
out_printed:
	output__close(output);
	return err;
}

const struct perf_event_attr *output__ring_attr(const struct output *output)
{
	return &output->ring_attr;
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

static void count_launch(struct output *output, const struct perfdata_sample *sample,
			 uint64_t log_id)
{
	output->counts.nr_launches++;
	if (log_id)
		launch_counts__add(&output->launch_counts, log_id);
	if (sample->pid < MAX_PIDS) {
		uint64_t *word = &output->launching_pids[sample->pid / 64];
		uint64_t bit = 1ull << sample->pid % 64;

		output->counts.nr_processes += !(*word & bit);
		*word |= bit;
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

/* No launch: the process that hit the marker can't say anything in another way. */
static int count_unlogged(struct output *output, const struct perfdata_sample *sample,
			  const struct launch_event *launch)
{
	if (!output->counts.nr_unlogged++) {
		output->counts.unlogged_pid = sample->pid;
		output->counts.unlogged_errno = launch->correlation_id < INT_MAX
							? (int)launch->correlation_id
							: EINVAL;
	}
	return 0;
}

/* @launch: log_id 0 for a hit of a probe on the API */
static int write_sample(struct output *output, struct perfdata_sample *sample,
			const struct launch_event *launch)
{
	struct {
		struct launch_event launch;
		char pad[RAW_PAD];
	} __attribute__((packed)) raw = {.launch = *launch};
	int err;

	sample->id = LAUNCH_EVENT_ID;
	sample->raw = &raw;
	sample->raw_bytes = sizeof(raw);
	err = perfdata_sample__write(&output->launch_attr, sample, output->record,
				     sizeof(output->record));
	if (err < 0)
		return write_broken(output);
	note_time(output, sample);
	if (!(launch->api & LAUNCH_API_GRAPH_NODE))
		count_launch(output, sample, launch->log_id);
	return perfdata_writer__write(output->writer,
				      (struct perf_event_header *)output->record);
}

static int write_launch(struct output *output, struct perfdata_sample *sample,
			const struct launch_event *launch)
{
	if (!launch->log_id)
		return count_unlogged(output, sample, launch);
	return write_sample(output, sample, launch);
}

int output__hit(void *ctx, const struct perf_event_header *event)
{
	const struct launch_event unknown = {0};
	uint64_t callchain[HIT_CHAIN_MAX_IPS];
	struct output *output = ctx;
	struct perfdata_sample sample;
	struct api_hit hit;

	if (perfdata_sample__parse(&output->ring_attr, event, &sample) ||
	    sample.raw_bytes < sizeof(hit))
		return write_broken(output);
	memcpy(&hit, sample.raw, sizeof(hit));
	if (sample.nr_ips) {
		sample.nr_ips = hit_chain__add_caller(sample.ips, sample.nr_ips,
						      hit.caller, callchain);
		sample.ips = callchain;
	}
	return write_sample(output, &sample, &unknown);
}

int output__sample(void *ctx, const struct perf_event_header *event)
{
	struct output *output = ctx;
	struct perfdata_sample sample;
	struct launch_event launch;

	if (perfdata_sample__parse(&output->ring_attr, event, &sample) ||
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
			       event->misc & PERF_RECORD_MISC_MMAP_BUILD_ID
				       ? mmap2->build_id_bytes
				       : 0);
	return false;
}

int output__sideband(void *ctx, const struct perf_event_header *event)
{
	struct output *output = ctx;
	struct perfdata_sample id;
	uint64_t trailing_id = SIDEBAND_EVENT_ID;

	if (event->type == PERF_RECORD_SAMPLE || event->size % sizeof(uint64_t) ||
	    perfdata_sample__parse_id(&output->sideband_attr, event, &id))
		return write_broken(output);
	if (is_unwanted_mapping(output, event))
		return 0;
	/* IDENTIFIER is the last of the trailing sample_id. */
	memcpy(output->record, event, event->size);
	memcpy((char *)output->record + event->size - sizeof(trailing_id), &trailing_id,
	       sizeof(trailing_id));
	return perfdata_writer__write(output->writer,
				      (struct perf_event_header *)output->record);
}

int output__finish_round(struct output *output)
{
	const struct perf_event_header event = {
		.type = PERFDATA_RECORD_FINISHED_ROUND,
		.size = sizeof(event),
	};

	return perfdata_writer__write(output->writer, &event);
}

struct output_counts output__counts(const struct output *output)
{
	struct output_counts counts = output->counts;

	counts.bytes = perfdata_writer__bytes(output->writer);
	return counts;
}

const struct launch_counts *output__launch_counts(const struct output *output)
{
	return &output->launch_counts;
}

const struct build_ids *output__mapped_files(const struct output *output)
{
	return output->build_ids;
}

static int set_build_ids(struct output *output)
{
	struct perfdata_buffer table = {0};
	int err = 0;

	build_ids__read(output->build_ids, &table);
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

void output__close(struct output *output)
{
	if (!output)
		return;
	perfdata_writer__close(output->writer);
	build_ids__delete(output->build_ids);
	launch_counts__release(&output->launch_counts);
	free(output->launching_pids);
	free(output);
}
