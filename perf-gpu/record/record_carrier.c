// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In which way launches come, and what is recorded made ready for it: another way wants
 * another environment, and so another process of the command's.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/recording_internal.h"
#include "util/log.h"

static int open_carrier_of(struct recording *rec, const struct carrier_ops *ops,
			   struct failure *failure)
{
	const struct carrier_config config = {
		.library = rec->library,
		.session = rec->session,
		.stack = rec->options->stack,
		.events = rec->options->events,
		.nr_pages = rec->options->nr_pages,
		.spool = &rec->spool,
		.tallies = &rec->log_server.tallies,
		.is_live = switch_options__any(&rec->options->switching),
		.running = rec->options->pids,
		.nr_running = rec->options->nr_pids,
	};

	return ops->open(&config, &rec->carrier, failure);
}

void recording__close_carrier(struct recording *rec)
{
	if (rec->carrier)
		rec->carrier->ops->close(rec->carrier);
	rec->carrier = NULL;
}

/*
 * The first way that was tried has failed with @err: take the other, if the user has
 * left that to us. The kernel's ways to walk a stack have only the one.
 */
static int open_other_carrier(struct recording *rec, int err, struct failure *failure)
{
	if (rec->options->stacks == STACKS_AUTO &&
	    rec->options->stack.call_graph == CALL_GRAPH_UNWIND) {
		pr_info("stacks are taken within the process: %s", failure->why);
		if (*failure->advice)
			pr_debug("for stacks by uprobes: %s", failure->advice);
		recording__close_carrier(rec);
		err = open_carrier_of(rec, &carrier_process, failure);
	}
	if (err)
		failure__print(failure);
	return err;
}

static const struct carrier_ops *first_carrier(const struct record_options *options)
{
	if (options->probe == LAUNCH_PROBE_API)
		return &carrier_api;
	if (options->probe == LAUNCH_PROBE_NONE)
		return &carrier_none;
	if (options->stacks == STACKS_PROCESS)
		return &carrier_process;
	return &carrier_uprobe;
}

int recording__open_carrier(struct recording *rec)
{
	struct failure failure;
	int err;

	err = open_carrier_of(rec, first_carrier(rec->options), &failure);
	return err ? open_other_carrier(rec, err, &failure) : 0;
}

static int make_injection(struct recording *rec)
{
	struct injection_config config = {
		.library = rec->is_injected ? rec->library : NULL,
		.spool = rec->spool.path,
		.log_server = rec->log_server.name,
		.session = rec->session,
		.events = rec->options->events,
		.records_nvtx = rec->options->records_nvtx,
		.call_graph = rec->options->stack.call_graph,
		.python = rec->options->stack.python,
		.max_frames = rec->options->stack.max_frames,
		.control = rec->control && !recording__is_attaching(rec)
				   ? control__path(rec->control)
				   : NULL,
		.has_capture_range = rec->options->has_capture_range,
		.shares = rec->options->shares,
	};

	rec->carrier->ops->configure(rec->carrier, &config);
	return injection__init(&config, &rec->injection);
}

/* What is recorded knows how, and waits for more. */
static int prepare_processes(struct recording *rec)
{
	char *const nothing[] = {NULL};
	char *const *environment = rec->injection.environment;
	int err;

	err = make_injection(rec);
	if (!err && recording__is_attaching(rec)) {
		err = control__configure(rec->control, &rec->spool, environment);
		environment = nothing;
	}
	if (err || !rec->options->command[0])
		return err;
	return workload__fork(rec->options->command, environment,
			      &rec->signals.caller_mask,
			      rec->options->run_as ? &rec->identity : NULL,
			      &rec->workload);
}

void recording__release_command(struct recording *rec)
{
	workload__close(rec->workload);
	rec->workload = NULL;
	injection__release(&rec->injection);
}

static int attach_carrier(struct recording *rec, struct failure *failure)
{
	pid_t pid = recording__is_attaching(rec) ? 0 : workload__pid(rec->workload);

	return rec->carrier->ops->attach(rec->carrier, pid, rec->output, failure);
}

/* Another carrier wants another environment, so another process of the command's. */
static int attach_other_carrier(struct recording *rec, int err, struct failure *failure)
{
	err = open_other_carrier(rec, err, failure);
	if (err)
		return err;
	recording__release_command(rec);
	err = prepare_processes(rec);
	if (err)
		return err;
	err = attach_carrier(rec, failure);
	if (err)
		failure__print(failure);
	return err;
}

int recording__watch_processes(struct recording *rec)
{
	struct failure failure;
	int err;

	err = prepare_processes(rec);
	if (err)
		return err;
	err = attach_carrier(rec, &failure);
	return err ? attach_other_carrier(rec, err, &failure) : 0;
}
