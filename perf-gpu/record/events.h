/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two events of a recording: what the kernel is asked for, and what perf.data
 * says. They differ where the recorder adds to the kernel's samples.
 */
#ifndef PERF_GPU_RECORD_EVENTS_H
#define PERF_GPU_RECORD_EVENTS_H

#include <linux/perf_event.h>
#include <stdint.h>

enum call_graph {
	CALL_GRAPH_DEFAULT, /* none was asked for: only while options are read */
	CALL_GRAPH_UNWIND, /* the injected library walks the stack */
	CALL_GRAPH_FP, /* the kernel does, by frame pointers */
	CALL_GRAPH_DWARF, /* the stack is copied; perf walks it later */
};

/* What tells of launches */
enum launch_probe {
	LAUNCH_PROBE_DEFAULT, /* none was asked for: only while options are read */
	LAUNCH_PROBE_MARKER, /* the injected library, by CUPTI's callbacks */
	LAUNCH_PROBE_API, /* probes on what libcuda exports */
	LAUNCH_PROBE_NONE, /* probes of another recorder's: only the sidecar is written */
};

/* How Python's functions get into the stacks of CALL_GRAPH_UNWIND */
enum python_frames {
	PYTHON_DEFAULT, /* the next, where the library walks stacks */
	PYTHON_WALK, /* the injected library walks the interpreter's frames */
	PYTHON_TRAMPOLINE, /* CPython makes a piece of native code for each function */
	PYTHON_OFF,
};

#define CALL_GRAPH_DWARF_BYTES	   8192 /* perf's default */
#define CALL_GRAPH_MAX_DWARF_BYTES 65528 /* perf's and the kernel's limit */

/* How launches and their stacks get out of the process */
enum stacks {
	STACKS_AUTO, /* as the next; where that can't be, as the last */
	STACKS_UPROBE,
	STACKS_PROCESS,
};

#define MAX_STACK_FRAMES 127 /* perf's default, and what a log has at most */

/* What samples of perf.data carry as IDENTIFIER; unique within the file. */
#define LAUNCH_EVENT_ID	  1
#define SIDEBAND_EVENT_ID 2
#define HIT_EVENT_ID	  3 /* of probes on the API beside launches of CALL_GRAPH_UNWIND */

struct stack_config {
	enum call_graph call_graph;
	uint32_t dwarf_bytes; /* CALL_GRAPH_DWARF: multiple of 8 */
	enum python_frames python;
	unsigned int max_frames; /* 0: MAX_STACK_FRAMES */
};

/**
 * launch_event__init - the BPF_OUTPUT event that launches go through
 * @ring:    for the kernel: without the callchain that the library walks
 * @file:    for perf.data
 * @session: config1 of @file, by which a sidecar is known to belong to it
 */
void launch_event__init(const struct stack_config *stack, uint64_t session,
			struct perf_event_attr *ring, struct perf_event_attr *file);

/* The dummy event that says what is mapped, forked and executed; the same for both. */
void sideband_event__init(const struct stack_config *stack, struct perf_event_attr *attr);

#endif
