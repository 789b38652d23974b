/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a recording, also of one whose recorder was killed: the logs become the
 * sidecar, both files get their names, and the user is told. One thread.
 */
#ifndef PERF_GPU_RECORD_FINISH_H
#define PERF_GPU_RECORD_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "record/absence.h"
#include "record/carrier.h"
#include "record/features.h"
#include "record/output.h"
#include "record/rotation.h"
#include "record/size_limit.h"
#include "record/spool.h"
#include "record/tallies.h"
#include "util/backup.h"

/* Pointers are used while it runs. */
struct finish_input {
	const char *path; /* of perf.data */
	bool has_perfdata; /* else it is dropped: there is the sidecar alone */
	uint64_t session;
	uint32_t events; /* GPU_LOG_EVENT_BIT()s that were asked for */
	struct clock_pair clock; /* when it began, */
	struct clock_pair end; /* and ended; 0: not known */
	struct output *output; /* has all launches */
	const struct spool *spool; /* has all logs */
	const struct tallies *tallies; /* NULL: there are none any more */
	struct backup *backup;
	const struct size_limit *limit;
	struct carrier_losses losses;
	const char *missing, *missing_unended; /* as in carrier_ops */
	const char *library; /* that was injected; NULL: none, or it isn't known */
	bool has_capture_range; /* what is launched outside is not recorded */
	enum absence_sight sight; /* where nothing is recorded */
	int status; /* of the command; -1: not known */
	bool is_recovered; /* the recorder didn't come to its end */
};

/**
 * finish__run - write both files, and tell what is in them
 * @ret_is_whole: no process has failed to be recorded; written on success only
 *
 * Return: 0 or a negative errno, printed; what had their names is then as it was.
 */
int finish__run(const struct finish_input *input, bool *ret_is_whole);

/**
 * finish__rotation - write the last of several files, or the newest, and tell of all
 * @input: as above
 * @is_switched: its name has the time behind it
 *
 * Return: as above.
 */
int finish__rotation(const struct finish_input *input, struct rotation *rotation,
		     bool is_switched, bool *ret_is_whole);

#endif
