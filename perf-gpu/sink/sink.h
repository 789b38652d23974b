/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An output. A sink is one file, and knows nothing of how samples were recorded:
 * source__run() feeds it, in time order.
 *
 *   start()    once
 *   record()   side-band records (MMAP2, COMM, FORK, EXIT) and, if the sink
 *              wants_other_events, samples of events that aren't launches
 *   sample()   one for each kernel executed
 *   finish()   once, if nothing failed: makes the output whole
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

struct gpu_sample {
	uint64_t time_ns; /* of the launch; of the kernel's start if there is none */
	uint32_t pid, tid, cpu;
	uint64_t period; /* ns on the GPU */
	const struct gpu_frame *frames; /* leaf first; frames[0] is the kernel */
	size_t nr_frames;
	const struct sidecar_kernel *kernel;
	const struct sidecar_shape *shape;
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
	bool is_unwound; /* no sample has a copied stack, though the launch event does */
};

struct sink;

struct sink_ops {
	int (*start)(struct sink *sink, const struct sink_input *input);
	int (*record)(struct sink *sink, const struct perf_event_header *record);
	int (*sample)(struct sink *sink, const struct gpu_sample *sample);
	int (*finish)(struct sink *sink);
	void (*delete)(struct sink *sink);
};

struct sink {
	const struct sink_ops *ops;
	bool wants_other_events;
	/* record() isn't given the mappings of files that no launch's stack goes through */
	bool wants_used_files;
};

/**
 * sink_perfdata__new - a perf.data with [GPU_Kernel] leaves that perf reads
 * @path:       the perf.data to write. The frames with a name become symbols
 *              of an ELF file PATH.dso/[GPU_Kernel].
 * @keep_other: keep samples of the input's other events (--keep-cpu)
 * @ret:        released through ops->delete; written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_perfdata__new(const char *path, bool keep_other, struct sink **ret);

/* Fields that `perf-gpu script` prints, named as `perf script -F` names them. */
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
};

/* What perf script prints of the perf.data that inject makes. */
#define SCRIPT_DEFAULT_FIELDS                                                  \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_PERIOD | \
	 SCRIPT_EVENT | SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO)

/**
 * script_field__parse - the argument of -F
 * @text:   "comm,pid,time", or "+cpu,-dso" on top of the default
 * @fields: in: the default; out: what was asked for, on success only
 *
 * Return: 0, or -EINVAL with the unknown field printed.
 */
int script_field__parse(const char *text, unsigned int *fields);

/**
 * sink_script__new - `perf script` text on stdout
 * @fields: enum script_field bits
 * @ret:    released through ops->delete; written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_script__new(unsigned int fields, struct sink **ret);

#endif
