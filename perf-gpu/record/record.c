// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/finish.h"
#include "record/journal.h"
#include "record/loop.h"
#include "record/recording_internal.h"
#include "record/recover.h"
#include "util/log.h"
#include "util/paths.h"
#include "util/rights.h"
#include "util/session.h"

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

/* The library is in the processes, or can be put into the command. */
static int check_injection(struct recording *rec)
{
	bool is_needed = rec->options->probe != LAUNCH_PROBE_API;
	int err;

	if (recording__is_attaching(rec)) {
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

static uid_t user_of_processes(const struct recording *rec)
{
	if (recording__is_attaching(rec))
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
				 recording__is_attaching(rec) ? rec->options->pids[0] : 0,
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
	if (recording__is_attaching(rec) ||
	    (!rec->options->delay_ms && !rec->options->control_fd && !rec->rotation &&
	     !rec->limit.max_bytes && !rec->options->duration_ms))
		return 0;
	return control__create(&rec->spool, loop__first_state(rec->options->delay_ms),
			       &rec->control);
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
	return RIGHTS_FILES | (recording__is_attaching(rec) ? RIGHTS_PROCESSES : 0);
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
		err = recording__open_carrier(rec);
	if (err)
		return err;
	rec->clock = clock_pair__read();
	err = open_output(rec);
	if (!err)
		err = check_identity(rec);
	if (!err)
		err = open_control(rec);
	if (!err)
		err = recording__watch_processes(rec);
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
	recording__release_command(rec);
	control__close(rec->control);
	recording__close_carrier(rec);
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
	const bool is_watched =
		rec->workload && rec->is_injected && !recording__is_attaching(rec);

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
		.is_attached = recording__is_attaching(rec),
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

	recording__close_carrier(rec);
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
	if (recording__is_attaching(rec) || !rec->is_injected || !has_command_ended ||
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
		return recording__finish(rec,
					 recording__is_attaching(rec) ? -1 : *ret_status,
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
