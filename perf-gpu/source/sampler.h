/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an occurrence and the stack at hand to a sample, with its leaf, its labels and its
 * lane, for the sink. One thread.
 */
#ifndef PERF_GPU_SOURCE_SAMPLER_H
#define PERF_GPU_SOURCE_SAMPLER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "join/occurrences.h"
#include "sink/sink.h"
#include "source/launch_stacks.h"
#include "source/source.h"

struct sampler;

/* All of it must outlive the sampler. */
struct sampler_input {
	const struct source_options *options;
	struct sink *sink;
	const struct sidecar *sidecar;
	const char *sidecar_path; /* for messages */
	const struct perf_event_attr *launch_attr; /* of launches, and records */
	struct machine *machine;
	struct launch_stacks *stacks; /* whose stack at hand samples are under */
	struct source_stats *stats; /* gets what is written */
};

/* What return an int: 0 or a negative errno, printed. */

/* @ret: released by sampler__delete(); written on success only */
int sampler__new(const struct sampler_input *input, struct sampler **ret);
void sampler__delete(struct sampler *sampler); /* NULL is fine */

/**
 * sampler__feed - give the sink a sample
 * @has_launch: the occurrence has one, whose stack is at hand; else its stack is that of
 *              launch_stacks__take_none()
 * @sample:     the launch's time, process, thread, CPU and copied stack; the rest is
 *              filled in here
 */
int sampler__feed(struct sampler *sampler, const struct occurrence *occurrence,
		  bool has_launch, struct gpu_sample *sample);

/* Give the sink what was held back and began before a time; UINT64_MAX for everything. */
int sampler__feed_until(struct sampler *sampler, uint64_t time_ns);

/* Samples whose thread's NVTX ranges aren't known */
uint64_t sampler__nr_unknown_threads(const struct sampler *sampler);

#endif
