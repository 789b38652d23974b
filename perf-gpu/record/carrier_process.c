// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Launches in logs of the processes' own, of which perf.data is made at the end: no
 * privilege at all is needed, and the recorder does nothing while the command runs. Where
 * what is recorded is wanted before, logs are followed.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/carrier.h"
#include "record/launch_follow.h"
#include "record/launch_merge.h"

struct process_carrier {
	struct carrier carrier;
	uint64_t session;
	bool is_live;
	const struct spool *spool;
	struct tallies *tallies;
	struct output *output;
	struct launch_follow *follow; /* NULL: logs are read at the end */
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
	self->spool = config->spool;
	self->tallies = config->tallies;
	self->is_live = config->is_live;
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
	struct process_carrier *self = self_of(carrier);
	int err;

	(void)pid;
	self->output = output;
	if (!self->is_live)
		return 0;
	err = launch_follow__new(self->spool, self->tallies, self->session, output,
				 &self->follow);
	if (err)
		failure__set(failure, err, NULL, "no memory to follow launch logs");
	return err;
}

static unsigned int process__rights(const struct carrier *carrier)
{
	(void)carrier;
	return 0;
}

/* The processes know. */
static void process__turn(struct carrier *carrier, bool on)
{
	(void)carrier;
	(void)on;
}

static int process__fd(const struct carrier *carrier)
{
	(void)carrier;
	return -1;
}

static int process__drain(struct carrier *carrier)
{
	struct process_carrier *self = self_of(carrier);
	int err;

	if (!self->follow)
		return 0;
	err = launch_follow__poll(self->follow, false);
	self->counts = launch_follow__counts(self->follow);
	return err;
}

static void process__detach(struct carrier *carrier)
{
	(void)carrier;
}

static int process__finish(struct carrier *carrier, const struct spool *spool)
{
	struct process_carrier *self = self_of(carrier);
	int err;

	if (self->follow) {
		err = launch_follow__poll(self->follow, true);
		self->counts = launch_follow__counts(self->follow);
		return err;
	}
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
	struct process_carrier *self = self_of(carrier);

	launch_follow__delete(self->follow);
	free(self);
}

const struct carrier_ops carrier_process = {
	.missing = "they are in no launch log (their process ended before it wrote them, "
		   "or the log is broken)",
	.open = process__open,
	.configure = process__configure,
	.attach = process__attach,
	.rights = process__rights,
	.turn = process__turn,
	.fd = process__fd,
	.drain = process__drain,
	.detach = process__detach,
	.finish = process__finish,
	.losses = process__losses,
	.close = process__close,
};
