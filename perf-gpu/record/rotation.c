// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/rotation.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/rotation_internal.h"
#include "util/clock.h"
#include "util/file_limit.h"
#include "util/log.h"

/* How often logs are looked into; a process writes to its own once a second. */
#define LOOK_INTERVAL_NS 250000000ull

static int write_event(void *ctx, const struct perf_event_header *event)
{
	struct rotation *rotation = ctx;

	return output__write(rotation->config.output, event);
}

/* What has to be known of before. Of --overwrite, this is written last of all. */
static int write_before(struct rotation *rotation)
{
	int err;

	err = task_state__write(&rotation->tasks, write_event, rotation);
	if (!err)
		err = rotation__write_makers(rotation);
	for (size_t i = 0; i < rotation->tails.nr && !err; i++) {
		const struct log_tail *tail = rotation->tails.tails[i];

		err = log_state__write(&tail->state, tail->log_id, &rotation->builder);
	}
	return err;
}

static int open_collection(struct rotation *rotation)
{
	int err;

	err = collection__open(rotation->config.sidecar_path, rotation->config.session,
			       &rotation->collection);
	rotation->builder.to = rotation->collection;
	return err;
}

static int begin_file(struct rotation *rotation)
{
	int err;

	rotation->file++;
	rotation->begin_ns = clock__now_ns();
	rotation->builder.nr_counted = 0;
	rotation->has_news = false;
	err = open_collection(rotation);
	if (!err && rotation->file > 1)
		err = output__next_file(rotation->config.output);
	if (!err && rotation->file > 1 && !rotation->config.options.overwrites)
		err = write_before(rotation);
	rotation->begin_bytes = output__counts(rotation->config.output).bytes;
	rotation->begin_counted = rotation->builder.nr_counted;
	return err;
}

int rotation__open(const struct rotation_config *config, struct rotation **ret)
{
	struct rotation *rotation = calloc(1, sizeof(*rotation));
	const struct output_keeper keeper = {.take = rotation__take, .ctx = rotation};
	int err;

	if (rotation && config->options.max_files)
		rotation->files =
			calloc(config->options.max_files, sizeof(*rotation->files));
	if (!rotation || (config->options.max_files && !rotation->files)) {
		pr_err("no memory to record into several files");
		free(rotation);
		return -ENOMEM;
	}
	rotation->config = *config;
	rotation->tails.spool = config->spool;
	rotation->tails.session = config->session;
	rotation->tails.tallies = config->tallies;
	rotation->builder.session = config->session;
	rotation->tasks.attr = output__sideband_attr(config->output);
	err = begin_file(rotation);
	if (err) {
		rotation__close(rotation);
		return err;
	}
	output__set_keeper(config->output, &keeper);
	*ret = rotation;
	return 0;
}

int rotation__look(struct rotation *rotation, bool is_urgent)
{
	const uint64_t now_ns = clock__now_ns();

	if (!is_urgent && now_ns - rotation->looked_ns < LOOK_INTERVAL_NS)
		return 0;
	/*
	 * Each process that is there has its log open here. Not before the command is
	 * there, which has its own limit.
	 */
	if (!rotation->looked_ns)
		file_limit__raise();
	rotation->looked_ns = now_ns;
	rotation->is_looked = true;
	return log_tails__look(&rotation->tails);
}

/* Where the newest is kept, losses have their time too. */
static int keep_losses(struct rotation *rotation, const struct carrier_losses *losses)
{
	const struct carrier_losses *told = &rotation->losses;
	struct carrier_losses new = {
		.nr_ring = losses->nr_ring - told->nr_ring,
		.nr_log = losses->nr_log - told->nr_log,
		.nr_stack = losses->nr_stack - told->nr_stack,
	};
	struct kept like = {
		.time_ns = clock__now_ns(), .bytes = sizeof(new), .kind = KEPT_LOSS};
	struct kept *kept;

	if (!new.nr_ring && !new.nr_log && !new.nr_stack)
		return 0;
	kept = kept_queue__add(&rotation->queue, &like);
	if (!kept) {
		pr_err("no memory to keep what is recorded");
		return -ENOMEM;
	}
	memcpy(kept->data, &new, sizeof(new));
	rotation->losses = *losses;
	return 0;
}

/* GPU records that processes have counted, and that aren't where their logs can be read */
static uint64_t nr_cut_records(const struct rotation *rotation)
{
	return rotation->scan.account.nr_dropped[ACCOUNT_IN_BROKEN_LOGS];
}

/* Nothing more comes of a log. */
static void settle_tail(struct rotation *rotation, struct log_tail *tail)
{
	const struct tallies *tallies = rotation->config.tallies;
	const uint64_t nr_cut = nr_cut_records(rotation);
	struct tally_counts tally;

	if (tail->is_settled)
		return;
	tail->is_settled = true;
	tail->over_ns = clock__now_ns();
	rotation->scan.log = tail->scan;
	/* It was killed, perhaps: what it had counted by then. */
	if (tail->log_id && !tail->has_end &&
	    !tallies__find(tallies, tail->log_id, &tally))
		log_scan__tally(&rotation->scan, tally.nr_launches, tally.nr_records);
	log_scan__end_log(
		&rotation->scan,
		launch_counts__of(output__launch_counts(rotation->config.output),
				  tail->log_id));
	if (nr_cut_records(rotation) != nr_cut)
		rotation->has_news = true;
}

/* When the oldest launch was made that is kept; UINT64_MAX: none is */
static uint64_t oldest_ns(const struct rotation *rotation)
{
	const struct kept *oldest = NULL;

	if (rotation->queue.first)
		oldest = kept_chunk__next(rotation->queue.first, NULL);
	return oldest ? oldest->time_ns : UINT64_MAX;
}

/* Those that nothing is kept of any more */
static void forget_tails(struct rotation *rotation)
{
	const uint64_t kept_from_ns = oldest_ns(rotation);

	for (size_t i = 0; i < rotation->tails.nr;) {
		struct log_tail *tail = rotation->tails.tails[i];

		if (tail->is_over)
			settle_tail(rotation, tail);
		if (tail->is_over && rotation->config.options.overwrites &&
		    !tail->nr_kept && tail->over_ns < kept_from_ns)
			log_tails__forget(&rotation->tails, i);
		else
			i++;
	}
}

static int read_logs(struct rotation *rotation, bool is_last)
{
	int err;

	err = log_tails__read(&rotation->tails, is_last, rotation__take_block, rotation);
	forget_tails(rotation);
	return err;
}

int rotation__read(struct rotation *rotation, const struct carrier_losses *losses)
{
	int err = 0;

	if (!rotation->is_looked)
		return 0;
	rotation->is_looked = false;
	if (rotation->config.options.overwrites)
		err = keep_losses(rotation, losses);
	if (!err)
		err = read_logs(rotation, false);
	return err ? err : rotation__forget_old(rotation);
}

bool rotation__is_due(const struct rotation *rotation)
{
	const struct switch_options *options = &rotation->config.options;

	if (options->bytes &&
	    output__counts(rotation->config.output).bytes - rotation->begin_bytes >=
		    options->bytes)
		return true;
	return options->ns && clock__now_ns() - rotation->begin_ns >= options->ns;
}

/* Names of JIT code that a process could not put into its log any more */
struct rescue {
	struct rotation *rotation;
	uint64_t log_id;
};

static int write_piece(void *ctx, const struct gpu_log_jit *piece, const void *deflated)
{
	struct rescue *rescue = ctx;
	struct {
		struct gpu_log_jit piece;
		unsigned char data[UINT16_MAX];
	} record;
	size_t size = (sizeof(*piece) + piece->nr_deflated_bytes + 7) & ~(size_t)7;

	memset(&record, 0, size);
	record.piece = *piece;
	record.piece.rec.type = GPU_LOG_JIT;
	record.piece.rec.size = (uint16_t)size;
	memcpy(record.data, deflated, piece->nr_deflated_bytes);
	return block_builder__add(&rescue->rotation->builder, rescue->log_id,
				  &record.piece.rec);
}

/* @is_last: also of those that are still there */
static int rescue_jit_names(struct rotation *rotation, bool is_last)
{
	const struct log_tails *tails = &rotation->tails;
	struct jit_logs logs = {0};
	int err = 0;

	for (size_t i = 0; i < tails->nr && !err; i++) {
		const struct log_tail *tail = tails->tails[i];
		const struct jit_log log = {
			.log_id = tail->log_id,
			.start_ns = tail->scan.start_ns,
			.pid = tail->scan.pid,
			.uid = tail->uid,
			.is_ended = tail->has_end || !tail->log_id ||
				    (!is_last && !tail->is_over),
			.perf_map_bytes = tail->scan.perf_map_bytes,
		};

		err = jit_logs__add(&logs, &log);
	}
	if (err)
		pr_err("no memory for names of JIT code");
	for (size_t i = 0; i < logs.nr && !err; i++) {
		struct rescue rescue = {.rotation = rotation,
					.log_id = logs.logs[i].log_id};

		err = jit_rescue__read(&logs, i, &rotation->config.clock,
				       output__mapped_files(rotation->config.output),
				       write_piece, &rescue);
	}
	jit_logs__release(&logs);
	return err;
}

/*
 * Each log ends in each file, with the launches that are to be there: those that came, and
 * those that its last end has counted beyond. One of a process that was killed doesn't.
 */
static int write_ends(struct rotation *rotation)
{
	const struct launch_counts *counts =
		output__launch_counts(rotation->config.output);
	int err = 0;

	for (size_t i = 0; i < rotation->tails.nr && !err; i++) {
		struct log_tail *tail = rotation->tails.tails[i];
		struct gpu_log_end end = {
			.rec = {.type = GPU_LOG_END, .size = sizeof(end)}};
		uint64_t nr = launch_counts__of(counts, tail->log_id), nr_missing = 0;

		if (nr == UINT64_MAX)
			nr = 0;
		if (tail->has_end && tail->nr_launches > nr)
			nr_missing = tail->nr_launches - nr;
		if (rotation->config.options.overwrites) {
			end.nr_launches = tail->nr_in_file + nr_missing;
		} else {
			nr += nr_missing;
			end.nr_launches = nr > tail->nr_before ? nr - tail->nr_before : 0;
			tail->nr_before = nr;
		}
		if (tail->log_id && (tail->has_end || !tail->is_over))
			err = block_builder__add(&rotation->builder, tail->log_id,
						 &end.rec);
	}
	return err;
}

/* What became of the launches of this file, and of the GPU's records */
static struct gpu_log_recorder make_recorder(struct rotation *rotation,
					     const struct carrier_losses *losses)
{
	const struct clock_pair *clock = &rotation->config.clock;
	const struct clock_pair end = clock_pair__read();
	const struct output_counts counts = output__counts(rotation->config.output);
	const uint64_t nr_launches = counts.nr_launches;
	const struct call_sums calls =
		call_counts__sum(output__call_counts(rotation->config.output),
				 &rotation->scan.call_kinds, rotation->config.events);
	struct gpu_log_recorder recorder = {
		.nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.nr_launches = nr_launches - rotation->nr_launches_before,
		.nr_lost_ring = carrier_losses__launches(losses) -
				carrier_losses__launches(&rotation->losses),
		.nr_lost_stack = losses->nr_stack - rotation->losses.nr_stack,
		.nr_lost_log = losses->nr_log - rotation->losses.nr_log,
		.nr_unreadable = counts.nr_broken - rotation->nr_broken_before,
		.nr_records_cut = nr_cut_records(rotation) - rotation->nr_cut_before,
		.nr_lost_sideband = losses->nr_sideband,
		.has_others = calls.nr[CALL_LAUNCH] != nr_launches,
		.is_window = rotation->config.options.overwrites,
		.realtime_ns = clock->realtime_ns,
		.monotonic_ns = clock->monotonic_ns,
		.end_realtime_ns = end.realtime_ns,
		.end_monotonic_ns = end.monotonic_ns,
	};

	rotation->nr_launches_before = nr_launches;
	rotation->nr_broken_before = counts.nr_broken;
	rotation->nr_cut_before = nr_cut_records(rotation);
	rotation->losses = *losses;
	return recorder;
}

static int name_file(struct rotation *rotation, const char *path,
		     const char *sidecar_path)
{
	int err;

	err = collection__commit_as(rotation->collection, sidecar_path);
	if (err)
		return err;
	err = output__commit_as(rotation->config.output, path);
	if (err)
		unlink(sidecar_path);
	return err;
}

/* Launches that logs have counted, and that weren't lost in a way that is known */
static uint64_t rotation__nr_missing(const struct rotation *rotation,
				     const struct carrier_losses *losses)
{
	const uint64_t nr_explained = carrier_losses__launches(losses) +
				      output__counts(rotation->config.output).nr_broken;

	return rotation->scan.nr_missing > nr_explained
		       ? rotation->scan.nr_missing - nr_explained
		       : 0;
}

static int commit_file(struct rotation *rotation, const struct carrier_losses *losses,
		       bool is_last, const char *path, const char *sidecar_path)
{
	struct gpu_log_recorder recorder;
	struct file_names names;
	int err;

	if (rotation->config.options.overwrites) {
		err = keep_losses(rotation, losses);
		recorder = make_recorder(rotation, losses);
		if (!err)
			err = write_before(rotation);
		if (!err)
			err = rotation__write_kept(rotation, &recorder);
	} else {
		recorder = make_recorder(rotation, losses);
		err = 0;
	}
	if (!err)
		err = rescue_jit_names(rotation, is_last);
	if (!err)
		err = write_ends(rotation);
	if (!err)
		err = block_builder__flush(&rotation->builder);
	recorder.nr_records = rotation->builder.nr_counted;
	if (is_last)
		recorder.nr_missing = rotation__nr_missing(rotation, losses);
	if (!err)
		err = collection__add_recorder(rotation->collection, &recorder);
	if (!err && !path)
		err = rotation__make_names(rotation, &names);
	if (!err)
		err = name_file(rotation, path ? path : names.perfdata,
				path ? sidecar_path : names.sidecar);
	if (err)
		return err;
	rotation__count_file(rotation, &recorder);
	if (!path) {
		rotation__tell_file(rotation, names.perfdata, &recorder);
		err = rotation__bound_files(rotation, names.perfdata,
					    recorder.nr_launches);
	} else if (recorder.kept_from_ns) {
		rotation__tell_file(rotation, path, &recorder);
	}
	collection__close(rotation->collection);
	rotation->collection = NULL;
	return err;
}

/* Their launches, and what the GPU did for them, are in the files so far. */
static void end_split(struct rotation *rotation)
{
	for (size_t i = 0; i < rotation->tails.nr;) {
		struct log_tail *tail = rotation->tails.tails[i];

		if (tail->is_over) {
			log_tails__forget(&rotation->tails, i);
			continue;
		}
		tail->forgotten_before = tail->forgotten_key;
		i++;
	}
}

int rotation__switch(struct rotation *rotation, const struct carrier_losses *losses)
{
	int err;

	if (rotation__is_idle_file(rotation, losses)) {
		if (!rotation__is_due(rotation))
			pr_info("nothing is new since %s: no other file is written",
				rotation->files[rotation->nr_files - 1].path);
		rotation->begin_ns = clock__now_ns();
		rotation->begin_bytes = output__counts(rotation->config.output).bytes;
		return 0;
	}
	err = commit_file(rotation, losses, false, NULL, NULL);
	if (err)
		return err;
	if (!rotation->config.options.overwrites)
		end_split(rotation);
	return begin_file(rotation);
}

int rotation__finish(struct rotation *rotation, const struct carrier_losses *losses,
		     const char *path, const char *sidecar_path)
{
	int err;

	err = log_tails__look(&rotation->tails);
	if (!err)
		err = read_logs(rotation, true);
	for (size_t i = 0; i < rotation->tails.nr && !err; i++) {
		struct log_tail *tail = rotation->tails.tails[i];

		rotation->tails.nr_empty +=
			!tail->is_over && !tail->is_broken && !tail->log_id;
		settle_tail(rotation, tail);
	}
	log_limit__tell(&rotation->tails.warnings, "GPU logs");
	if (!err)
		err = rotation__forget_old(rotation);
	if (!err && !path && rotation__is_idle_file(rotation, losses) &&
	    !rotation__nr_missing(rotation, losses))
		return 0;
	return err ? err : commit_file(rotation, losses, true, path, sidecar_path);
}

const struct log_scan *rotation__scan(const struct rotation *rotation)
{
	return &rotation->scan;
}

unsigned int rotation__max_files(const struct rotation *rotation)
{
	return rotation->config.options.max_files;
}

struct rotation_counts rotation__counts(const struct rotation *rotation)
{
	struct rotation_counts counts = rotation->counts;

	counts.logs.nr_logs = rotation->tails.nr_logs;
	counts.logs.nr_empty_logs = rotation->tails.nr_empty;
	counts.logs.nr_cut_logs = rotation->tails.nr_cut;
	counts.nr_forgotten += rotation->tasks.nr_forgotten;
	for (size_t i = 0; i < rotation->tails.nr; i++)
		counts.nr_forgotten += rotation->tails.tails[i]->state.nr_forgotten;
	return counts;
}

void rotation__close(struct rotation *rotation)
{
	if (!rotation)
		return;
	collection__close(rotation->collection);
	log_tails__release(&rotation->tails);
	log_scan__release(&rotation->scan);
	task_state__release(&rotation->tasks);
	kept_queue__release(&rotation->queue);
	kept_queue__release(&rotation->late);
	kept_queue__release(&rotation->blocks);
	kept_index__release(&rotation->index);
	for (size_t i = 0; i < rotation->nr_files; i++)
		free(rotation->files[i].path);
	free(rotation->files);
	free(rotation);
}
