/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An output. A sink is one file, and knows nothing of how samples were recorded:
 * source__run() feeds it, in time order.
 *
 *   start()    once
 *   record()   side-band records (MMAP2, COMM, FORK, EXIT) and, if the sink
 *              wants_other_events, samples of events that aren't launches. NULL: what
 *              records change, the machine has taken in already, and that is enough
 *   sample()   one for each occurrence of an event (join/occurrences.h)
 *   finish()   once, if nothing failed: makes the output whole
 *   stop()     at the end, failed or not, if it was started: what start() was given goes.
 *              NULL: nobody else holds any of it
 *   The owner of the sink deletes it in any case; without finish() that
 *   removes what was written.
 *
 * What returns an int: 0, or a negative errno, printed.
 */
#ifndef PERF_GPU_SINK_SINK_H
#define PERF_GPU_SINK_SINK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "join/occurrences.h"
#include "perfdata/reader.h"
#include "sidecar/sidecar.h"
#include "symbol/machine.h"

/* One level of a stack. */
struct gpu_frame {
	/*
	 * Not NULL: a frame that is no code in memory, with its name as it is
	 * to be shown ("[GPU_Kernel]sgemm", "cudaLaunchKernel", "[unattributed]");
	 * ip is 0 then. Lives as long as the source.
	 */
	const char *name;
	uint64_t ip; /* within the calling instruction: return address - 1 */
	/* Where a function of Python's is; NULL and 0 of all others */
	const char *file;
	uint32_t line;
};

/* What a sample is labelled with (source/labels.h); -1 and NULL: there is none. */
struct gpu_labels {
	int64_t device; /* the GPU's number in the recording */
	int64_t stream, context, graph;
	int64_t rank; /* of the process, in its job */
	int64_t bytes; /* of a copy, a memset, an allocation, a migration */
	const char *nvtx; /* open ranges, outermost first: "domain:name;name" */
	/* What opened them, in the same order (of sidecar.nvtx) */
	const struct sidecar_nvtx *const *ranges;
	size_t nr_ranges;
};

struct gpu_sample {
	uint64_t time_ns; /* of the launch; if there is none, of the activity's start */
	uint32_t pid, tid, cpu;
	uint32_t event; /* enum gpu_log_event */
	uint64_t period; /* ns, or bytes: join/occurrences.h */
	const struct gpu_frame *frames; /* leaf first; frames[0] says what it is about */
	size_t nr_frames; /* at least the leaf */
	/*
	 * Samples of a source with the same, which isn't 0, have the same process and the
	 * same frames but for the leaf, and no map has changed between them. Equal stacks
	 * may have several. Small numbers come first, so one can be a place in a table.
	 */
	uint64_t stack_id;
	/* of gpu-queue the kernel, of gpu-idle what ended the gap; NULL of gpu-launch */
	const struct sidecar_activity *activity; /* no longer valid than the sample */
	const struct sidecar_shape *shape; /* of activity */
	/* of gpu-launch what the period is of; NULL of all others */
	const struct sidecar_api_call *call;
	bool has_launch; /* time_ns and tid are those of a launch that was recorded */
	const struct gpu_labels *labels; /* NULL if they weren't asked for */
	/*
	 * --call-graph dwarf: the launch's REGS_USER and STACK_USER, which
	 * continue the stack behind frames; else NULL
	 */
	const void *user_state;
	size_t user_state_bytes;
};

/* What a sink may want to know before the first sample. */
struct sink_input {
	const struct perfdata_reader *reader;
	const bool *is_launch; /* one for each of the reader's events */
	const struct perfdata_event_desc *launch_event; /* the first of those */
	const struct sidecar *sidecar;
	/* address spaces as of the record or sample at hand */
	const struct machine *machine;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that samples are of; at least one */
	bool is_unwound; /* no sample has a copied stack, though the launch event does */
};

struct sink;

struct sink_ops {
	int (*start)(struct sink *sink, const struct sink_input *input);
	int (*record)(struct sink *sink, const struct perf_event_header *record);
	int (*sample)(struct sink *sink, const struct gpu_sample *sample);
	int (*finish)(struct sink *sink);
	void (*stop)(struct sink *sink);
	void (*delete)(struct sink *sink);
};

struct sink {
	const struct sink_ops *ops;
	bool wants_other_events;
	/* record() isn't given the mappings of files that no launch's stack goes through */
	bool wants_used_files;
};

/* Give a record to a sink that takes any. 0 or its negative errno, printed. */
static inline int sink__record(struct sink *sink, const struct perf_event_header *record)
{
	return sink->ops->record ? sink->ops->record(sink, record) : 0;
}

struct perfdata_options {
	bool keep_other; /* keep samples of the input's other events (--keep-cpu) */
	/*
	 * Samples of equal stacks and leaves become one, whose weight is how many they
	 * were (sink/aggregate.h). The input must be unwound.
	 */
	bool is_aggregated;
};

/**
 * sink_perfdata__new - a perf.data with [GPU_Kernel] leaves that perf reads
 * @path:       the perf.data to write. The frames with a name become symbols
 *              of an ELF file PATH.dso/[GPU_Kernel].
 * @options:    copied
 * @ret:        released through ops->delete; written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_perfdata__new(const char *path, const struct perfdata_options *options,
		       struct sink **ret);

/* Fields that `perf-gpu script` prints; what perf script has, too, by its names. */
enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_IP = 1 << 7,
	SCRIPT_SYM = 1 << 8,
	SCRIPT_SYMOFF = 1 << 9,
	SCRIPT_DSO = 1 << 10,
	SCRIPT_SRCLINE = 1 << 11, /* of Python functions */
	/* labels; perf has no such */
	SCRIPT_DEVICE = 1 << 12,
	SCRIPT_STREAM = 1 << 13,
	SCRIPT_CONTEXT = 1 << 14,
	SCRIPT_GRAPH = 1 << 15,
	SCRIPT_NVTX = 1 << 16,
	SCRIPT_RANK = 1 << 17,
	SCRIPT_BYTES = 1 << 18,
};

/* Those that need gpu_sample.labels */
#define SCRIPT_LABEL_FIELDS                                                            \
	(SCRIPT_DEVICE | SCRIPT_STREAM | SCRIPT_CONTEXT | SCRIPT_GRAPH | SCRIPT_NVTX | \
	 SCRIPT_RANK | SCRIPT_BYTES)

/* What perf script prints of the perf.data that inject makes. */
#define SCRIPT_DEFAULT_FIELDS                                                  \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_PERIOD | \
	 SCRIPT_EVENT | SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO)

/**
 * script_field__parse - the argument of -F
 * @text:   "comm,pid,time", or "+cpu,-dso" on top of the default
 * @fields: in: the default; out: what was asked for, on success only
 *
 * Return: 0, or, printed, -EINVAL for an unknown field, -ENOMEM.
 */
int script_field__parse(const char *text, unsigned int *fields);

/* What times are printed in */
enum time_unit {
	TIME_UNIT_NONE, /* not asked for: ns */
	TIME_UNIT_NS,
	TIME_UNIT_US,
	TIME_UNIT_MS,
};

struct folded_options {
	enum time_unit unit; /* an error of events in bytes, if it is asked for */
	enum event_weight weight; /* as in source_options */
	/*
	 * Add up all events that there are, which must have one unit; else the first
	 * alone, with word of the others
	 */
	bool has_all_events;
};

/**
 * sink_folded__new - folded stacks on stdout: "app;main;f;[GPU_Kernel]k 1234", sorted
 * @options: copied
 * @ret:     released through ops->delete; written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_folded__new(const struct folded_options *options, struct sink **ret);

/**
 * sink_script__new - `perf script` text on stdout
 * @fields: enum script_field bits
 * @ret:    released through ops->delete; written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_script__new(unsigned int fields, struct sink **ret);

struct report;

/**
 * sink_report__new - rows of tables (report/report.h)
 * @report: filled, and finished; must outlive the sink, and may outlive the source
 * @ret:    released through ops->delete; written on success only
 *
 * Return: 0 or -ENOMEM, printed.
 */
int sink_report__new(struct report *report, struct sink **ret);

/**
 * sink_archive__new - the recording in one file, with those that have its symbols
 * @path: of the .tar.zst, or "-" for stdout; copied
 * @ret:  released through ops->delete; written on success only
 *
 * Stacks are to have all their frames, or some files aren't packed. What is in it is said
 * when it is finished.
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_archive__new(const char *path, struct sink **ret);

#endif
