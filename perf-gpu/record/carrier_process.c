// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Launches in logs of the processes' own, of which perf.data is made at the end: no
 * privilege at all is needed, and the recorder does nothing while the command runs.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/carrier.h"
#include "record/launch_merge.h"

struct process_carrier {
	struct carrier carrier;
	uint64_t session;
	struct output *output;
	struct launch_reader_counts counts;
};

static struct process_carrier *self_of(const struct carrier *carrier)
{
	return (struct process_carrier *)carrier;
}

static int process__open(const struct carrier_config *config, struct carrier **ret,
			 struct failure *failure)
{
	struct process_carrier *self = calloc(1, sizeof(*self));

	if (!self)
		return failure__set(failure, -ENOMEM, NULL, "no memory to record");
	self->carrier.ops = &carrier_process;
	self->session = config->session;
	*ret = &self->carrier;
	return 0;
}

static void process__configure(const struct carrier *carrier,
			       struct injection_config *config)
{
	(void)carrier;
	config->has_launch_log = true;
}

static int process__attach(struct carrier *carrier, pid_t pid, struct output *output,
			   struct failure *failure)
{
	(void)pid;
	(void)failure;
	self_of(carrier)->output = output;
	return 0;
}

static int process__fd(const struct carrier *carrier)
{
	(void)carrier;
	return -1;
}

static int process__drain(struct carrier *carrier)
{
	(void)carrier;
	return 0;
}

static void process__detach(struct carrier *carrier)
{
	(void)carrier;
}

static int process__finish(struct carrier *carrier, const struct spool *spool)
{
	struct process_carrier *self = self_of(carrier);

	return launch_merge__run(spool, self->session, self->output, &self->counts);
}

static struct carrier_losses process__losses(const struct carrier *carrier)
{
	const struct process_carrier *self = self_of(carrier);

	return (struct carrier_losses){
		.nr_log = self->counts.nr_lost,
		.nr_stack = self->counts.nr_lost_stacks,
	};
}

static void process__close(struct carrier *carrier)
{
	free(self_of(carrier));
}

const struct carrier_ops carrier_process = {
	.missing = "they are in no launch log",
	.open = process__open,
	.configure = process__configure,
	.attach = process__attach,
	.fd = process__fd,
	.drain = process__drain,
	.detach = process__detach,
	.finish = process__finish,
	.losses = process__losses,
	.close = process__close,
};
