/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flame graph is drawn of: the stacks of one or two recordings as a tree, and how
 * much of each event, on each GPU, ended in each leaf.
 *
 *   node 0 app ── 1 main ── 2 cudaLaunchKernel ── 3 [GPU_Kernel]sgemm
 *   weights:  node 3, device 0, FLAME_NEW: 120 calls, 31456 ns
 *             node 3, device 1, FLAME_NEW:  10 calls,  2914 ns
 *             node 3, device 0, FLAME_OLD: 120 calls, 35012 ns
 *
 * A node comes behind its parent. Frames are the same if text and class are: files may
 * have been elsewhere when the other recording was made.
 *
 * The texts are its own: it outlives what it was read from. One thread.
 */
#ifndef PERF_GPU_FLAMEGRAPH_FLAME_H
#define PERF_GPU_FLAMEGRAPH_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_log.h"
#include "join/occurrences.h"
#include "sink/frame_names.h"

#define FLAME_NO_NODE	  UINT32_MAX
#define FLAME_NO_EVENT	  UINT32_MAX
#define FLAME_NO_DEVICE	  (-1)
#define FLAME_ALL_DEVICES (-2)

enum flame_recording {
	FLAME_NEW,
	FLAME_OLD, /* of --differential */
};

struct flame_name {
	char *text; /* as it came from outside: may have any byte but NUL */
	char *file; /* NULL: none known, or several */
	/* Without arguments and parameters (symbol/short_name.h); NULL: it has none */
	char *short_text;
	enum frame_class class;
	bool has_files; /* several */
};

struct flame_node {
	uint32_t name; /* index in names */
	uint32_t parent; /* FLAME_NO_NODE: it is a root */
	uint32_t depth; /* 0: a root */
	uint32_t event; /* of a leaf: enum gpu_log_event; else FLAME_NO_EVENT */
};

struct flame_weight {
	uint32_t node; /* a leaf */
	uint32_t recording; /* enum flame_recording */
	int64_t device; /* number of the GPU in the recording, or FLAME_NO_DEVICE */
	uint64_t nr, period; /* calls, and the sum of their periods */
};

struct flame_device {
	int64_t number;
	char *name; /* "NVIDIA H200" */
};

/* The arrays are for reading; the functions below fill them. */
struct flame {
	struct flame_name *names;
	size_t nr_names;
	struct flame_node *nodes;
	size_t nr_nodes;
	struct flame_weight *weights;
	size_t nr_weights;
	struct flame_device *devices; /* those whose names are known */
	size_t nr_devices;
	/* What each recording is of, for people: sink/recording_text.h; NULL: not told */
	char *about[2]; /* by enum flame_recording */
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that were asked for */
	uint32_t events_in_bytes; /* of these, those whose periods are bytes, not ns */
	struct flame_private *private;
};

/* What an event comes to, by node: of the node itself and all below */
struct flame_totals {
	uint64_t *periods, *nrs; /* one for each node */
	uint64_t period, nr; /* of all roots */
};

/**
 * flame__new - without a stack
 * @ret: released by flame__delete(); written on success only
 *
 * Return: 0 or -ENOMEM, as all below that return an int.
 */
int flame__new(struct flame **ret);
void flame__delete(struct flame *flame); /* NULL is fine */

/**
 * flame__node - go down from a node, or make what isn't there
 * @name:  copied
 * @event: of a leaf; else FLAME_NO_EVENT
 * @node:  in: the parent, or FLAME_NO_NODE; out: its child, on success only
 */
int flame__node(struct flame *flame, const struct frame_name *name, uint32_t event,
		uint32_t *node);

/*
 * As much of a name as has room for so many characters: all of it, what its colour doesn't
 * tell ("sgemm" of "[GPU_Kernel]sgemm"), the short one, or, of a kernel, that without its
 * scopes, which may still be too long.
 */
const char *flame_name__fitting(const struct flame_name *name, size_t room);

/* Add a weight; there is one of a node, device and recording. */
int flame__add_weight(struct flame *flame, const struct flame_weight *weight);

/**
 * flame__name_device - tell the name of a GPU
 * @name: copied; the first one that is told of a number is its name
 */
int flame__name_device(struct flame *flame, int64_t number, const char *name);

/**
 * flame__sum - add an event up
 * @device: a number, FLAME_NO_DEVICE or FLAME_ALL_DEVICES
 * @ret:    released by flame_totals__release(); written on success only
 */
int flame__sum(const struct flame *flame, uint32_t event, int64_t device,
	       enum flame_recording recording, struct flame_totals *ret);
void flame_totals__release(struct flame_totals *totals);

/**
 * sink_flamegraph__new - add a recording to a flame (sink/flamegraph.c)
 * @flame:  filled by finish(), if nothing failed; must outlive the sink
 * @weight: as in source_options, whose has_label_values tells GPUs apart
 * @ret:    released through ops->delete; written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int sink_flamegraph__new(struct flame *flame, enum flame_recording recording,
			 enum event_weight weight, struct sink **ret);

#endif
