/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data as it is recorded: takes the kernel's records as they come out of the
 * rings, checks them, makes them what stock perf reads, and counts. One thread.
 *
 *   from a ring                             in perf.data
 *   struct launch_frames (output__frames)   a sample: its ip is the first frame,
 *                                           its callchain PERF_CONTEXT_USER and all,
 *                                           its RAW part the struct launch_event
 *   a BPF_OUTPUT sample (output__sample)    the same sample, with our id
 *   side-band (output__sideband)            the same record, with our id
 */
#ifndef PERF_GPU_RECORD_OUTPUT_H
#define PERF_GPU_RECORD_OUTPUT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "record/build_ids.h"
#include "record/events.h"
#include "record/features.h"
#include "record/launch_counts.h"

struct output;

struct output_config {
	const char *path; /* of perf.data, once committed */
	const char *const *argv; /* the recorder's command line */
	struct stack_config stack;
	uint64_t session;
	struct clock_pair clock;
};

struct output_counts {
	uint64_t nr_launches;
	uint64_t nr_processes; /* that launched */
	uint64_t nr_broken; /* records that no kernel of ours makes: left out */
	uint64_t nr_unlogged; /* processes that could not open their log */
	uint32_t unlogged_pid; /* the first of them */
	int unlogged_errno; /* why it couldn't */
	uint64_t bytes; /* of records */
};

/**
 * output__open - create the file, under a temporary name
 * @config: its pointers are kept until output__close()
 * @ret:    released by output__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int output__open(const struct output_config *config, struct output **ret);

/* What to ask the kernel for, and give to output__sample() and output__sideband(). */
const struct perf_event_attr *output__ring_attr(const struct output *output);
const struct perf_event_attr *output__sideband_attr(const struct output *output);

/* Handlers of the rings, with @output as the context. Return: 0 or -errno, printed. */
int output__frames(void *output, const void *data, size_t bytes);
int output__sample(void *output, const struct perf_event_header *event);
int output__hit(void *output,
		const struct perf_event_header *event); /* of an API probe */
int output__sideband(void *output, const struct perf_event_header *event);

/*
 * All rings have been drained once more: what comes later is later than all that
 * came before this round, which lets readers sort in little memory.
 */
int output__finish_round(struct output *output);

struct output_counts output__counts(const struct output *output);

/* How many samples there are of each log; as long as the output. */
const struct launch_counts *output__launch_counts(const struct output *output);

/* The files that were mapped; valid as long as the output. */
const struct build_ids *output__mapped_files(const struct output *output);

/**
 * output__commit - give the file its name
 *
 * Return: 0 or a negative errno, printed; the path is then as it was.
 */
int output__commit(struct output *output);

/* Release; without output__commit() nothing is left of the file. NULL is fine. */
void output__close(struct output *output);

#endif
