// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/finish.h"

#include <unistd.h>

#include "record/collection.h"
#include "record/summary.h"

static void add_recorder(const struct finish_input *input, const struct account *account,
			 struct gpu_log_recorder *ret)
{
	*ret = (struct gpu_log_recorder){
		.nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.nr_launches = account->nr_samples,
		.nr_lost_ring = carrier_losses__launches(&input->losses),
		.nr_lost_stack = account->nr_without_stack,
		.nr_lost_log = account->nr_lost[ACCOUNT_LOG],
		.nr_unreadable = account->nr_lost[ACCOUNT_UNREADABLE],
		.nr_missing = account->nr_lost[ACCOUNT_MISSING],
		.nr_records = account->nr_delivered + account->nr_unknown_time,
		.nr_records_cut = account->nr_dropped[ACCOUNT_IN_BROKEN_LOGS],
		.has_others = account->has_others,
		.nr_over_limit = account->nr_lost[ACCOUNT_OVER_LIMIT],
		.nr_records_over_limit = account->nr_dropped[ACCOUNT_BEHIND_LIMIT],
		.nr_lost_sideband = input->losses.nr_sideband,
		.realtime_ns = input->clock.realtime_ns,
		.monotonic_ns = input->clock.monotonic_ns,
		.end_realtime_ns = input->end.realtime_ns,
		.end_monotonic_ns = input->end.monotonic_ns,
	};
	sum__add(&ret->nr_lost_sideband,
		 output__counts(input->output).nr_sideband_over_limit);
	if (input->limit->reached_ns > input->clock.monotonic_ns)
		ret->stopped_after_ns =
			input->limit->reached_ns - input->clock.monotonic_ns;
}

/* When launches began to be left out for --max-size; 0: none was */
static uint64_t end_of_launches(const struct finish_input *input)
{
	const uint64_t left_out_ns = output__counts(input->output).over_limit_ns;

	return left_out_ns ? left_out_ns : input->limit->reached_ns;
}

/* The logs, and what became of the launches, into the sidecar. */
static int collect(const struct finish_input *input, struct collection *collection,
		   struct summary *summary)
{
	struct gpu_log_recorder recorder;
	int err;

	collection__set_max_bytes(collection, size_limit__log_bytes(input->limit));
	collection__stop_at(collection, end_of_launches(input));
	collection__use_tallies(collection, input->tallies);
	err = collection__add_spool(collection, input->spool,
				    output__launch_counts(input->output));
	if (!err)
		err = collection__add_jit_names(collection, &input->clock,
						output__mapped_files(input->output));
	if (err)
		return err;
	summary->output = output__counts(input->output);
	summary->scan = collection__scan(collection);
	summary->calls = call_counts__sum(output__call_counts(input->output),
					  &summary->scan->call_kinds, input->events);
	summary__take_account(summary);
	add_recorder(input, &summary->account, &recorder);
	recorder.nr_bytes_cut = collection__counts(collection).nr_bytes_cut;
	return collection__add_recorder(collection, &recorder);
}

/* Both files get their names, or neither. */
static int commit(const struct finish_input *input, struct collection *collection)
{
	int err;

	err = backup__move(input->backup);
	if (err)
		return err;
	err = collection__commit(collection);
	if (err)
		goto out;
	if (input->has_perfdata)
		err = output__commit(input->output);
	if (err)
		unlink(input->backup->path[1]);
out:
	if (err)
		backup__undo(input->backup);
	return err;
}

int finish__run(const struct finish_input *input, bool *ret_is_whole)
{
	struct summary summary = {
		.path = input->path,
		.has_perfdata = input->has_perfdata,
		.is_stopped = input->limit->reached_ns,
		.library = input->library,
		.has_capture_range = input->has_capture_range,
		.sight = input->sight,
		.status = input->status,
		.losses = input->losses,
		.missing = input->missing,
		.missing_unended = input->missing_unended,
		.is_recovered = input->is_recovered,
	};
	struct collection *collection = NULL;
	int err;

	err = collection__open(input->backup->path[1], input->session, &collection);
	if (err)
		return err;
	err = collect(input, collection, &summary);
	if (!err)
		err = commit(input, collection);
	if (!err) {
		summary.logs = collection__counts(collection);
		summary__print(&summary);
		*ret_is_whole = !summary.scan->nr_errors && !summary.output.nr_unlogged;
	}
	collection__close(collection);
	return err;
}

int finish__rotation(const struct finish_input *input, struct rotation *rotation,
		     bool is_switched, bool *ret_is_whole)
{
	struct rotation_counts counts;
	struct summary summary = {
		.path = input->path,
		.has_perfdata = true,
		.library = input->library,
		.has_capture_range = input->has_capture_range,
		.sight = input->sight,
		.status = input->status,
		.losses = input->losses,
		.missing = input->missing,
		.missing_unended = input->missing_unended,
	};
	int err;

	err = is_switched ? 0 : backup__move(input->backup);
	if (err)
		return err;
	err = rotation__finish(rotation, &input->losses,
			       is_switched ? NULL : input->backup->path[0],
			       is_switched ? NULL : input->backup->path[1]);
	if (err) {
		backup__undo(input->backup);
		return err;
	}
	counts = rotation__counts(rotation);
	summary.output = output__counts(input->output);
	summary.output.bytes = counts.perfdata_bytes;
	summary.logs = counts.logs;
	summary.scan = rotation__scan(rotation);
	summary.calls = call_counts__sum(output__call_counts(input->output),
					 &summary.scan->call_kinds, input->events);
	summary__take_account(&summary);
	summary.nr_files = is_switched ? counts.nr_files : 0;
	summary.nr_removed_files = counts.nr_removed_files;
	summary.max_files = rotation__max_files(rotation);
	summary.nr_removed_launches = counts.nr_removed_launches;
	summary.is_cut = counts.nr_cut_launches != 0;
	summary.nr_kept_launches = counts.nr_kept_launches;
	summary.nr_without_stack = counts.nr_without_stack;
	summary.nr_forgotten = counts.nr_forgotten;
	summary__print(&summary);
	*ret_is_whole = !summary.scan->nr_errors && !summary.output.nr_unlogged;
	return 0;
}
