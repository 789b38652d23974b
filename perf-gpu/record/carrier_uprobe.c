// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_log.h"
#include "launch_event.h"
#include "marker_code.h"
#include "perfdata/sample.h"
#include "record/carrier.h"
#include "record/fallback.h"
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
	struct fallback *fallback; /* for processes that can't tell of launches */
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
		 facts->is_quick_nop5 ? MARKER_NAME_CALL : MARKER_NAME);
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

static int take_sideband(void *ctx, const struct perf_event_header *event)
{
	struct uprobe_carrier *self = ctx;
	int err = output__sideband(self->output, event);

	if (!err)
		fallback__look(self->fallback, event, self->config.library);
	return err;
}

static int watch(struct uprobe_carrier *self, pid_t pid, struct failure *failure)
{
	if (!pid)
		return watch_running(self, failure);
	return sideband__open(pid, output__sideband_attr(self->output), take_sideband,
			      self, &self->sideband, failure);
}

static bool is_taken(const struct launch_event *event)
{
	return event->log_id && event->api == LAUNCH_API_TAKEN;
}

/* The process waits for the answer. */
static void add_taken(struct uprobe_carrier *self, uint32_t pid,
		      const struct launch_event *event)
{
	int err = fallback__add(self->fallback, (pid_t)pid,
				(uint32_t)event->correlation_id);

	spool__answer(self->config.spool, event->log_id,
		      err ? GPU_LOG_UNPROBED_SUFFIX : GPU_LOG_PROBED_SUFFIX);
}

/* As output__frames(), but for who can't tell of launches. */
static int take_frames(void *ctx, const void *data, size_t bytes)
{
	const struct launch_frames *launch = data;
	struct uprobe_carrier *self = ctx;

	if (bytes < sizeof(*launch) || !is_taken(&launch->event))
		return output__frames(self->output, data, bytes);
	add_taken(self, launch->pid, &launch->event);
	return 0;
}

/* As output__sample(), likewise. */
static int take_sample(void *ctx, const struct perf_event_header *event)
{
	struct uprobe_carrier *self = ctx;
	struct perfdata_sample sample;
	struct launch_event launch;

	if (perfdata_sample__parse(output__ring_attr(self->output), event, &sample) ||
	    sample.raw_bytes < sizeof(launch))
		return output__sample(self->output, event);
	memcpy(&launch, sample.raw, sizeof(launch));
	if (!is_taken(&launch))
		return output__sample(self->output, event);
	add_taken(self, sample.pid, &launch);
	return 0;
}

static int new_fallback(struct uprobe_carrier *self)
{
	const struct fallback_config config = {
		.facts = *probe__facts(self->probe),
		.events = self->config.events,
		.output = self->output,
		.nr_pages = self->config.nr_pages,
	};

	return fallback__new(&config, &self->fallback);
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
	err = new_fallback(self);
	if (err)
		return failure__set(failure, err, NULL, "no memory for a probe");
	if (reads_frames(self))
		return frame_ring__open(probe__frame_rings_fd(self->probe),
					frame_ring__bytes(self->config.nr_pages),
					take_frames, self, &self->frame_ring, failure);
	return ring__open(probe__sample_rings_fd(self->probe), output__ring_attr(output),
			  self->config.nr_pages, take_sample, self, &self->sample_ring,
			  failure);
}

static unsigned int uprobe__rights(const struct carrier *carrier)
{
	const struct uprobe_carrier *self = self_of(carrier);
	const bool is_multi = probe__facts(self->probe)->is_uprobe_multi;

	return RIGHTS_BPF | RIGHTS_PROCESSES | (is_multi ? 0 : RIGHTS_ADMIN);
}

static void uprobe__turn(struct carrier *carrier, bool on)
{
	fallback__turn(self_of(carrier)->fallback, on);
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
	err = reads_frames(self) ? frame_ring__drain(self->frame_ring)
				 : ring__drain(self->sample_ring);
	return err ? err : fallback__drain(self->fallback);
}

static void uprobe__detach(struct carrier *carrier)
{
	const struct uprobe_carrier *self = self_of(carrier);

	probe__detach(self->probe);
	if (self->fallback)
		fallback__detach(self->fallback);
}

static int uprobe__finish(struct carrier *carrier, const struct spool *spool)
{
	int err = uprobe__drain(carrier);

	(void)spool;
	fallback__tell(self_of(carrier)->fallback);
	return err;
}

static struct carrier_losses uprobe__losses(const struct carrier *carrier)
{
	const struct uprobe_carrier *self = self_of(carrier);

	return (struct carrier_losses){
		.nr_ring = probe__nr_lost_ring(self->probe) +
			   fallback__nr_lost_ring(self->fallback),
		.nr_nodes = probe__nr_lost_nodes(self->probe),
		.nr_stack = probe__nr_lost_stack(self->probe),
		.nr_sideband = sideband__nr_lost(self->sideband) +
			       fallback__nr_lost_sideband(self->fallback),
	};
}

static void uprobe__close(struct carrier *carrier)
{
	struct uprobe_carrier *self = self_of(carrier);

	sideband__close(self->sideband);
	process_tree__delete(self->tree);
	frame_ring__close(self->frame_ring);
	ring__close(self->sample_ring);
	fallback__close(self->fallback);
	probe__close(self->probe);
	free(self);
}

const struct carrier_ops carrier_uprobe = {
	.missing = "not seen by the probe; does a process use a copy of the "
		   "injected library?",
	.missing_unended = "they were under way when their processes ended (killed, "
			   "crashed)",
	.open = uprobe__open,
	.configure = uprobe__configure,
	.attach = uprobe__attach,
	.rights = uprobe__rights,
	.turn = uprobe__turn,
	.fd = uprobe__fd,
	.drain = uprobe__drain,
	.detach = uprobe__detach,
	.finish = uprobe__finish,
	.losses = uprobe__losses,
	.close = uprobe__close,
};
