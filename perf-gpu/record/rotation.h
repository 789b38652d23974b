/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of several files, each whole (--switch-output), or of the newest only, which
 * are in memory until they are wanted (--overwrite). One thread.
 *
 *   rings ── output ── records ──┐
 *                                ├── rotation ── perf.data.TIMESTAMP, and .gpu
 *   spool ── log_tails ── blocks ┘
 *
 * Files one after the other: all is written as it comes. A file begins with what has to be
 * known of before: tasks and mappings (task_state), definitions of the logs (log_state), the
 * launches that made nodes of graphs. When the GPU has done something for a launch of an
 * earlier file, the launch's sample is written once more, marked as LAUNCH_API_EARLIER: so
 * each launch is counted in one file, and each kernel, which is in one file, has its stack
 * there. The launches that this may happen to are kept in memory: the newest, and of those
 * before the ones that the GPU has done nothing for so far.
 *
 * The newest only: records and blocks wait in queues, and what leaves these becomes what
 * has to be known of before. A file has the launches that were made since it begins; the
 * GPU's records that end since then, with the samples of their launches, marked if these
 * are older; and not the records whose launches aren't there any more, which are counted.
 *
 * What is read of the logs in the spool is given back, so that nothing grows with time.
 */
#ifndef PERF_GPU_RECORD_ROTATION_H
#define PERF_GPU_RECORD_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "record/carrier.h"
#include "record/collection.h"
#include "record/features.h"
#include "record/output.h"
#include "record/spool.h"
#include "record/switch_options.h"
#include "record/tallies.h"

struct rotation;

struct rotation_config {
	struct switch_options options;
	const char *path; /* of perf.data, and ... */
	const char *sidecar_path; /* ... of the sidecar: both with ".TIMESTAMP" behind */
	const struct spool *spool;
	uint64_t session;
	struct clock_pair clock;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that were asked for */
	struct tallies *tallies; /* of the processes; kept by reference */
	struct output *output; /* has no record yet */
};

/* Of all files together that are there */
struct rotation_counts {
	struct collection_counts logs;
	uint64_t nr_files;
	uint64_t nr_removed_files; /* that --switch-max-files has removed ... */
	uint64_t nr_removed_launches; /* ... and what was in them */
	uint64_t nr_kept_launches; /* of --overwrite: in the last file */
	uint64_t nr_cut_launches; /* of before, which are not in it */
	uint64_t perfdata_bytes; /* of records; those of the sidecars are in logs */
	uint64_t
		nr_without_stack; /* GPU records whose launch's stack was kept no longer */
	uint64_t nr_forgotten; /* records of before that there was no room for */
};

/**
 * rotation__open - take what the output makes from now on
 * @config: its pointers are kept until rotation__close()
 * @ret:    written on success only
 *
 * Return: 0 or a negative errno, printed.
 */
int rotation__open(const struct rotation_config *config, struct rotation **ret);

/*
 * Before and after the rings are drained: so that no record of the GPU is taken before its
 * launch. They do something a few times a second, or if @is_urgent.
 */
int rotation__look(struct rotation *rotation, bool is_urgent);
int rotation__read(struct rotation *rotation, const struct carrier_losses *losses);

/* Has the file the size, or the age, at which another is to be begun? */
bool rotation__is_due(const struct rotation *rotation);

/**
 * rotation__switch - give the file its name, and go on with another
 * @losses: what the carrier has lost so far
 *
 * All that is to be in it has been read. With --switch-max-files, one that has nothing goes
 * on instead, as it would push out one that has. Return: 0 or a negative errno, printed.
 */
int rotation__switch(struct rotation *rotation, const struct carrier_losses *losses);

/**
 * rotation__finish - the same with the last file
 * @path, @sidecar_path: its names; NULL: as those before
 */
int rotation__finish(struct rotation *rotation, const struct carrier_losses *losses,
		     const char *path, const char *sidecar_path);

const struct log_scan *rotation__scan(const struct rotation *rotation);
unsigned int rotation__max_files(const struct rotation *rotation); /* 0: any number */
struct rotation_counts rotation__counts(const struct rotation *rotation);

void rotation__close(struct rotation *rotation); /* NULL is fine */

#endif
