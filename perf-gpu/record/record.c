// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "record/backup.h"
#include "record/carrier.h"
#include "record/collection.h"
#include "record/control.h"
#include "record/identity.h"
#include "record/injection.h"
#include "record/loop.h"
#include "record/output.h"
#include "record/signals.h"
#include "record/spool.h"
#include "record/summary.h"
#include "record/workload.h"
#include "util/log.h"
#include "util/paths.h"

struct recording {
	const struct record_options *options;
	char library[PATH_MAX];
	bool is_injected; /* into the command */
	uint64_t session;
	struct clock_pair clock;
	struct identity identity; /* with options->run_as */
	struct backup backup;
	struct signals signals;
	struct spool spool;
	struct injection injection;
	struct carrier *carrier;
	struct output *output;
	struct workload *workload;
	struct control *control; /* NULL: all is recorded from the start */
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
	return is_needed ? err : 0;
}

/* Random, so that a marker of another recording isn't taken for ours. */
static int make_session(uint64_t *ret)
{
	do {
		if (getrandom(ret, sizeof(*ret), 0) != sizeof(*ret)) {
			int err = -errno;

			pr_err("no random number for the session: %s", strerror(-err));
			return err;
		}
	} while (!*ret);
	return 0;
}

static int open_carrier_of(struct recording *rec, const struct carrier_ops *ops,
			   struct failure *failure)
{
	const struct carrier_config config = {
		.library = rec->library,
		.session = rec->session,
		.stack = rec->options->stack,
		.nr_pages = rec->options->nr_pages,
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

static int open_output(struct recording *rec)
{
	const struct output_config config = {
		.path = rec->options->output,
		.argv = rec->options->cmdline,
		.stack = rec->options->stack,
		.session = rec->session,
		.clock = rec->clock,
	};
	int err;

	err = output__open(&config, &rec->output);
	if (err)
		return err;
	return spool__create(rec->backup.path[1], user_of_processes(rec), &rec->spool);
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

/* Only where there will be commands: what isn't there can't go wrong. */
static int open_control(struct recording *rec)
{
	if (is_attaching(rec) || (!rec->options->delay_ms && !rec->options->control_fd))
		return 0;
	return control__create(&rec->spool, loop__first_state(rec->options->delay_ms),
			       &rec->control);
}

static int make_injection(struct recording *rec)
{
	struct injection_config config = {
		.library = rec->is_injected ? rec->library : NULL,
		.spool = rec->spool.path,
		.session = rec->session,
		.call_graph = rec->options->stack.call_graph,
		.python = rec->options->stack.python,
		.max_frames = rec->options->stack.max_frames,
		.control = rec->control && !is_attaching(rec)
				   ? control__path(rec->control)
				   : NULL,
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
		err = make_session(&rec->session);
	if (!err)
		err = backup__init(rec->options->output, has_perfdata(rec), &rec->backup);
	if (!err)
		err = signals__open(&rec->signals);
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
	return err;
}

/* The logs, and what became of the launches, into the sidecar. */
static int collect(struct recording *rec, struct collection *collection,
		   struct summary *summary)
{
	struct gpu_log_recorder recorder;
	int err;

	err = collection__add_spool(collection, &rec->spool,
				    output__launch_counts(rec->output));
	if (!err)
		err = collection__add_jit_names(collection, &rec->clock,
						output__mapped_files(rec->output));
	if (err)
		return err;
	summary->output = output__counts(rec->output);
	summary->missing = rec->carrier->ops->missing;
	summary->losses = rec->carrier->ops->losses(rec->carrier);
	recorder = (struct gpu_log_recorder){
		.nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.nr_launches = summary->output.nr_launches,
		.nr_lost_ring = carrier_losses__launches(&summary->losses),
		.nr_lost_stack = summary->losses.nr_stack,
		.realtime_ns = rec->clock.realtime_ns,
		.monotonic_ns = rec->clock.monotonic_ns,
	};
	return collection__add_recorder(collection, &recorder);
}

/* Both files get their names, or neither. */
static int commit(struct recording *rec, struct collection *collection)
{
	int err;

	err = backup__move(&rec->backup);
	if (err)
		return err;
	err = collection__commit(collection);
	if (err)
		goto out;
	if (has_perfdata(rec))
		err = output__commit(rec->output);
	if (err)
		unlink(rec->backup.path[1]);
out:
	if (err)
		backup__undo(&rec->backup);
	return err;
}

static int recording__finish(struct recording *rec, bool *ret_is_whole)
{
	struct summary summary = {
		.path = rec->options->output,
		.has_perfdata = has_perfdata(rec),
	};
	struct collection *collection = NULL;
	int err;

	err = collection__open(rec->backup.path[1], rec->session, &collection);
	if (err)
		return err;
	err = collect(rec, collection, &summary);
	if (!err)
		err = commit(rec, collection);
	if (!err) {
		summary.logs = collection__counts(collection);
		summary.scan = collection__scan(collection);
		summary.library = rec->is_injected ? rec->library : NULL;
		summary__print(&summary);
		*ret_is_whole = !summary.scan->nr_errors && !summary.output.nr_unlogged &&
				(!rec->control || control__is_whole(rec->control));
	}
	collection__close(collection);
	return err;
}

static void recording__release(struct recording *rec)
{
	release_command(rec);
	control__close(rec->control);
	close_carrier(rec);
	output__close(rec->output);
	spool__remove(&rec->spool);
	identity__release(&rec->identity);
	signals__close(&rec->signals);
}

static struct loop make_loop(struct recording *rec)
{
	return (struct loop){
		.signals = &rec->signals,
		.carrier = rec->carrier,
		.output = rec->output,
		.spool = &rec->spool,
		.workload = rec->workload,
		.control = rec->control,
		.is_attached = is_attaching(rec),
		.control_fd = rec->options->control_fd,
		.delay_ms = rec->options->delay_ms,
		.name = rec->options->command[0],
	};
}

/* Return: 0, or a negative errno if no recording was made. */
static int recording__run(struct recording *rec, int *ret_status, bool *ret_is_whole)
{
	struct loop loop;
	int err, wait_err = 0;

	err = recording__prepare(rec);
	if (err)
		return err;
	loop = make_loop(rec);
	err = loop__begin(&loop);
	if (!err && rec->workload)
		err = workload__start(rec->workload, ret_status);
	if (err)
		return err;
	err = loop__run(&loop);
	if (rec->workload)
		wait_err = workload__wait(rec->workload, ret_status);
	if (!err)
		err = wait_err;
	return err ? err : recording__finish(rec, ret_is_whole);
}

void record__run(const struct record_options *options, int *ret_status)
{
	struct recording rec = {.options = options, .signals = {.fd = -1}};
	int status = EXIT_SUCCESS;
	bool is_whole = false;
	int err;

	err = recording__run(&rec, &status, &is_whole);
	recording__release(&rec);
	*ret_status =
		status == EXIT_SUCCESS && (err || !is_whole) ? EXIT_FAILURE : status;
}
