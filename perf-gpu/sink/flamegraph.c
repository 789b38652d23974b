// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up samples by stack and GPU, and puts the sums into a flame (flamegraph/flame.h)
 * when all are there. What is drawn of it is its owner's matter.
 *
 * The fold (sink/stack_fold.h) tells stacks and events apart, and the shares that hang on
 * each of its leaves the GPUs: mostly one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/flame.h"
#include "join/devices.h"
#include "sink/event_unit.h"
#include "sink/frame_names.h"
#include "sink/recording_text.h"
#include "sink/sink.h"
#include "sink/stack_fold.h"
#include "util/log.h"
#include "util/sum.h"

#define NO_SHARE UINT32_MAX

/* What of a leaf was on one GPU */
struct share {
	uint32_t node; /* of the fold */
	uint32_t next; /* of the same node, or NO_SHARE */
	int64_t device;
	uint64_t nr, period;
};

struct flamegraph_sink {
	struct sink sink; /* first: what ops get is this */
	struct flame *flame;
	enum flame_recording recording;
	enum event_weight weight;
	struct frame_names *names;
	struct stack_fold *fold;
	struct share *shares;
	size_t nr_shares, nr_allocated_shares;
	uint32_t *first_shares; /* by node of the fold */
	size_t nr_first_shares;
};

static int out_of_memory(void)
{
	pr_err("no memory for the flame graph: choose one event with -e");
	return -ENOMEM;
}

/* By the numbers that labels have; 0 or -ENOMEM */
static int name_devices(struct flame *flame, const struct sidecar *sidecar)
{
	struct devices *devices;
	int err = devices__new(sidecar, &devices);

	if (err)
		return err;
	for (size_t gpu = 0; gpu < devices__nr(devices) && !err; gpu++) {
		const struct sidecar_device *device = devices__description(devices, gpu);

		if (device && *device->name)
			err = flame__name_device(
				flame, devices__shown_number(devices, gpu), device->name);
	}
	devices__delete(devices);
	return err;
}

static int flamegraph__start(struct sink *sink, const struct sink_input *input)
{
	struct flamegraph_sink *graph = (struct flamegraph_sink *)sink;
	int err;

	graph->flame->events |= input->events;
	for (uint32_t event = 0; event < GPU_LOG_NR_EVENTS; event++)
		if (event_unit__is_bytes(event, graph->weight))
			graph->flame->events_in_bytes |= GPU_LOG_EVENT_BIT(event);
	err = recording_text(input, &graph->flame->about[graph->recording]);
	if (err) {
		pr_err("cannot make the heading of the flame graph: %s", strerror(-err));
		return err;
	}
	if (name_devices(graph->flame, input->sidecar) ||
	    frame_names__new(input, &graph->names) ||
	    stack_fold__new(graph->names, &graph->fold))
		return out_of_memory();
	return 0;
}

/* first_shares has room for all nodes of the fold; 0 or -ENOMEM. */
static int reserve_nodes(struct flamegraph_sink *graph)
{
	size_t nr_nodes = stack_fold__nr(graph->fold);
	size_t nr = graph->nr_first_shares ? graph->nr_first_shares : 1024;
	uint32_t *new;

	if (nr_nodes <= graph->nr_first_shares)
		return 0;
	while (nr < nr_nodes)
		nr *= 2;
	new = reallocarray(graph->first_shares, nr, sizeof(*new));
	if (!new)
		return -ENOMEM;
	for (size_t i = graph->nr_first_shares; i < nr; i++)
		new[i] = NO_SHARE;
	graph->first_shares = new;
	graph->nr_first_shares = nr;
	return 0;
}

static int add_share(struct flamegraph_sink *graph, uint32_t node, int64_t device)
{
	size_t nr = graph->nr_allocated_shares ? 2 * graph->nr_allocated_shares : 1024;
	struct share *new;

	if (graph->nr_shares == graph->nr_allocated_shares) {
		new = reallocarray(graph->shares, nr, sizeof(*new));
		if (!new)
			return -ENOMEM;
		graph->shares = new;
		graph->nr_allocated_shares = nr;
	}
	graph->shares[graph->nr_shares] = (struct share){
		.node = node,
		.device = device,
		.next = graph->first_shares[node],
	};
	graph->first_shares[node] = (uint32_t)graph->nr_shares++;
	return 0;
}

static int flamegraph__sample(struct sink *sink, const struct gpu_sample *sample)
{
	struct flamegraph_sink *graph = (struct flamegraph_sink *)sink;
	int64_t device = sample->labels ? sample->labels->device : FLAME_NO_DEVICE;
	const struct frame_name *comm;
	uint32_t node, i;

	if (frame_names__comm(graph->names, sample, &comm) ||
	    stack_fold__add(graph->fold, sample, comm, &node) || reserve_nodes(graph))
		return out_of_memory();
	for (i = graph->first_shares[node]; i != NO_SHARE; i = graph->shares[i].next)
		if (graph->shares[i].device == device)
			break;
	if (i == NO_SHARE) {
		if (add_share(graph, node, device))
			return out_of_memory();
		i = graph->first_shares[node];
	}
	graph->shares[i].nr++;
	sum__add(&graph->shares[i].period, sample->period);
	return 0;
}

/* A node comes behind its parent in the fold, so that its parent's number is known. */
static int hand_over(struct flamegraph_sink *graph, uint32_t *node_of)
{
	for (uint32_t i = 0; i < stack_fold__nr(graph->fold); i++) {
		const struct stack_node *from = stack_fold__node(graph->fold, i);
		uint32_t node = from->parent == STACK_FOLD_NO_NODE
					? FLAME_NO_NODE
					: node_of[from->parent];
		uint32_t event =
			from->event == STACK_FOLD_NO_EVENT ? FLAME_NO_EVENT : from->event;

		if (flame__node(graph->flame, from->name, event, &node))
			return -ENOMEM;
		node_of[i] = node;
	}
	for (size_t i = 0; i < graph->nr_shares; i++) {
		const struct share *share = &graph->shares[i];
		struct flame_weight weight = {
			.node = node_of[share->node],
			.recording = graph->recording,
			.device = share->device,
			.nr = share->nr,
			.period = share->period,
		};

		if (flame__add_weight(graph->flame, &weight))
			return -ENOMEM;
	}
	return 0;
}

static int flamegraph__finish(struct sink *sink)
{
	struct flamegraph_sink *graph = (struct flamegraph_sink *)sink;
	uint32_t *node_of = calloc(stack_fold__nr(graph->fold) + 1, sizeof(*node_of));
	int err = node_of ? hand_over(graph, node_of) : -ENOMEM;

	free(node_of);
	return err ? out_of_memory() : 0;
}

static void flamegraph__delete(struct sink *sink)
{
	struct flamegraph_sink *graph = (struct flamegraph_sink *)sink;

	if (!graph)
		return;
	stack_fold__delete(graph->fold);
	frame_names__delete(graph->names);
	free(graph->shares);
	free(graph->first_shares);
	free(graph);
}

int sink_flamegraph__new(struct flame *flame, enum flame_recording recording,
			 enum event_weight weight, struct sink **ret)
{
	static const struct sink_ops ops = {
		.start = flamegraph__start,
		.sample = flamegraph__sample,
		.finish = flamegraph__finish,
		.delete = flamegraph__delete,
	};
	struct flamegraph_sink *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return out_of_memory();
	graph->sink.ops = &ops;
	graph->flame = flame;
	graph->recording = recording;
	graph->weight = weight;
	*ret = &graph->sink;
	return 0;
}
