// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/carrier.h"
#include "record/frame_ring.h"
#include "record/probe.h"
#include "record/process_tree.h"
#include "record/ring.h"
#include "record/sideband.h"
#include "record/synthesize.h"
#include "util/log.h"

struct uprobe_carrier {
	struct carrier carrier;
	struct carrier_config config;
	struct probe *probe;
	struct sideband *sideband;
	struct process_tree
		*tree; /* of processes that ran before; NULL: of the command */
	struct output *output;
	/* One of the two, by --call-graph */
	struct frame_ring *frame_ring;
	struct ring *sample_ring;
};

static struct uprobe_carrier *self_of(const struct carrier *carrier)
{
	return (struct uprobe_carrier *)carrier;
}

static bool reads_frames(const struct uprobe_carrier *self)
{
	return self->config.stack.call_graph == CALL_GRAPH_UNWIND;
}

static int uprobe__open(const struct carrier_config *config, struct carrier **ret,
			struct failure *failure)
{
	const struct probe_config probe_config = {
		.library = config->library,
		.session = config->session,
		.reads_frames = config->stack.call_graph == CALL_GRAPH_UNWIND,
		.wakeup_bytes = frame_ring__bytes(config->nr_pages) / 4,
	};
	const struct probe_facts *facts;
	struct uprobe_carrier *self;
	int err;

	self = calloc(1, sizeof(*self));
	if (!self)
		return failure__set(failure, -ENOMEM, NULL, "no memory for a probe");
	self->carrier.ops = &carrier_uprobe;
	self->config = *config;
	err = probe__open(&probe_config, &self->probe, failure);
	if (err) {
		free(self);
		return err;
	}
	facts = probe__facts(self->probe);
	pr_debug("uprobes through %s, %s marker",
		 facts->is_uprobe_multi ? "uprobe_multi" : "perf events",
		 facts->is_quick_nop5 ? "5-byte nop" : "1-byte nop");
	*ret = &self->carrier;
	return 0;
}

static void uprobe__configure(const struct carrier *carrier,
			      struct injection_config *config)
{
	config->has_quick_nop5 = probe__facts(self_of(carrier)->probe)->is_quick_nop5;
}

/* The kernel tells of all processes there are. */
static int take_if_ours(void *ctx, const struct perf_event_header *event)
{
	struct uprobe_carrier *self = ctx;

	return process_tree__has(self->tree, event)
		       ? output__sideband(self->output, event)
		       : 0;
}

/*
 * An event on each thread and CPU would be 128,000 of them for 1,000 threads on 128
 * CPUs, and threads would begin while they are opened: one on each CPU sees all.
 */
static int watch_running(struct uprobe_carrier *self, struct failure *failure)
{
	const bool has_data = output__sideband_attr(self->output)->mmap_data;
	int err;

	err = process_tree__new(self->config.running, self->config.nr_running,
				&self->tree);
	if (err)
		return failure__set(failure, err, NULL, "no memory for processes");
	err = sideband__open(-1, output__sideband_attr(self->output), take_if_ours, self,
			     &self->sideband, failure);
	for (size_t i = 0; i < self->config.nr_running && !err; i++) {
		err = synthesize__process(self->output, self->config.running[i],
					  has_data);
		if (err)
			failure__set(failure, err, NULL,
				     "can't read mappings and threads of process %d: %s",
				     (int)self->config.running[i], strerror(-err));
	}
	return err;
}

static int watch(struct uprobe_carrier *self, pid_t pid, struct failure *failure)
{
	if (!pid)
		return watch_running(self, failure);
	return sideband__open(pid, output__sideband_attr(self->output), output__sideband,
			      self->output, &self->sideband, failure);
}

/* The side-band first: the ring takes less where locked memory is scarce. */
static int uprobe__attach(struct carrier *carrier, pid_t pid, struct output *output,
			  struct failure *failure)
{
	struct uprobe_carrier *self = self_of(carrier);
	int err;

	self->output = output;
	err = watch(self, pid, failure);
	if (err)
		return err;
	if (reads_frames(self))
		return frame_ring__open(probe__frame_rings_fd(self->probe),
					frame_ring__bytes(self->config.nr_pages),
					output__frames, output, &self->frame_ring,
					failure);
	return ring__open(probe__sample_rings_fd(self->probe), output__ring_attr(output),
			  self->config.nr_pages, output__sample, output,
			  &self->sample_ring, failure);
}

static int uprobe__fd(const struct carrier *carrier)
{
	const struct uprobe_carrier *self = self_of(carrier);

	return reads_frames(self) ? frame_ring__fd(self->frame_ring)
				  : ring__fd(self->sample_ring);
}

static int uprobe__drain(struct carrier *carrier)
{
	struct uprobe_carrier *self = self_of(carrier);
	int err;

	err = sideband__drain(self->sideband);
	if (err)
		return err;
	return reads_frames(self) ? frame_ring__drain(self->frame_ring)
				  : ring__drain(self->sample_ring);
}

static void uprobe__detach(struct carrier *carrier)
{
	probe__detach(self_of(carrier)->probe);
}

static int uprobe__finish(struct carrier *carrier, const struct spool *spool)
{
	(void)spool;
	return uprobe__drain(carrier);
}

static struct carrier_losses uprobe__losses(const struct carrier *carrier)
{
	const struct uprobe_carrier *self = self_of(carrier);

	return (struct carrier_losses){
		.nr_ring = probe__nr_lost_ring(self->probe),
		.nr_nodes = probe__nr_lost_nodes(self->probe),
		.nr_stack = probe__nr_lost_stack(self->probe),
		.nr_sideband = sideband__nr_lost(self->sideband),
	};
}

static void uprobe__close(struct carrier *carrier)
{
	struct uprobe_carrier *self = self_of(carrier);

	sideband__close(self->sideband);
	process_tree__delete(self->tree);
	frame_ring__close(self->frame_ring);
	ring__close(self->sample_ring);
	probe__close(self->probe);
	free(self);
}

const struct carrier_ops carrier_uprobe = {
	.missing = "they did not reach the probe; does a process use a copy of the "
		   "injected library?",
	.open = uprobe__open,
	.configure = uprobe__configure,
	.attach = uprobe__attach,
	.fd = uprobe__fd,
	.drain = uprobe__drain,
	.detach = uprobe__detach,
	.finish = uprobe__finish,
	.losses = uprobe__losses,
	.close = uprobe__close,
};
