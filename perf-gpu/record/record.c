// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/carrier.h"
#include "record/control.h"
#include "record/finish.h"
#include "record/identity.h"
#include "record/injection.h"
#include "record/journal.h"
#include "record/log_server.h"
#include "record/loop.h"
#include "record/output.h"
#include "record/output_lock.h"
#include "record/recover.h"
#include "record/rotation.h"
#include "record/signals.h"
#include "record/size_limit.h"
#include "record/spool.h"
#include "record/survivors.h"
#include "record/workload.h"
#include "util/backup.h"
#include "util/log.h"
#include "util/paths.h"
#include "util/rights.h"
#include "util/session.h"

struct recording {
	const struct record_options *options;
	char library[PATH_MAX];
	bool is_injected; /* into the command */
	uint64_t session;
	struct clock_pair clock;
	struct identity identity; /* with options->run_as */
	struct backup backup;
	struct output_lock lock;
	struct signals signals;
	struct spool spool;
	int journal_fd; /* held while the recorder lives; -1: there is none */
	struct log_server log_server;
	struct injection injection;
	struct carrier *carrier;
	struct output *output;
	struct rotation *rotation; /* NULL: one file has all */
	struct workload *workload;
	struct control *control; /* NULL: all is recorded from the start */
	struct size_limit limit; /* --max-size */
	struct survivors survivors; /* of the command */
	enum absence_sight sight;
};

/* Is perf.data ours? Else its file, which has nothing in it, is dropped at the end. */
static bool has_perfdata(const struct recording *rec)
{
	return rec->options->probe != LAUNCH_PROBE_NONE;
}

static int find_library(struct recording *rec)
{
	char libdir[PATH_MAX];
	int err;

	err = paths__find_libdir(libdir);
	if (err)
		return err;
	if (snprintf(rec->library, sizeof(rec->library), "%s/libperf-gpu-inject.so",
		     libdir) >= (int)sizeof(rec->library)) {
		pr_err("the path of the injected library is too long: %s", libdir);
		return -ENAMETOOLONG;
	}
	return 0;
}

/* Are processes recorded that run already? */
static bool is_attaching(const struct recording *rec)
{
	return rec->options->nr_pids;
}

/* The library is in the processes, or can be put into the command. */
static int check_injection(struct recording *rec)
{
	bool is_needed = rec->options->probe != LAUNCH_PROBE_API;
	int err;

	if (is_attaching(rec)) {
		rec->is_injected = true;
		return control__attach(rec->options->pids, rec->options->nr_pids,
				       rec->library, &rec->control);
	}
	err = injection__check(rec->library, is_needed);
	rec->is_injected = !err;
	if (is_needed)
		return err;
	if (err && rec->options->records_nvtx)
		pr_warning("--nvtx: no NVTX ranges are recorded, since they go into the "
			   "logs of the library that is not loaded");
	return 0;
}

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

static void close_carrier(struct recording *rec)
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
		close_carrier(rec);
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

static int open_carrier(struct recording *rec)
{
	struct failure failure;
	int err;

	err = open_carrier_of(rec, first_carrier(rec->options), &failure);
	return err ? open_other_carrier(rec, err, &failure) : 0;
}

static uid_t user_of_processes(const struct recording *rec)
{
	if (is_attaching(rec))
		return control__uid(rec->control);
	return rec->options->run_as ? rec->identity.uid : geteuid();
}

static int open_rotation(struct recording *rec)
{
	const struct rotation_config config = {
		.options = rec->options->switching,
		.path = rec->options->output,
		.sidecar_path = rec->backup.path[1],
		.spool = &rec->spool,
		.session = rec->session,
		.clock = rec->clock,
		.events = rec->options->events,
		.tallies = &rec->log_server.tallies,
		.output = rec->output,
	};

	return rotation__open(&config, &rec->rotation);
}

static int open_output(struct recording *rec)
{
	const struct output_config config = {
		.path = rec->options->output,
		.argv = rec->options->cmdline,
		.stack = rec->options->stack,
		.session = rec->session,
		.clock = rec->clock,
		.max_bytes = rec->limit.max_bytes,
	};
	int err;

	err = output__open(&config, &rec->output);
	if (err)
		return err;
	err = spool__create(rec->backup.path[1], user_of_processes(rec), &rec->spool);
	if (!err)
		log_server__open(rec->session, &rec->spool,
				 is_attaching(rec) ? rec->options->pids[0] : 0,
				 &rec->log_server);
	if (!err && switch_options__any(&rec->options->switching))
		err = open_rotation(rec);
	return err;
}

static int find_identity(struct recording *rec)
{
	if (!rec->options->run_as)
		return 0;
	return identity__find(rec->options->run_as, &rec->identity);
}

/* Better now than in the command, where the library is to hold its peace. */
static int check_identity(const struct recording *rec)
{
	int err;

	if (!rec->options->run_as)
		return 0;
	err = identity__access(&rec->identity, rec->library, R_OK);
	if (err) {
		pr_err("%s can't read %s: %s; install perf-gpu where all users can",
		       rec->identity.name, rec->library, strerror(-err));
		return err;
	}
	err = identity__access(&rec->identity, rec->spool.path, W_OK | X_OK);
	if (err)
		pr_err("%s can't write to %s: %s; name a place with -o that he gets to",
		       rec->identity.name, rec->spool.path, strerror(-err));
	return err;
}

/*
 * Only where there will be commands, of the user's, to write what there is, or to stop at
 * --max-size or --duration: what isn't there can't go wrong.
 */
static int open_control(struct recording *rec)
{
	if (is_attaching(rec) ||
	    (!rec->options->delay_ms && !rec->options->control_fd && !rec->rotation &&
	     !rec->limit.max_bytes && !rec->options->duration_ms))
		return 0;
	return control__create(&rec->spool, loop__first_state(rec->options->delay_ms),
			       &rec->control);
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
		.control = rec->control && !is_attaching(rec)
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
	if (!err && is_attaching(rec)) {
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

static void release_command(struct recording *rec)
{
	workload__close(rec->workload);
	rec->workload = NULL;
	injection__release(&rec->injection);
}

static int attach_carrier(struct recording *rec, struct failure *failure)
{
	pid_t pid = is_attaching(rec) ? 0 : workload__pid(rec->workload);

	return rec->carrier->ops->attach(rec->carrier, pid, rec->output, failure);
}

/* Another carrier wants another environment, so another process of the command's. */
static int attach_other_carrier(struct recording *rec, int err, struct failure *failure)
{
	err = open_other_carrier(rec, err, failure);
	if (err)
		return err;
	release_command(rec);
	err = prepare_processes(rec);
	if (err)
		return err;
	err = attach_carrier(rec, failure);
	if (err)
		failure__print(failure);
	return err;
}

static int watch_processes(struct recording *rec)
{
	struct failure failure;
	int err;

	err = prepare_processes(rec);
	if (err)
		return err;
	err = attach_carrier(rec, &failure);
	return err ? attach_other_carrier(rec, err, &failure) : 0;
}

/* For who finds the recording when this process has been killed; nothing has begun yet. */
static void write_journal(struct recording *rec)
{
	struct journal journal = {
		.session = rec->session,
		.clock = rec->clock,
		.stack = rec->options->stack,
		.events = rec->options->events,
		.has_perfdata = has_perfdata(rec),
		.has_launch_logs = rec->carrier->ops == &carrier_process,
		.data_offset = output__data_offset(rec->output),
		.argv = rec->options->cmdline,
	};
	const char *data, *slash;

	/* Of several files, what isn't in one yet is in memory: there is nothing to find. */
	if (rec->rotation) {
		journal__create(&rec->spool, NULL, &rec->journal_fd);
		return;
	}
	data = output__temporary(rec->output);
	slash = strrchr(data, '/');
	snprintf(journal.data, sizeof(journal.data), "%s", slash ? slash + 1 : data);
	journal__create(&rec->spool, &journal, &rec->journal_fd);
}

/* To the end */
static unsigned int lasting_rights(const struct recording *rec)
{
	return RIGHTS_FILES | (is_attaching(rec) ? RIGHTS_PROCESSES : 0);
}

/* Everything but the command's start; on failure the caller releases. */
static int recording__prepare(struct recording *rec)
{
	int err;

	err = find_identity(rec);
	if (!err)
		err = find_library(rec);
	if (!err)
		err = check_injection(rec);
	if (!err)
		err = session__make(&rec->session);
	if (!err)
		err = backup__init(rec->options->output, has_perfdata(rec), &rec->backup);
	/* From here on there is something to be removed. */
	if (!err)
		err = signals__open(&rec->signals);
	if (!err)
		err = output_lock__take(rec->backup.path[1], rec->options->output,
					"give each its own, as with -o perf.%h.%r.data",
					&rec->lock);
	if (!err)
		recover__tell(rec->options->output);
	if (!err)
		err = open_carrier(rec);
	if (err)
		return err;
	rec->clock = clock_pair__read();
	err = open_output(rec);
	if (!err)
		err = check_identity(rec);
	if (!err)
		err = open_control(rec);
	if (!err)
		err = watch_processes(rec);
	if (!err)
		write_journal(rec);
	if (!err)
		rights__keep(lasting_rights(rec) |
			     rec->carrier->ops->rights(rec->carrier) |
			     (rec->is_injected ? RIGHTS_PROCESSES : 0));
	return err;
}

/*
 * The recording could not be finished, for want of room or memory: what there is of it must
 * not be lost for that.
 */
static void recording__keep(struct recording *rec)
{
	struct stat st;

	/* Of several files nothing can be made; and somebody may have removed it. */
	if (rec->rotation || rec->journal_fd < 0 || fstat(rec->journal_fd, &st) ||
	    !st.st_nlink)
		return;
	if (!output__counts(rec->output).nr_launches && spool__is_empty(&rec->spool))
		return;
	output__keep(rec->output);
	spool__keep(&rec->spool);
	pr_info("what was recorded is kept: perf-gpu inject --recover -i %s makes a "
		"recording of it",
		rec->options->output);
}

/* @status: the command's; -1: it runs on, or there is none */
static int recording__finish(struct recording *rec, int status, bool *ret_is_whole)
{
	const struct finish_input input = {
		.path = rec->options->output,
		.has_perfdata = has_perfdata(rec),
		.session = rec->session,
		.events = rec->options->events,
		.clock = rec->clock,
		.end = clock_pair__read(),
		.output = rec->output,
		.spool = &rec->spool,
		.tallies = &rec->log_server.tallies,
		.backup = &rec->backup,
		.limit = &rec->limit,
		.losses = rec->carrier->ops->losses(rec->carrier),
		.missing = rec->survivors.nr_processes
				   ? "made when the recording had ended with the command"
				   : rec->carrier->ops->missing,
		.missing_unended = rec->survivors.nr_processes
					   ? NULL
					   : rec->carrier->ops->missing_unended,
		.library = rec->is_injected ? rec->library : NULL,
		.has_capture_range = rec->options->has_capture_range,
		.sight = rec->sight,
		/* One that was interrupted tells nothing by that. */
		.status = rec->signals.end_signal ? -1 : status,
	};
	int err;

	/* Who has ended since may have come last. */
	log_server__serve(&rec->log_server);
	if (rec->rotation)
		err = finish__rotation(&input, rec->rotation,
				       rec->options->switching.is_switched, ret_is_whole);
	else
		err = finish__run(&input, ret_is_whole);

	if (err)
		recording__keep(rec);
	if (!err)
		survivors__print(&rec->survivors);
	if (!err && rec->control)
		*ret_is_whole &= control__is_whole(rec->control);
	return err;
}

static void recording__release(struct recording *rec)
{
	release_command(rec);
	control__close(rec->control);
	close_carrier(rec);
	rotation__close(rec->rotation);
	output__close(rec->output);
	log_server__close(&rec->log_server);
	spool__remove(&rec->spool);
	if (rec->journal_fd >= 0)
		close(rec->journal_fd);
	identity__release(&rec->identity);
	signals__close(&rec->signals);
	output_lock__release(&rec->lock);
}

static bool sees_mappings(const struct recording *rec)
{
	return rec->carrier->ops == &carrier_uprobe || rec->carrier->ops == &carrier_api;
}

static enum absence_sight find_sight(const struct recording *rec,
				     const struct cuda_watch *watch)
{
	if (sees_mappings(rec) && !rec->carrier->ops->losses(rec->carrier).nr_sideband)
		return ABSENCE_TOLD;
	return watch->nr_looks ? ABSENCE_LOOKED : ABSENCE_BLIND;
}

static struct loop make_loop(struct recording *rec)
{
	const bool is_watched = rec->workload && rec->is_injected && !is_attaching(rec);

	return (struct loop){
		.signals = &rec->signals,
		.carrier = rec->carrier,
		.output = rec->output,
		.rotation = rec->rotation,
		.switches = rec->options->switching.is_switched,
		.spool = &rec->spool,
		.log_server = &rec->log_server,
		.workload = rec->workload,
		.control = rec->control,
		.is_attached = is_attaching(rec),
		.control_fd = rec->options->control_fd,
		.limit = &rec->limit,
		.watch = {.pid = is_watched ? workload__pid(rec->workload) : 0,
			  .users = output__cuda_users(rec->output),
			  .spool = &rec->spool},
		.has_capture_range = rec->options->has_capture_range,
		.delay_ms = rec->options->delay_ms,
		.duration_ms = rec->options->duration_ms,
		.name = rec->options->command[0],
	};
}

/*
 * While the command runs on: its processes stop recording when their logs are gone, and
 * the kernel when nobody has its events open.
 */
static int finish_early(struct recording *rec, bool *ret_is_whole)
{
	int err = recording__finish(rec, -1, ret_is_whole);

	close_carrier(rec);
	log_server__close(&rec->log_server);
	spool__remove(&rec->spool);
	return err;
}

/*
 * Who was interrupted until now is not to find the command running: a signal of the terminal
 * has come before there was a process of the command's, and one that comes later is pending
 * in that, too. Return: 0 or a negative errno, printed.
 */
static int start_command(struct recording *rec, int *ret_status)
{
	const int signal = signals__end_signal(&rec->signals);

	if (!signal)
		return workload__start(rec->workload, ret_status);
	pr_warning("%s was not run: signal %d (%s) came before", rec->options->command[0],
		   signal, strsignal(signal));
	*ret_status = 128 + signal;
	return -EINTR;
}

/* Of one that was interrupted, they may be about to end. */
static struct survivors find_survivors(const struct recording *rec,
				       bool has_command_ended)
{
	if (is_attaching(rec) || !rec->is_injected || !has_command_ended ||
	    rec->signals.end_signal)
		return (struct survivors){};
	return survivors__find(&rec->spool);
}

/* Return: 0, or a negative errno if no recording was made. */
static int recording__run(struct recording *rec, int *ret_status, bool *ret_is_whole)
{
	bool is_finished = false;
	bool runs_on;
	struct loop loop;
	int err, wait_err = 0;

	err = recording__prepare(rec);
	if (err)
		return err;
	loop = make_loop(rec);
	err = loop__begin(&loop);
	if (!err && rec->workload)
		err = start_command(rec, ret_status);
	if (err)
		return err;
	err = loop__run(&loop);
	runs_on = rec->limit.reached_ns || loop.is_time_up;
	/* Before the right to read other processes' environments is given up */
	if (!err)
		rec->survivors = find_survivors(rec, !runs_on);
	rec->sight = find_sight(rec, &loop.watch);
	/* Now for what the processes have written. */
	rights__keep(lasting_rights(rec));
	if (!err && rec->workload && runs_on) {
		err = finish_early(rec, ret_is_whole);
		is_finished = true;
		loop__outlast(&loop);
	}
	if (rec->workload)
		wait_err = workload__wait(rec->workload, ret_status);
	if (!err)
		err = wait_err;
	if (is_finished)
		return err;
	if (!err)
		return recording__finish(rec, is_attaching(rec) ? -1 : *ret_status,
					 ret_is_whole);
	recording__keep(rec);
	return err;
}

void record__run(const struct record_options *options, int *ret_status)
{
	struct recording rec = {.options = options,
				.signals = {.fd = -1},
				.lock = {.fd = -1},
				.journal_fd = -1,
				.log_server = {.fd = -1}};
	int status = EXIT_SUCCESS;
	bool is_whole = false;
	int err;

	rec.limit.max_bytes = options->max_bytes;
	err = recording__run(&rec, &status, &is_whole);
	recording__release(&rec);
	*ret_status =
		status == EXIT_SUCCESS && (err || !is_whole) ? EXIT_FAILURE : status;
}
