/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of a recording share: record.c, record_carrier.c. */
#ifndef PERF_GPU_RECORD_RECORDING_INTERNAL_H
#define PERF_GPU_RECORD_RECORDING_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/absence.h"
#include "record/carrier.h"
#include "record/control.h"
#include "record/identity.h"
#include "record/injection.h"
#include "record/log_server.h"
#include "record/output.h"
#include "record/output_lock.h"
#include "record/record.h"
#include "record/rotation.h"
#include "record/signals.h"
#include "record/size_limit.h"
#include "record/spool.h"
#include "record/survivors.h"
#include "record/workload.h"
#include "util/backup.h"

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

/* Are processes recorded that run already? */
static inline bool recording__is_attaching(const struct recording *rec)
{
	return rec->options->nr_pids;
}

/* The way that is asked for, or, left to us, the best there is. 0 or -errno, printed. */
int recording__open_carrier(struct recording *rec);

/* Nothing if there is none. */
void recording__close_carrier(struct recording *rec);

/*
 * Have what is recorded know how, and wait, and the carrier watch it: the other one, if that
 * can't. 0 or a negative errno, printed.
 */
int recording__watch_processes(struct recording *rec);

/* The command, which goes on if it was started, and its environment */
void recording__release_command(struct recording *rec);

#endif
