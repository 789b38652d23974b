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
 *   ... of a probe on the API (output__hit) the same sample; its RAW part is empty
 *   side-band (output__sideband)            the same record, with our id
 */
#ifndef PERF_GPU_RECORD_OUTPUT_H
#define PERF_GPU_RECORD_OUTPUT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "record/build_ids.h"
#include "record/call_counts.h"
#include "record/cuda_users.h"
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
	uint64_t max_bytes; /* of records: further ones are left out; 0: any number */
};

struct output_counts {
	uint64_t nr_launches;
	uint64_t nr_processes; /* that launched */
	uint64_t nr_broken; /* records that no kernel of ours makes: left out */
	uint64_t nr_over_limit; /* launches that are left out, by max_bytes */
	uint64_t over_limit_ns; /* when the earliest of them was; 0: none was */
	uint64_t nr_sideband_over_limit; /* side-band that launches in the file lack */
	uint64_t nr_unlogged; /* processes that could not open their log */
	uint32_t unlogged_pid; /* the first of them */
	char unlogged_comm[16]; /* its name; "": it was gone */
	int unlogged_errno; /* why it couldn't */
	uint64_t bytes; /* of records in the file */
	struct cuda_users_missing uninjected; /* as far as the side-band tells */
};

/* What is made of a record that came out of a ring */
enum output_kind {
	OUTPUT_SIDEBAND,
	OUTPUT_LAUNCH,
	OUTPUT_NODE, /* of a CUDA graph: key is the node's id */
	OUTPUT_HIT, /* of a probe on the API: has neither log nor key */
};

struct output_record {
	const struct perf_event_header *event; /* valid during the call */
	enum output_kind kind;
	uint64_t time_ns;
	uint64_t log_id, key; /* of a launch or a node */
};

/* Who decides what gets into a file, and when: see record/rotation.h */
struct output_keeper {
	int (*take)(void *ctx, const struct output_record *record);
	void *ctx;
};

/**
 * output__open - create the file, under a temporary name
 * @config: its pointers are kept until output__close()
 * @ret:    released by output__close(); written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int output__open(const struct output_config *config, struct output **ret);

/*
 * From now on records go to @keeper, which gives those that it wants in the file to
 * output__write(), and there are no rounds. Before the first record.
 */
void output__set_keeper(struct output *output, const struct output_keeper *keeper);

/* Append a record, as it was given to the keeper. 0 or a negative errno, printed. */
int output__write(struct output *output, const struct perf_event_header *event);

/* The same of a launch or node that is of before the file, and marked so. */
int output__write_earlier(struct output *output, const struct perf_event_header *event);

/* Begin another file; the one before is committed, or dropped. 0 or -errno, printed. */
int output__next_file(struct output *output);

/* What to ask the kernel for, and give to output__sample() and output__sideband(). */
const struct perf_event_attr *output__ring_attr(const struct output *output);
/*
 * What to ask for where probes on the API are hit: the same, but a copy of the stack where
 * others have theirs from the library.
 */
const struct perf_event_attr *output__hit_attr(const struct output *output);
const struct perf_event_attr *output__sideband_attr(const struct output *output);

/* Handlers of the rings, with @output as the context. Return: 0 or -errno, printed. */
int output__frames(void *output, const void *data, size_t bytes);
int output__sample(void *output, const struct perf_event_header *event);
/* Of a probe on the API, sampled by output__hit_attr() */
int output__hit(void *output, const struct perf_event_header *event);
int output__sideband(void *output, const struct perf_event_header *event);

/* A record of a perf.data that another recorder could not finish. 0 or -errno, printed */
int output__recovered(struct output *output, const struct perf_event_header *event);

/* perfdata/writer.h has more on these. */
void output__keep(struct output *output);
const char *output__temporary(const struct output *output);
uint64_t output__data_offset(const struct output *output);

/*
 * All rings have been drained once more: what comes later is later than all that
 * came before this round, which lets readers sort in little memory. What came before is
 * there then, though this process be killed.
 */
int output__finish_round(struct output *output);

struct output_counts output__counts(const struct output *output);

/* Of which the side-band tells; as long as the output. */
struct cuda_users *output__cuda_users(struct output *output);

/* How many samples there are of each log; as long as the output. */
const struct launch_counts *output__launch_counts(const struct output *output);

/* Which functions' calls they are; as long as the output. */
const struct call_counts *output__call_counts(const struct output *output);

/* The files that were mapped; valid as long as the output. */
const struct build_ids *output__mapped_files(const struct output *output);

/**
 * output__commit - give the file its name
 *
 * Return: 0 or a negative errno, printed; the path is then as it was.
 */
int output__commit(struct output *output);

/* The same, but another name, in the same folder. */
int output__commit_as(struct output *output, const char *path);

/* Release; without output__commit() nothing is left of the file. NULL is fine. */
void output__close(struct output *output);

#endif
